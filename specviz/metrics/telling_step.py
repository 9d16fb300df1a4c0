"""Which step of a run to show first: one on which the method can be explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from specviz.core.records import Fate, StepRecord


def first_telling(steps: Sequence[StepRecord]) -> int:
    """Number of the step to explain first, from 1: it has an accepted, a rejected and an untested token and a correction.

    Where no step has all four: the first with a rejection, else the first whose draft was accepted whole, else 1.
    """
    fates = [Counter(token.fate for token in step.tokens) for step in steps]
    wanted = (Fate.ACCEPTED, Fate.REJECTED, Fate.UNTESTED)
    rules: tuple[Callable[[StepRecord, Counter[Fate]], bool], ...] = (
        lambda step, found: step.extra is not None and all(found[fate] for fate in wanted),
        lambda step, found: found[Fate.REJECTED] > 0,
        lambda step, found: found[Fate.ACCEPTED] == len(step.tokens) > 0,
    )
    for rule in rules:
        for number, (step, found) in enumerate(zip(steps, fates, strict=True), start=1):
            if rule(step, found):
                return number
    return 1
