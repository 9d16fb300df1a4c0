"""What the charts of a run show, as columns: the same names and figures as in `assets/tables.js`, without a browser.

Example: ``step_columns(trace)["alpha_run"][-1]`` is the acceptance rate of the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.core.records import StepRecord
from specviz.core.words import say
from specviz.metrics.rates import count
from specviz.traces.trace import Trace
from specviz.views.amounts import amount

Columns = Mapping[str, Sequence[Any]]
MOST_ROWS = 200
"""A chart is some 400 pixels wide; in a longer run a row is several steps."""


def step_columns(trace: Trace, most: int = MOST_ROWS) -> Columns:
    """A row for each step, or for several of a long run, made of their sums. None where there is nothing to divide by."""
    rows: list[dict[str, Any]] = []
    steps, alone = trace.steps, trace.baseline.tokens_per_s if trace.baseline else None
    size, run, run_s = max(1, -(-len(steps) // most)), _Sums(), 0.0
    for first in range(0, len(steps), size):
        part = steps[first : first + size]
        here, part_s = _sums(part), sum(step.step_s for step in part)
        run, run_s = run.plus(here), run_s + part_s
        rows.append(_row(part, here, part_s, run, run_s, alone) | {"step": first + len(part)})
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def position_columns(trace: Trace) -> Columns:
    """A row for each position in the draft that was tested: how often, and how often it was accepted."""
    counts = count(trace.steps)
    accepted, tested = counts.accepted_by_position, counts.tested_by_position
    return {
        "position": list(range(1, len(tested) + 1)),
        "accepted": accepted,
        "tested": tested,
        "alpha": [a / t for a, t in zip(accepted, tested, strict=True)],
        "count": [f"{a}/{t}" for a, t in zip(accepted, tested, strict=True)],
    }


@dataclass(frozen=True, slots=True)
class _Sums:
    accepted: int = 0
    tested: int = 0
    emitted: int = 0
    steps: int = 0

    @property
    def alpha(self) -> float | None:
        return self.accepted / self.tested if self.tested else None

    def plus(self, more: _Sums) -> _Sums:
        return _Sums(
            self.accepted + more.accepted,
            self.tested + more.tested,
            self.emitted + more.emitted,
            self.steps + more.steps,
        )


def _sums(steps: Sequence[StepRecord]) -> _Sums:
    counts = count(steps)
    return _Sums(counts.acceptance_rate.part, counts.acceptance_rate.whole, counts.emitted, counts.steps)


def _row(
    part: Sequence[StepRecord], here: _Sums, part_s: float, run: _Sums, run_s: float, alone: float | None
) -> dict[str, Any]:
    names = ("draft_s", "verify_s", "other_s")
    draft, verify, other = (1000 * sum(getattr(step, name) for step in part) / len(part) for name in names)
    rate_run = run.emitted / run_s if run_s > 0 else None
    return {
        "alpha": here.alpha,
        "alpha_run": run.alpha,
        "accepted_run": run.accepted,
        "tested_run": run.tested,
        "tokens": here.emitted / len(part),
        "tau_run": run.emitted / run.steps,
        "draft_ms": draft,
        "verify_ms": verify,
        "other_ms": other,
        "total_ms": draft + verify + other,
        "alone_ms": 1000 / alone if alone else None,
        "one": 1,
        "wrote_run": amount("tokens", run.emitted),
        "passes_run": amount("target_passes", run.steps),
        "rate": here.emitted / part_s if part_s > 0 else None,
        "rate_run": rate_run,
        "time_run_s": run_s,
        "alone_rate": alone,
        "speedup_run": rate_run / alone if rate_run and alone else None,
    }


def changes(trace: Trace) -> list[tuple[int, str]]:
    """Number of each step (from 1) whose settings differ from those of the step before, and what changed."""
    found = []
    for before, step in zip(trace.steps, trace.steps[1:], strict=False):
        a, b = before.settings, step.settings
        parts = [f"K {a.k}→{b.k}"] if a.k != b.k else []
        if a.draft_length != b.draft_length:
            parts.append(b.draft_length)
        parts += [getattr(b, name) for name in ("strategy", "rule") if getattr(a, name) != getattr(b, name)]
        if a.temperature != b.temperature:
            parts.append(f"T {b.temperature:g}")
        if parts:
            found.append((step.index + 1, ", ".join(parts)))
    return found


def sentence(key: str, columns: Columns) -> str:
    """The chart in words, from the last row; where there is no row, that there is no step yet."""
    if not next(iter(columns.values()), ()):
        return say("export.no_step")
    last = {name: values[-1] for name, values in columns.items()}
    return say(f"figures.{key}_says", **{name: _figure(name, value) for name, value in last.items()})


def _figure(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    digits = 2 if name.endswith(("_s", "_run")) or "rate" in name else 1
    return f"{value:.{digits}f}"
