"""Make the gallery's recordings: run each with a loaded pair, measure the target alone beside it, write its trace.

Example: ``make(pair, "copy", folder)`` writes copy.json and returns the trace.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specviz import baseline, engine
from specviz.metrics import count
from specviz.trace import Trace
from specviz.ui.gallery import RECORDINGS, TRACES

if TYPE_CHECKING:
    from specviz.models.loading import Pair


def make(pair: Pair, name: str, folder: Path = TRACES) -> Trace:
    """Record one run with its baseline; the file is written only when all has gone well, and read back."""
    plan = RECORDINGS[name]
    run = engine.start(pair, plan.prompt, plan.first)
    while not run.finished(settings := plan.settings(len(run.steps))):
        engine.step(run, settings)
    single, alone = baseline.alone(run, settings)
    while not single.finished(alone):
        engine.step(single, alone)
    run.baseline = baseline.compare(run, single)
    text = run.trace().to_json()
    trace = Trace.from_json(text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return trace


def told(name: str, trace: Trace) -> str:
    """One line for the console."""
    counts, seconds = count(trace.steps), sum(step.step_s for step in trace.steps)
    alone = trace.baseline.tokens_per_s if trace.baseline else None
    speedup = f"{counts.emitted / seconds / alone:.2f}×" if alone and seconds else "not measured"
    return (
        f"{name:14} {counts.emitted:4} tokens in {counts.steps:3} passes, acceptance {counts.acceptance_rate}, "
        f"drafted {counts.mean_draft_length} a pass, speed-up {speedup}"
    )
