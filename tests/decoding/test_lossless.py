"""Whole short runs against exact products of the target's rows: a χ² test over all outcomes.

Thousands of seeded runs through the engine itself, on bare tables so that a run costs a millisecond. Seeds are fixed,
so the test is deterministic; the bound 1e-4 is what a right engine misses once in ten thousand choices of seeds.
"""

from collections import Counter

import numpy as np
import pytest
import torch
from scipy import stats

from specviz.core.records import Costs
from specviz.core.sampling import to_probs
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.drafting import STRATEGIES
from specviz.verification import RULES
from specviz.verification.speculative import SpeculativeSampling
from tests import tiny

RUNS = 1000
START = 3
FILTERS = {"plain": {}, "top-k and top-p": {"top_k": 5, "top_p": 0.8}, "temperature 2": {"temperature": 2.0}}
DRAFTING = [(s, r) for s in STRATEGIES if s != "none" for r in RULES if RULES[r].lossless]
MOST = "top-k and top-p"
"""The filters whose case goes through most code."""
# one that draws, one that chooses, one that branches: the whole product, nightly
WHOLE = ("sampling", "greedy", "sampled tree")
COPIES = ("early exit", "8-bit copy", "4-bit copy")
"""They draft with the code of `sampling`, on another model."""
CASES: list[object] = [
    (s, r, 2, MOST)
    if (r == "speculative sampling" and s not in COPIES) or s in WHOLE
    else pytest.param(s, r, 2, MOST, marks=pytest.mark.slow)
    for s, r in DRAFTING
]
CASES += [
    pytest.param(s, r, k, f, marks=pytest.mark.slow)
    for s, r in DRAFTING
    if s in WHOLE
    for k, f in [(1, "plain"), *((2, f) for f in FILTERS if f != MOST)]
]


def p_value(pair, settings, costs=None):
    """χ² of the first two tokens; outcomes expected fewer than five times are pooled, impossible ones must not occur."""
    probs = to_probs(tiny.target_table().double(), settings.temperature, settings.top_k, settings.top_p)
    exact = (probs[START][:, None] * probs).numpy()
    seen = Counter()
    # the prompt repeats, so that prompt lookup has something to find
    prompt = [START, 4, START, 8, 8, START]
    for seed in range(RUNS):
        run = RunSettings(**{**settings.to_dict(), "seed": seed})
        seen[tuple(engine.run(pair, prompt, run, costs).output_ids[:2])] += 1
    assert all(exact[outcome] > 0 for outcome in seen), "a token outside the filtered set was emitted"
    expected = exact.flatten() * RUNS
    observed = np.array([seen[divmod(i, tiny.WORDS)] for i in range(len(expected))], dtype=float)
    rare = expected < 5
    expected = np.append(expected[~rare], expected[rare].sum())
    observed = np.append(observed[~rare], observed[rare].sum())
    if expected[-1] < 1:
        expected, observed = expected[:-1], observed[:-1]
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize(("strategy", "rule", "k", "filters"), CASES)
def test_whole_runs_have_the_targets_distribution(tables, strategy, rule, k, filters):
    # a third token, so that two may be drafted at once
    settings = RunSettings(strategy=strategy, rule=rule, k=k, max_new_tokens=k + 1, **FILTERS[filters])
    assert p_value(tables, settings) > 1e-4


@pytest.mark.parametrize("strategy", ["sampling", "sampled tree"])
@pytest.mark.parametrize("length", ["heuristic", "confidence", "cost-aware"])
def test_whole_runs_have_the_targets_distribution_however_far_is_drafted(tables, strategy, length):
    # drafting seems to pay until a token is refused: K is 1, then 0 or 2
    costs = Costs(0.3)
    given = {"sampling": costs, "sampled tree, siblings 2, replacement 0": costs}
    settings = RunSettings(strategy=strategy, k=2, draft_length=length, max_new_tokens=4)
    assert p_value(tables, settings, given) > 1e-4


class FromTheTarget(SpeculativeSampling):
    """The classic mistake: the replacement is drawn from the plain target."""

    def residual(self, token, target, draft):
        return target


def test_the_test_can_fail_a_replacement_from_the_plain_target_is_caught(tables, monkeypatch):
    monkeypatch.setitem(RULES, "speculative sampling", FromTheTarget())
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
