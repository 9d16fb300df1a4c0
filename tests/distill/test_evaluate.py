"""Figures of a draft: known overlaps give known figures, and the speed-up to expect is the formula's."""

import pytest
import torch

from specviz.distill.evaluate import costs, expected
from specviz.distill.llama import compare
from specviz.models.cached import CachedModel
from tests import tiny
from tests.conftest import tiny_pair


def test_overlap_and_agreement_of_the_two_tables():
    target, draft = torch.log_softmax(tiny.target_table(), -1), tiny.draft_table()
    logprobs, ids = target.topk(12)
    found = compare(draft, ids, logprobs, torch.tensor([0.0, 0.5, 1.0] * 4))
    assert torch.allclose(found["overlap"].double(), tiny.overlap(), atol=1e-5)
    same = (draft.argmax(-1) == target.argmax(-1)).float()
    assert (found["agreement"] == same).all() and (found["overlap_at_own"][::3] == same[::3]).all()
    half = torch.minimum(tiny.probs(tiny.target_table(), 0.5), tiny.probs(draft, 0.5)).sum(-1)
    assert torch.allclose(found["overlap_at_own"][1::3].double(), half[1::3], atol=1e-5)


def test_ids_that_the_draft_lacks_overlap_with_nothing():
    target = torch.log_softmax(tiny.target_table(), -1)
    logprobs, ids = target.topk(12)
    found = compare(tiny.draft_table()[:, :7], ids, logprobs, torch.ones(12))
    draft = torch.softmax(tiny.draft_table()[:, :7], -1)
    right = torch.minimum(target.exp()[:, :7], draft).sum(-1)
    assert torch.allclose(found["overlap"], right, atol=1e-5)


def test_the_speed_up_to_expect_is_the_textbook_s_where_verifying_is_free():
    assert expected(0.7, 0.1, dict.fromkeys(range(1, 9), 1.0)) == (4, pytest.approx(1.98, abs=0.01))
    assert expected(0.05, 0.2, {1: 1.1, 2: 1.2}) == (0, 1.0)


def test_a_target_that_drafts_for_itself_costs_as_much_as_itself():
    target = tiny_pair("ctx_t").target
    found = costs(target, CachedModel(target).logits, rounds=40)
    assert 0.4 < found["c"] < 2.5 and set(found["v"]) == {1, 2, 3, 4, 6, 8} and found["target_pass_ms"] > 0
