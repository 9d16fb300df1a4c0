"""A χ² test of whole short runs against exact products of the target's rows.

Thousands of seeded runs through the engine itself, on bare tables so that a run costs a millisecond. Seeds are fixed,
so every test with it is deterministic.
"""

from collections import Counter

import numpy as np
from scipy import stats

from specviz.core.sampling import to_probs
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from tests import tiny

RUNS = 1000
START = 3
FILTERS = {"plain": {}, "top-k and top-p": {"top_k": 5, "top_p": 0.8}, "temperature 2": {"temperature": 2.0}}


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
