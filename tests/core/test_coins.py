"""Coins are numbers anyone can recompute."""

import statistics

from scipy import stats

from specviz.core.coins import coin, coins_of


def test_a_coin_is_the_same_for_ever():
    assert coin(1, 0, "accept") == 0.9724587409290468


def test_every_argument_matters():
    values = {
        coin(1, 0, "accept"),
        coin(2, 0, "accept"),
        coin(1, 1, "accept"),
        coin(1, 0, "draft"),
        coin(1, 0, "accept", 1),
    }
    assert len(values) == 5


def test_coins_are_uniform():
    values = [coin(3, i, "emit") for i in range(20_000)]
    assert min(values) >= 0 and max(values) < 1
    assert stats.kstest(values, "uniform").pvalue > 0.001
    assert abs(statistics.correlation(values[:-1], values[1:])) < 0.03


def test_the_coins_of_a_run_are_bound_to_its_seed():
    assert coins_of(5)(7, "draft", 2) == coin(5, 7, "draft", 2)
