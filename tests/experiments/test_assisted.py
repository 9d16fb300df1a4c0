"""transformers' assisted generation with a draft that knows fewer or more ids than the target."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.experiments.assisted import NotComparable, assisted, how_compared
from specviz.models.pair import Pair


@pytest.mark.parametrize(("target", "draft"), [("padtarget16", "cycle12"), ("cycle12", "padtarget16")])
def test_a_draft_with_other_columns_assists(pair, target, draft):
    both = pair(target, draft)
    before = both.draft.model.config.vocab_size, both.draft.model.generation_config
    found = assisted(both, [1, 2, 3], k=3, tokens=9)
    assert found["tokens"] == 9 and found["tokens_per_s"] > 0
    assert (both.draft.model.config.vocab_size, both.draft.model.generation_config) == before
    assert both.draft.model(torch.tensor([[1]])).logits.shape[-1] == both.draft.vocab_size


def test_an_id_that_the_draft_lacks_is_read_as_another(pair):
    assert assisted(pair("padtarget16", "cycle12"), [1, 15, 3], k=2, tokens=4)["tokens"] == 4


@pytest.mark.parametrize("draft", ["draft12", "cycle12"])
def test_it_takes_as_many_target_passes_as_specviz_so_its_drafts_are_the_same(pair, draft):
    both = pair("padtarget16", draft)
    ours = engine.run(both, [1, 2, 3], RunSettings(strategy="greedy", k=3, temperature=0, max_new_tokens=12))
    passes = []
    hook = both.target.model.register_forward_hook(lambda *given: passes.append(1))
    try:
        assisted(both, [1, 2, 3], k=3, tokens=12)
    finally:
        hook.remove()
    assert len(passes) - 1 == len(ours.steps)  # one pass measures the prefill


def test_what_was_made_equal_is_a_sentence(pair):
    assert "12 columns of cycle12 are fitted to the target's 16" in how_compared(pair("padtarget16", "cycle12"))
    assert "columns" not in how_compared(pair("target12", "draft12"))


def test_without_a_draft_or_with_a_target_that_cannot_be_assisted_the_reason_is_given(pair):
    with pytest.raises(NotComparable, match="no draft model"):
        assisted(pair("target12"), [1], k=2, tokens=4)
    with pytest.raises(NotComparable, match="transformers cannot decode with this pair"):
        assisted(pair("recurrent", "recurrent"), [1], k=2, tokens=4)


def test_an_output_of_one_token_has_no_rate(pair):
    assert math.isnan(assisted(pair("target12", "draft12"), [1], k=2, tokens=1)["tokens_per_s"])


def test_it_stops_where_specviz_stops(pair):
    both = pair("cycle12", "cycle12")
    ends = Pair(replace(both.target, eos_ids=frozenset({6})), both.draft)
    assert assisted(ends, [1, 2, 3], k=3, tokens=9)["tokens"] == 3
