"""Lanes of a comparison as a race: when each token came, by the lane's own clock. Pure: traces → plain data.

A lane's clock is the sum of its steps' own times; loading, prefill and the other lanes' turns are not in it. A
step's tokens come together, when the step ends. `assets/race.js` plays what is made here.

Example, two steps of 80 and 90 ms that emit two tokens and one::

    {"name": "greedy", "at": [80, 170], "tok": [[["·a", "a"], ["·b", "s"]], [["·c", "b"]]], "stop": "length", …}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.core.records import Fate, StepRecord
from specviz.core.words import say
from specviz.traces.trace import Trace
from specviz.views.glyphs import named
from specviz.views.palette import LETTERS

DEFAULT_RIVALS = 2
"""Lanes beside the target alone that race before you choose: the fastest, by tokens per second."""
PROMISED = ("float32", "float64")
"""Number formats in which the same text at temperature 0 is a promise."""


def race(traces: Mapping[str, Trace], alone: str, verdicts: Mapping[str, str]) -> dict[str, Any]:
    """All lanes that made a step, the target alone first, and what is to be known of the comparison of their texts.

    `alone`: name of the target's own lane. `verdicts`: a sentence for each lane that was held against it
    (`baseline.verdict`). `lanes` is empty where there is no race: fewer than two lanes have begun.
    """
    names = sorted((name for name, trace in traces.items() if trace.steps), key=lambda name: name != alone)
    if len(names) < 2 or names[0] != alone:
        return {"lanes": []}
    lanes = [_lane(name, traces[name], name == alone, verdicts.get(name)) for name in names]
    rivals = [lane["name"] for lane in sorted(lanes[1:], key=_rate, reverse=True)[:DEFAULT_RIVALS]]
    for lane in lanes:
        lane["in"] = lane["alone"] or lane["name"] in rivals
    return {"lanes": lanes, "note": _note(traces, names)}


def _lane(name: str, trace: Trace, alone: bool, verdict: str | None) -> dict[str, Any]:
    at, clock = [], 0.0
    for step in trace.steps:
        clock += step.step_s
        at.append(round(1000 * clock, 3))
    lane: dict[str, Any] = {
        "name": name,
        "alone": alone,
        "at": at,
        "tok": [_tokens(step) for step in trace.steps],
        "stop": trace.stop,
    }
    record = trace.baseline
    if not alone and record is not None and record.identical is not None:
        apart = record.difference
        lane["held"] = {
            "same": record.identical,
            "position": None if apart is None else apart.position,
            "says": verdict or "",
        }
    return lane


def _rate(lane: Mapping[str, Any]) -> float:
    """Tokens per millisecond of the lane's own clock; 0 where the clock has not moved."""
    end = lane["at"][-1]
    return sum(map(len, lane["tok"])) / end if end else 0.0


def _tokens(step: StepRecord) -> list[list[str]]:
    """What the step put into the output, in order: [shown, letter]; "t" where the target wrote alone."""
    kept = [token for token in step.tokens if token.fate is Fate.ACCEPTED]
    whole = kept + ([] if step.extra is None else [step.extra])
    return [[named(t.text, t.token_id), LETTERS[t.fate] if step.tokens else "t"] for t in whole]


def _note(traces: Mapping[str, Trace], names: list[str]) -> str:
    """What may be expected of the lanes' texts."""
    records = [traces[name].baseline for name in names[1:]]
    held = [record for record in records if record is not None and record.identical is not None]
    if not held:
        return say("race.not_compared")
    dtype = str(traces[names[0]].pair.get("dtype", ""))
    if dtype in PROMISED:
        return say("race.promised", dtype=dtype)
    return say("race.near_ties", dtype=dtype, bound=f"{held[0].tie_bound:g}")
