"""Random pairs: of the size they say, the same each time, and agreeing often enough for every kind of step to happen."""

import pytest

import specviz
from specviz.core.settings import RunSettings, SettingsError
from specviz.metrics import count
from specviz.models.random_pair import SIZES, random_pair

SETTINGS = RunSettings(strategy="greedy", temperature=0, max_new_tokens=48)


@pytest.fixture(scope="module")
def tiny():
    return random_pair("tiny", "float32", "cpu")


def test_sizes_are_what_their_names_say():
    assert SIZES["1b"].parameters == pytest.approx(1.1e9, rel=0.05)
    assert SIZES["7b"].parameters == pytest.approx(6.7e9, rel=0.02)
    assert SIZES["13b"].parameters == pytest.approx(13e9, rel=0.02)
    for shape in SIZES.values():
        # what a draft's pass reads: its layers and the head; the embedding is one row
        layer = (shape.parameters - 2 * shape.vocab * shape.hidden) / shape.layers
        read = shape.draft_layers * layer + shape.vocab * shape.hidden
        assert 0.07 < read / (shape.layers * layer + shape.vocab * shape.hidden) < 0.2


def test_it_can_do_what_a_loaded_pair_can(tiny):
    assert tiny.target.parameters == pytest.approx(SIZES["tiny"].parameters, rel=0.01)
    assert tiny.target.cache_mode == "rollback" and tiny.target.reads_trees and tiny.draft.plain is not None
    trace = specviz.run(tiny, "Once upon a time", SETTINGS)
    counts = count(trace.steps)
    assert counts.accepted and counts.rejected and counts.bonus
    alone = specviz.run(tiny, "Once upon a time", RunSettings(k=0, temperature=0, max_new_tokens=48))
    assert trace.output_ids == alone.output_ids


def test_the_same_size_is_the_same_model_and_leaves_the_dice_alone(tiny):
    import torch  # noqa: PLC0415

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    again = random_pair("tiny", "float32", "cpu")
    assert torch.equal(torch.rand(3), expected) and torch.get_default_dtype() is torch.float32
    assert specviz.run(again, [5, 6], SETTINGS).output_ids == specviz.run(tiny, [5, 6], SETTINGS).output_ids


def test_an_unknown_size_is_a_sentence():
    with pytest.raises(SettingsError, match="choose one of: tiny, 1b, 7b, 13b"):
        random_pair("2b")
