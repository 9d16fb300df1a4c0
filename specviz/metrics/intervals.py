"""How sure a figure is: 95 % intervals by bootstrap over prompts and steps. numpy only.

Example: ``intervals([Outcome(lane, alone)])["speed_up"]`` is (1.2, 1.5) of a lane that came out 1.35 times as fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specviz.core.records import Fate, StepRecord
from specviz.metrics.rates import rejected_position
from specviz.traces.trace import Trace

ROUNDS = 1000
CONFIDENCE = 0.95
FEWEST_STEPS = 4
"""With fewer steps than this in any lane no interval is given: a handful of draws cannot say how they vary."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A lane and the target alone that took turns with it, on one prompt."""

    lane: Trace
    alone: Trace


INTERVALS = ("acceptance_rate", "block_efficiency", "tokens_per_s", "speed_up")
_SUMS = ("accepted", "tested", "emitted", "seconds", "passes")


def intervals(
    outcomes: Sequence[Outcome], rounds: int = ROUNDS, confidence: float = CONFIDENCE, seed: int = 1
) -> dict[str, Interval | None]:
    """Percentile bootstrap: prompts are drawn with replacement, then steps within each, of both lanes.

    Whole steps are drawn, since the tokens of a step depend on each other. What this leaves out: that neighbouring steps
    resemble each other, and, with a single prompt, that other texts are other texts. None where a lane has fewer than
    `FEWEST_STEPS` steps, where a figure has no denominator in some draw, and where all draws are alike.
    """
    lanes = [(_sums(o.lane.steps), _sums(o.alone.steps)) for o in outcomes]
    if not lanes or any(len(steps) < FEWEST_STEPS for both in lanes for steps in both):
        return dict.fromkeys(INTERVALS)
    draws = np.random.default_rng(seed)
    totals = np.zeros((2, rounds, len(_SUMS)))
    for _ in lanes:  # as many prompts as there are, each of them any
        chosen = draws.integers(len(lanes), size=rounds)
        for number, both in enumerate(lanes):
            at = np.flatnonzero(chosen == number)
            for side, steps in enumerate(both):
                totals[side, at] += _resampled(steps, len(at), draws)
    (accepted, tested, emitted, seconds, passes), (_, _, alone_emitted, alone_seconds, _) = (side.T for side in totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        figures = {
            "acceptance_rate": accepted / tested,
            "block_efficiency": emitted / passes,
            "tokens_per_s": emitted / seconds,
            "speed_up": (emitted / seconds) / (alone_emitted / alone_seconds),
        }
    tail = 100 * (1 - confidence) / 2
    return {name: _percentiles(values, tail) for name, values in figures.items()}


def columns(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """The same as columns of a table: `…_low` and `…_high` of each of `INTERVALS`."""
    ends = {name: interval or (None, None) for name, interval in intervals(outcomes).items()}
    return {
        f"{name}_{end}": value for name, pair in ends.items() for end, value in zip(("low", "high"), pair, strict=True)
    }


def _percentiles(values: NDArray[np.float64], tail: float) -> Interval | None:
    if not np.isfinite(values).all():
        return None
    low, high = np.percentile(values, [tail, 100 - tail])
    alike = high - low <= 1e-9 * abs(high)  # steps that are all alike do not tell how they vary
    return None if alike else (float(low), float(high))


def _resampled(steps: NDArray[np.float64], rounds: int, draws: np.random.Generator) -> NDArray[np.float64]:
    """[rounds, figures]: sums over as many steps as there are, each drawn from all of them."""
    counts = draws.multinomial(len(steps), np.full(len(steps), 1 / len(steps)), size=rounds)
    return counts @ steps


def _sums(steps: Iterable[StepRecord]) -> NDArray[np.float64]:
    """[steps, figures]: what each step adds to the sums, in the order of `_SUMS`."""
    rows = []
    for step in steps:
        kept, rejected = step.count(Fate.ACCEPTED), rejected_position(step)
        rows.append((kept, kept + rejected, len(step.emitted_ids), step.step_s, 1))
    return np.array(rows, dtype=float).reshape(-1, len(_SUMS))
