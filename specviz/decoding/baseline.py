"""The target alone on the same prompt and settings: what a speed-up is measured against, and what a run must equal.

The measurement is itself a run (strategy "none"), so the same loop, sampler, clock and warm-up hold for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from specviz.core.records import BaselineRecord, Difference, StepRecord
from specviz.core.sampling import penalise
from specviz.core.settings import NO_DRAFT, RunSettings
from specviz.core.words import say
from specviz.decoding.engine import finish, start
from specviz.decoding.state import Run
from specviz.verification import lossy

if TYPE_CHECKING:
    from specviz.models.pair import Pair

# A pass over one position and a pass over a block use other kernels, which round differently. Differences of logits seen
# between the two: 4e-5 in float32, up to 0.3 in bfloat16. A margin below the bound is called a near-tie, never hidden.
TIE_BOUNDS = {"float32": 1e-3, "float64": 1e-3, "bfloat16": 0.5, "float16": 0.1}


def alone(
    run: Run, settings: RunSettings, start: Callable[[Pair, list[int], RunSettings], Run] = start
) -> tuple[Run, RunSettings]:
    """A fresh run of the target alone beside `run`, as long as `run` is so far, and the settings to step it with.

    `start`: `engine.begin` where the prompt is to be read piece by piece.
    """
    length = len(run.output_ids) or settings.max_new_tokens
    settings = replace(settings, strategy=NO_DRAFT, k=0, draft_length="fixed", seed=run.seed, max_new_tokens=length)
    return start(run.pair, run.prompt_ids, settings), settings


def measure(run: Run, settings: RunSettings) -> BaselineRecord:
    """The target alone on the run's prompt, as long as `run` is so far, compared with it. `run` is unchanged.

    To measure it in pieces between other work: `alone`, `engine.advance` until that returns False, `compare`.
    """
    single, settings = alone(run, settings)
    finish(single, settings)
    return compare(run, single)


def compare(run: Run, single: Run) -> BaselineRecord:
    """Hold the two outputs side by side; at temperature 0 they must be identical but for near-ties of the dtype."""
    dtype = str(run.pair.target.dtype).removeprefix("torch.")
    times = tuple(step.step_s for step in single.steps)
    bound = TIE_BOUNDS.get(dtype, 0.5)
    measured = BaselineRecord(tuple(single.output_ids), times, tie_bound=bound, others=single.others)
    if not comparable(run, single):
        return measured
    length = min(len(run.output_ids), len(single.output_ids))
    parted = next((i for i in range(length) if run.output_ids[i] != single.output_ids[i]), None)
    if parted is None:
        return replace(measured, identical=True, compared=length)
    return replace(measured, identical=False, compared=length, difference=_difference(run, single, parted))


def verdict(record: BaselineRecord, steps: Sequence[StepRecord] = ()) -> str:
    """The comparison in a sentence: identical, not comparable, or the first difference with logits and margin.

    `steps`: the run's; a rule among them that is not lossless is named.
    """
    if record.identical is None:
        if rules := lossy(steps):
            return say("sessions.verdict_lossy", rules=", ".join(rules))
        return say("sessions.verdict_sampled")
    if record.identical:
        count = record.compared or 0
        return say("sessions.verdict_same", tokens=say("amounts.tokens", n=count, count=f"{count:,}"))
    apart = record.difference
    assert apart is not None
    return say(
        "sessions.verdict_near" if apart.margin < record.tie_bound else "sessions.verdict_fault",
        number=apart.position + 1,
        ours=repr(apart.run_text),
        theirs=repr(apart.alone_text),
        our_logit=f"{apart.run_logit:.3f}",
        their_logit=f"{apart.alone_logit:.3f}",
        margin=f"{apart.margin:.3f}",
        bound=f"{record.tie_bound:g}",
    )


def comparable(run: Run, single: Run) -> bool:
    """Temperature 0, a lossless rule and the same penalty in every step of both: only then equality is promised."""
    if not run.steps or not single.steps:
        return False
    penalty, steps = single.steps[0].settings.repetition_penalty, (*run.steps, *single.steps)
    same = all(s.settings.temperature == 0 and s.settings.repetition_penalty == penalty for s in steps)
    return same and not lossy(steps)


def _difference(run: Run, single: Run, position: int) -> Difference:
    ids = single.prompt_ids + single.output_ids[:position]
    row = penalise(single.readers.target.logits(ids), [ids], single.steps[0].settings.repetition_penalty)[0]
    ours, theirs = run.output_ids[position], single.output_ids[position]
    show = run.pair.target.codec.show
    return Difference(position, ours, show(ours), theirs, show(theirs), float(row[ours]), float(row[theirs]))
