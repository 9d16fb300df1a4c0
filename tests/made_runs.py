"""Runs made up for tests: steps by drafted and accepted tokens, traces of them, a `Pace` with chosen α, c and v.

Example: ``trace_of(run_of([(3, 1), (3, 3)]))`` drafted three tokens twice, of which one and then all were accepted.
"""

from __future__ import annotations

import re
from html import unescape

import specviz
from specviz.core.records import Fate, StepRecord, TokenRecord
from specviz.core.settings import RunSettings
from specviz.metrics.pace import Pace, Point
from specviz.metrics.rates import Rate
from specviz.metrics.theory import speed_up
from specviz.traces.trace import Trace
from tests.conftest import tiny_pair


def chain_step(drafted, accepted, index=0, start=0, k=3):
    fates = [Fate.ACCEPTED] * accepted + [Fate.REJECTED] * (accepted < drafted)
    fates += [Fate.UNTESTED] * (drafted - len(fates))
    tokens = tuple(TokenRecord(n, "x", fate, n - 1) for n, fate in enumerate(fates))
    extra = TokenRecord(9, "y", Fate.BONUS if accepted == drafted else Fate.RESAMPLED, accepted - 1)
    emitted = (*(t.token_id for t in tokens[:accepted]), 9)
    return StepRecord(
        index,
        start,
        RunSettings(k=k),
        tokens,
        extra,
        emitted,
        None,
        "k",
        drafted + 1,
        draft_s=0.01,
        verify_s=0.04,
        other_s=0.0,
    )


def run_of(pairs, k=3):
    made, start = [], 0
    for index, (drafted, accepted) in enumerate(pairs):
        made.append(chain_step(drafted, accepted, index, start, k))
        start += accepted + 1
    return made


def trace_of(steps):
    return Trace("p", (1,), tuple(steps), "", None, {})


def ran(strategy="greedy", k=3, tokens=30, **settings):
    pair = tiny_pair("ctx_t", "ctx_d")
    return specviz.run(pair, [1, 2, 3, 1, 2], RunSettings(strategy=strategy, k=k, max_new_tokens=tokens, **settings))


def words(html):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


def case(alpha=0.8, c=0.1, k=4, slope=0.0, tested=100, measured=None, **other):
    """A run whose tests are independent and whose pass over one more position costs `slope`."""
    accepted = round(alpha * tested)
    expected = speed_up(accepted / tested, k, c, lambda n: 1 + slope * n) if tested else 1.0
    figures = {
        "strategy": "greedy",
        "alpha": Rate(accepted, tested),
        "by_position": (accepted / tested,) * k if tested else (),
        "cost_ratio": c,
        "verify_cost": ((1, 1.0), (2, 1 + slope), (17, 1 + 16 * slope)),
        "single_s": 0.05,
        "single_of": "target_alone",
        "source": "",
        "k": k,
        "reach": 16,
        "tree": False,
        "idle": 0,
        "steps": 50,
        "points": (Point(k, measured or expected, 50, 150),),
    }
    return Pace(**figures | other)
