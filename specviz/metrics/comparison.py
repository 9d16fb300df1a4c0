"""Several ways to draft in one table: acceptance, tokens a pass, what a draft costs, speed. pandas only.

Times are medians over steps and quotients within one comparison, in which the lanes took turns. Example: a lane that
wrote 30 tokens in 0.9 s beside the target alone with 30 in 1.2 s has a speed-up of 1.33.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Literal, NamedTuple

import pandas as pd

from specviz.metrics.intervals import Outcome, columns
from specviz.metrics.rates import count
from specviz.traces.trace import Trace


def table(lanes: Mapping[str, Sequence[Trace]], alone: str, sure: bool = False) -> pd.DataFrame:
    """One row a lane, over all its traces (one a prompt); NA where there is no denominator or nothing was measured.

    `alone`: the lane of the target by itself. `acceptance_rate` of tested positions, `drafted_share` of drafted tokens,
    `mean_draft_length` and `block_efficiency`: tokens drafted and tokens emitted a target pass;
    `cost_ratio` c: one draft pass ÷ one target pass over one position;
    `verify_ratio` v: a pass over a draft, of whatever length ÷ the same, passes without a draft left out;
    `speed_up`: tokens/s ÷ those of the target alone.
    `same`: whether every output at temperature 0 was the target's own; NA where that was not compared. `sure`: with 95 %
    intervals (`metrics.intervals`) as columns `…_low` and `…_high`, which take longer than all the rest.
    """
    base = lanes.get(alone, ())
    single = median([s.verify_s for t in base for s in t.steps] or [0])
    base_rate = rate(base)
    rows = []
    for name, traces in lanes.items():
        steps = [step for trace in traces for step in trace.steps]
        counts, own_rate = count(steps), rate(traces)
        passes = [step.draft_s / depth for step in steps if (depth := step.depth)]
        verified = [step.verify_s for step in steps if step.tokens]
        same = [t.baseline.identical for t in traces if t.baseline]
        row: dict[str, Any] = {
            "lane": name,
            "tokens": counts.emitted,
            "target_passes": counts.steps,
            "drafted": counts.drafted,
            "accepted": counts.acceptance_rate.part,
            "tested": counts.acceptance_rate.whole,
            "acceptance_rate": counts.acceptance_rate.value,
            "drafted_share": counts.drafted_share.value,
            "mean_draft_length": counts.mean_draft_length.value,
            "block_efficiency": counts.block_efficiency.value,
            "cost_ratio": median(passes) / single if passes and single else None,
            "verify_ratio": median(verified) / single if verified and single else None,
            "tokens_per_s": own_rate,
            "speed_up": own_rate / base_rate if own_rate and base_rate else None,
            "same": all(same) if same and None not in same else None,
        }
        if sure and name != alone:
            row |= columns([Outcome(*both) for both in zip(traces, base, strict=True)])
        rows.append(row)
    return pd.DataFrame(rows).convert_dtypes() if rows else pd.DataFrame()


def rate(traces: Sequence[Trace]) -> float | None:
    """Tokens per second of decoding, None where nothing was made."""
    seconds = sum(step.step_s for trace in traces for step in trace.steps)
    return sum(len(trace.output_ids) for trace in traces) / seconds if seconds else None


class Gain(NamedTuple):
    """A speed-up with its 95 % interval; None where it is not known. That of the target alone is 1 by definition."""

    name: str
    value: float | None
    low: float | None
    high: float | None


class Fastest(NamedTuple):
    """Index of the fastest, and why that is not certain; `doubt` is empty where it is.

    "few_steps": there are no intervals. "near": the intervals of `rivals` reach into that of the fastest.
    """

    at: int
    doubt: Literal["", "few_steps", "near"] = ""
    rivals: tuple[str, ...] = ()


def alone_gain(name: str) -> Gain:
    """What all others are measured against."""
    return Gain(name, 1.0, 1.0, 1.0)


def fastest(gains: Sequence[Gain]) -> Fastest | None:
    """The greatest speed-up, of equals the first; None where there are not two to choose from."""
    known = [(at, value) for at, (_, value, _, _) in enumerate(gains) if value is not None]
    if len(known) < 2:
        return None
    at = max(known, key=lambda one: one[1])[0]
    low, rivals = gains[at].low, [gains[other] for other, _ in known if other != at]
    if low is None or any(rival.high is None for rival in rivals):
        return Fastest(at, "few_steps")
    near = tuple(rival.name for rival in rivals if rival.high is not None and rival.high >= low)
    return Fastest(at, "near" if near else "", near)
