"""Filters and the draw, against hand-computed cases and against transformers' own filters."""

import math

import pytest
import torch
from transformers import (
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from specviz.core.sampling import BadLogits, draw, likeliest, one_hot, penalise, to_probs

LOGITS = torch.randn(3, 50, generator=torch.Generator().manual_seed(0)) * 3


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_k", [0, 1, 7, 50, 10**6])
@pytest.mark.parametrize("top_p", [0.05, 0.6, 0.99, 1.0])
def test_filters_are_those_of_transformers_in_the_same_order(temperature, top_k, top_p):
    expected = TemperatureLogitsWarper(temperature)(None, LOGITS)
    if 0 < top_k <= 50:
        expected = TopKLogitsWarper(top_k)(None, expected)
    if top_p < 1:
        expected = TopPLogitsWarper(top_p)(None, expected)
    assert torch.allclose(to_probs(LOGITS, temperature, top_k, top_p), torch.softmax(expected, -1), atol=1e-6)


def test_the_penalty_is_that_of_transformers_and_sees_one_history_a_row():
    histories = [[1, 2, 2], [3], [49, 0, 7]]
    for row, history in enumerate(histories):
        expected = RepetitionPenaltyLogitsProcessor(1.5)(torch.tensor([history]), LOGITS[row : row + 1])
        assert torch.equal(penalise(LOGITS, histories, 1.5)[row : row + 1], expected)
    assert penalise(LOGITS, [], 1.0) is LOGITS


def test_temperature_0_is_one_hot_and_the_first_of_equals():
    assert to_probs(torch.tensor([[1.0, 5.0, 5.0]]), temperature=0).tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("temperature", [1e-6, 1e-30, 100])
def test_extreme_temperatures_give_numbers(temperature):
    probs = to_probs(LOGITS * 100, temperature)
    assert torch.isfinite(probs).all() and torch.allclose(probs.sum(-1), torch.ones(3))


def test_top_p_0_keeps_one_token():
    assert (to_probs(LOGITS, top_p=0.0) > 0).sum(-1).tolist() == [1, 1, 1]


def test_a_nucleus_wider_than_the_quick_guess_is_found():
    flat = torch.zeros(1, 5000)
    assert int((to_probs(flat, top_p=0.9) > 0).sum()) == pytest.approx(4500, abs=2)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_logits_that_are_no_numbers_are_an_error_at_every_temperature(bad):
    logits = LOGITS.clone()
    logits[1, 4] = bad
    for temperature in (0, 1):
        with pytest.raises(BadLogits):
            to_probs(logits, temperature)


def test_a_models_own_mask_of_minus_infinity_is_allowed():
    logits = LOGITS.clone()
    logits[0, :49] = -math.inf
    assert to_probs(logits)[0, 49] == 1


def test_a_draw_never_takes_a_token_of_probability_0():
    probs = torch.tensor([0.0, 0.25, 0.0, 0.75, 0.0])
    assert [draw(probs, c) for c in (0.0, 0.2499, 0.25, 0.9999999999999999)] == [1, 1, 3, 3]


def test_half_precision_weights_still_draw_only_what_top_k_kept():
    logits = torch.randn(1, 50_000, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    probs = to_probs(logits, top_k=1)[0]
    best = int(logits[0].float().argmax())
    assert probs.dtype == torch.float32
    assert {draw(probs, i / 200) for i in range(200)} == {best}


def test_a_point_mass():
    assert one_hot(2, 4).tolist() == [0, 0, 1, 0]


def exact(row, temperature=1.0, top_k=0, top_p=1.0):
    """The kept ids by the definition: sorted by (largest logit, lowest id), cut at k, then at the mass."""
    order = sorted(range(len(row)), key=lambda i: (-float(row[i]), i))
    order = order[: top_k or None]
    probs = torch.softmax(row[order].double() / temperature, -1)
    before = probs.cumsum(-1) - probs
    return sorted(order[: max(1, int((before < top_p).sum()))] if top_p < 1 else order)


def tied_rows(size):
    """Rows with few different values, so that every border runs through equals: peaks, flat, and rounded ones."""
    generator = torch.Generator().manual_seed(size)
    peaks = torch.full((size,), -20.0)
    peaks[torch.randperm(size, generator=generator)[:8]] = 2.0
    rounded = (torch.randn(size, generator=generator) * 2).round()
    sure = torch.full((size,), -20.0)
    sure[torch.randperm(size, generator=generator)[:3]] = 1.0
    return torch.stack([peaks, torch.zeros(size), rounded, sure])


@pytest.mark.parametrize("size", [11, 1025, 2048, 8192])
@pytest.mark.parametrize("filters", [{"top_p": 0.55}, {"top_p": 0.9}, {"top_k": 5}, {"top_k": 3, "top_p": 0.6}])
def test_among_equals_the_lowest_ids_stay_whatever_else_is_in_the_pass(size, filters):
    rows = tied_rows(size)
    whole = to_probs(rows, 0.7, **filters)
    for row, probs in zip(rows, whole, strict=True):
        assert torch.equal(to_probs(row[None], 0.7, **filters)[0], probs)
        assert probs.nonzero().flatten().tolist() == exact(row, 0.7, **filters)
        assert float(probs.sum()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("size", [11, 1025, 8192])
def test_temperature_0_top_k_1_and_top_p_0_name_the_same_token(size):
    # two logits that become one number when divided, and probabilities that round to the same
    near = torch.full((size,), -5.0)
    near[3], near[7] = 1e-3, 1e-3 + 1e-9
    rows = torch.cat([tied_rows(size), near[None]])
    best = to_probs(rows, 0).argmax(-1).tolist()
    assert best == [exact(row, top_k=1)[0] for row in rows]
    for filters in ({"top_k": 1}, {"top_p": 0.0}, {"top_k": 1, "top_p": 0.0}):
        for temperature in (0.3, 1.0, 100.0):
            probs = to_probs(rows, temperature, **filters)
            assert (probs > 0).sum(-1).tolist() == [1] * len(rows) and probs.argmax(-1).tolist() == best


@pytest.mark.parametrize("size", [11, 1025, 8192])
def test_the_likeliest_come_in_one_order(size):
    for row in tied_rows(size):
        order = sorted(range(size), key=lambda i: (-float(row[i]), i))
        for count in (1, 4, 10, size, size + 5):
            assert likeliest(row, count).tolist() == order[:count]
