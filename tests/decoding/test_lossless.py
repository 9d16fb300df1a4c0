"""Whole short runs against exact products of the target's rows: a χ² test over all outcomes.

The bound 1e-4 is what a right engine misses once in ten thousand choices of seeds.
"""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from scipy import stats

from specviz.core.records import Costs
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.drafting import STRATEGIES
from specviz.verification import RULES
from specviz.verification.base import whole_target
from tests import tiny
from tests.chi_squared import FILTERS, START, p_value

DRAFTING = [(s, r) for s in STRATEGIES if s != "none" for r in RULES if RULES[r].lossless]
MOST = "top-k and top-p"
"""The filters whose case goes through most code."""
# one that draws, one that chooses, one that branches: the whole product, nightly
WHOLE = ("sampling", "greedy", "sampled tree")
BOTH_RULES = ("sampling", "sampled tree")
"""A chain and a tree: what a rule decides does not depend on who drafted."""
COPIES = ("early exit", "8-bit copy", "4-bit copy")
"""They draft with the code of `sampling`, on another model."""
CASES: list[object] = [
    (s, r, 2, MOST)
    if (r == "speculative sampling" and s not in COPIES) or s in BOTH_RULES
    else pytest.param(s, r, 2, MOST, marks=pytest.mark.slow)
    for s, r in DRAFTING
]
CASES += [
    pytest.param(s, r, k, f, marks=pytest.mark.slow)
    for s, r in DRAFTING
    if s in WHOLE
    for k, f in [(1, "plain"), *((2, f) for f in FILTERS if f != MOST)]
]


@pytest.mark.parametrize(("strategy", "rule", "k", "filters"), CASES)
def test_whole_runs_have_the_targets_distribution(tables, strategy, rule, k, filters):
    # a third token, so that two may be drafted at once
    settings = RunSettings(strategy=strategy, rule=rule, k=k, max_new_tokens=k + 1, **FILTERS[filters])
    assert p_value(tables, settings) > 1e-4


@pytest.mark.parametrize("strategy", ["sampling", pytest.param("sampled tree", marks=pytest.mark.slow)])
@pytest.mark.parametrize("length", ["heuristic", "confidence", "cost-aware"])
def test_whole_runs_have_the_targets_distribution_however_far_is_drafted(tables, strategy, length):
    # drafting seems to pay until a token is rejected: K is 1, then 0 or 2
    costs = Costs(0.3)
    given = {"sampling": costs, "sampled tree, siblings 2, replacement 0": costs}
    settings = RunSettings(strategy=strategy, k=2, draft_length=length, max_new_tokens=4)
    assert p_value(tables, settings, given) > 1e-4


def test_the_test_can_fail_a_replacement_from_the_plain_target_is_caught(tables, monkeypatch):
    mistaken = replace(RULES["speculative sampling"], residual=whole_target)
    monkeypatch.setitem(RULES, "speculative sampling", mistaken)
    assert p_value(tables, RunSettings(strategy="sampling", k=2, max_new_tokens=2)) < 1e-4


def test_a_draft_in_half_precision_keeps_the_targets_distribution_exact(pair):
    """q is taken from the very values that were sampled, whatever format computed them."""
    mixed = type(pair("target12"))(pair("target12").target, pair("draft12", None, "bfloat16").target)
    settings = RunSettings(strategy="sampling", k=2, max_new_tokens=2)
    probs = tiny.probs(tiny.target_table())
    first = Counter(
        engine.run(mixed, [START], RunSettings(**{**settings.to_dict(), "seed": seed})).output_ids[0]
        for seed in range(400)
    )
    observed = torch.tensor([first[i] for i in range(tiny.WORDS)], dtype=torch.float64)
    expected = probs[START] * 400
    keep = expected >= 2
    assert stats.chisquare(observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum()).pvalue > 1e-4
