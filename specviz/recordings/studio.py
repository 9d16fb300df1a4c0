"""Make the gallery's recordings: each run with the target alone beside it, each comparison with its lanes in turns.

Example: ``make(pair, "copy", folder)`` writes copy.json and returns the trace.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from specviz.core.words import say
from specviz.decoding import baseline, engine
from specviz.drafting import make_ready
from specviz.experiments.compare import Comparison, lanes_of
from specviz.experiments.compared import ALONE, Compared
from specviz.metrics.comparison import rate
from specviz.metrics.rates import count
from specviz.metrics.summary import summary
from specviz.metrics.trust import Doubt, beyond, uneven
from specviz.recordings.gallery import COMPARED, COMPARISONS, RECORDINGS, TRACES
from specviz.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specviz.core.settings import RunSettings
    from specviz.models.loading import Pair

BUSY = 20
"""Percent of all processors that others may use while recordings are made."""


def check(pair: Pair, names: Iterable[str]) -> str:
    """Make ready what all these drafts need, and return a warning where the machine is busy, or nothing.

    Raises SpecvizError before anything is recorded: for a strategy that does not fit, or for too little memory.
    """
    for settings in (settings for name in names for settings in _settings(name)):
        engine.check(pair, settings)
        make_ready(pair, settings.strategy)
    busy = psutil.cpu_percent(interval=1)
    if busy <= BUSY:
        return ""
    return say("recordings.busy", busy=f"{busy:.0f}")


def make(pair: Pair, name: str, folder: Path = TRACES) -> Trace:
    """Record one run with its baseline; the file is written only when all has gone well, and read back.

    Run and baseline take turns: a moment in which the machine is slow is slow for both.
    """
    plan = RECORDINGS[name]
    run = engine.start(pair, plan.prompt, plan.first)
    single, alone = baseline.alone(run, plan.first)
    while not run.finished(settings := plan.settings(len(run.steps))):
        engine.step(run, settings)
        engine.finish(single, replace(alone, max_new_tokens=len(run.output_ids)))
    run.baseline = baseline.compare(run, single)
    text = run.trace().to_json()
    trace = Trace.from_json(text)
    _write(folder / f"{name}.json", text)
    return trace


def make_comparison(pair: Pair, name: str, folder: Path = COMPARED) -> Compared:
    """Record one comparison, as a live one is made; written and read back likewise."""
    plan = COMPARISONS[name]
    both = Comparison(pair, plan.prompt, lanes_of(plan.settings, plan.strategies))
    for _ in both.steps():
        pass
    both.hold_against_alone()
    text = both.compared().to_json()
    done = Compared.from_json(text)
    _write(folder / f"{name}.json", text)
    return done


def told(name: str, trace: Trace) -> str:
    """One line for the console; see `doubts` for whether its speed-up can be trusted."""
    counts, speed_up = count(trace.steps), summary(trace)["speed_up"]
    return (
        f"{name:14} {counts.emitted:4} tokens in {counts.steps:3} passes, acceptance {counts.acceptance_rate}, "
        f"drafted {counts.mean_draft_length} a pass, speed-up {_times(speed_up)}"
    )


def doubts(trace: Trace) -> list[Doubt]:
    """Why the speed-up of a recording cannot be trusted; empty where it can."""
    tau, speed_up = count(trace.steps).block_efficiency.value, summary(trace)["speed_up"]
    times = trace.baseline.step_s if trace.baseline else ()
    found = [beyond(speed_up, tau) if speed_up and tau else None, uneven(times)]
    return [doubt for doubt in found if doubt]


def told_comparison(name: str, done: Compared) -> str:
    """One line for the console: tokens and speed-up of each lane."""
    base = rate([done.traces[ALONE]])
    lanes = [
        f"{lane} {_times(own / base if base and (own := rate([trace])) else None)}"
        for lane, trace in done.traces.items()
        if lane != ALONE
    ]
    return f"{name:14} {len(done.traces[ALONE].output_ids):4} tokens of the target alone, speed-up {', '.join(lanes)}"


def _settings(name: str) -> list[RunSettings]:
    """Settings of all steps of a recording, or of all lanes of a comparison."""
    if name in COMPARISONS:
        plan = COMPARISONS[name]
        return list(lanes_of(plan.settings, plan.strategies).values())
    return [RECORDINGS[name].settings(at) for at in (0, *RECORDINGS[name].changes)]


def _times(speed_up: float | None) -> str:
    return "not measured" if speed_up is None else f"{speed_up:.2f}×"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
