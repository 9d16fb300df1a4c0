"""The formulas against the tables of the paper and against each other."""

import math
import random

import pytest

from specviz.core.costs import interpolated
from specviz.core.settings import SettingsError
from specviz.metrics.theory import (
    Verdict,
    best_k,
    break_even_alpha,
    breakdown,
    cost_of_step,
    expected_by_position,
    expected_tokens,
    most_tokens,
    operations,
    oracle_speed_up,
    speed_up,
    tokens_a_step,
    verdict,
)
from tests.published import TABLE_1

# table 4 (T5-XXL, EnDe, T = 0, K = 7): α, c → expected
TABLE_4 = [(0.75, 0.02, 3.2), (0.80, 0.04, 3.3), (0.82, 0.11, 2.5)]
# argmax of the formula, and the speed-up there
BEST = [
    (0.5, 0.01, {5}, 1.88),
    (0.5, 0.05, {3}, 1.63),
    (0.5, 0.10, {2}, 1.46),
    (0.5, 0.20, {1, 2}, 1.25),
    (0.7, 0.01, {9}, 2.97),
    (0.7, 0.05, {6}, 2.35),
    (0.7, 0.10, {4}, 1.98),
    (0.7, 0.20, {3}, 1.58),
    (0.9, 0.01, {24}, 7.49),
    (0.9, 0.05, {13}, 4.67),
    (0.9, 0.10, {10}, 3.43),
    (0.9, 0.20, {7}, 2.37),
]


@pytest.mark.parametrize(("alpha", "k", "ops", "gain"), TABLE_1)
def test_table_1(alpha, k, ops, gain):
    assert operations(alpha, k, 0) == pytest.approx(ops, abs=0.005)
    assert speed_up(alpha, k, 0) == pytest.approx(gain, abs=0.005)


@pytest.mark.parametrize(("alpha", "c", "expected"), TABLE_4)
def test_table_4(alpha, c, expected):
    assert speed_up(alpha, 7, c) == pytest.approx(expected, abs=0.07)


@pytest.mark.parametrize(("alpha", "c", "ks", "gain"), BEST)
def test_best_k(alpha, c, ks, gain):
    assert best_k(alpha, c) in ks and speed_up(alpha, best_k(alpha, c), c) == pytest.approx(gain, abs=0.006)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9])
def test_expected_tokens_is_what_a_simulation_of_independent_tests_gives(alpha):
    dice, k, steps = random.Random(3), 4, 20_000
    made = 0
    for _ in range(steps):
        kept = next((i for i in range(k) if dice.random() >= alpha), k)
        made += kept + 1
    assert made / steps == pytest.approx(expected_tokens(alpha, k), rel=0.02)


def test_edges():
    assert expected_tokens(1, 5) == 6 and expected_tokens(0, 5) == 1 and speed_up(0.4, 0, 0.3) == 1
    assert expected_by_position([0.7] * 3) == pytest.approx(expected_tokens(0.7, 3)) and expected_by_position([]) == 1
    assert most_tokens(0.75) == 4 and most_tokens(1) == math.inf
    assert oracle_speed_up(0.5, 0) == 2 and oracle_speed_up(1, 0) == math.inf and oracle_speed_up(0.8, 1) == 1
    with pytest.raises(SettingsError, match="from 0 to 1"):
        speed_up(1.2, 2, 0.1)
    with pytest.raises(SettingsError, match="negative"):
        speed_up(0.5, 2, -0.1)
    with pytest.raises(SettingsError):
        speed_up(0.5, 2, float("nan"))


def test_break_even():
    # v = 1: some K helps exactly when α > c
    for c in (0.05, 0.3, 0.9):
        assert break_even_alpha(c) == pytest.approx(c, abs=1e-6)
        assert best_k(c * 0.99, c) == 0 < best_k(min(1, c * 1.01), c)
    assert break_even_alpha(1.5) is None
    v = interpolated([(1, 1.0), (2, 1.4), (3, 1.9)])
    needed = break_even_alpha(0.2, v)
    assert needed == pytest.approx(0.6, abs=0.05)
    assert best_k(needed - 0.01, 0.2, v) == 0 < best_k(needed + 0.01, 0.2, v)


def test_measured_costs_are_met_at_the_points_and_go_on_straight():
    v = interpolated([(5, 1.14), (1, 1.0), (9, 1.34)])
    assert v(0) == 1 and v(4) == 1.14 and v(8) == 1.34
    assert v(2) == pytest.approx(1.07) and v(12) == pytest.approx(1.54)
    assert interpolated([(1, 1.0)])(7) == 1
    with pytest.raises(SettingsError, match="at least one"):
        interpolated([])


def test_the_factors_of_a_breakdown_multiply_to_the_measured_figure():
    found = breakdown(0.6, [0.6, 0.7, 0.5], 3, 0.1, lambda k: 1 + 0.05 * k, measured=1.2)
    product = found.textbook * found.verification * found.missing * found.dependence * found.overhead
    assert product == pytest.approx(1.2) and found.verification < 1 and found.missing == 1
    half = breakdown(0.6, [0.6, 0.7, 0.5], 3, 0.1, lambda k: 1 + 0.05 * k, measured=1.2, short=((0, 0.5),))
    assert half.missing < 1 and found.verification < half.verification < 1 and half.dependence > 1


def test_steps_that_drafted_less_make_fewer_tokens_and_cost_less():
    short = ((0, 0.25), (2, 0.25))  # half of the steps draft K tokens
    assert tokens_a_step(0.5, 4, short) == pytest.approx((2 * 1.9375 + 1 + 1.75) / 4)
    assert cost_of_step(4, 0.1, lambda k: 1 + 0.1 * k, short) == pytest.approx((2 * 1.8 + 1 + 1.4) / 4)
    assert tokens_a_step(0.5, 1, short) == pytest.approx((3 * 1.5 + 1) / 4)  # K below: no draft is longer than K
    assert speed_up(0.5, 4, 0.1, short=((0, 1.0),)) == 1
    # a look-up that finds nothing in two of three steps cannot be faster than its ceiling, however good its finds
    assert speed_up(1.0, 4, 0.0, short=((0, 2 / 3),)) == pytest.approx((5 + 2) / 3)
    # steps that are the target's own do not change whether some K pays
    assert break_even_alpha(0.3, short=((0, 0.7),)) == pytest.approx(break_even_alpha(0.3), abs=1e-6)
    best = best_k(0.7, 0.1, short=((0, 0.5),))
    gain = speed_up(0.7, best, 0.1, short=((0, 0.5),))
    found = verdict(0.7, 0.1, short=((0, 0.5),))
    assert (found.code, found.best, found.gain) == ("best", best, pytest.approx(gain))


@pytest.mark.parametrize(
    ("alpha", "c", "found"),
    [
        (0.7, 0.1, Verdict("best", 4, pytest.approx(1.98, abs=0.005), pytest.approx(0.1, abs=1e-6))),
        (0.1, 0.3, Verdict("below_break_even", break_even=pytest.approx(0.3, abs=1e-6))),
        (0.9, 1.5, Verdict("too_dear")),
    ],
)
def test_the_verdict(alpha, c, found):
    assert verdict(alpha, c) == found
