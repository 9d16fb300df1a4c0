"""Counts of a run and the rates made of them, each with its denominator.

Standard library only; `frames` turns the same counts into tables. Example (llama.cpp PR 24536): 87 steps, 259 drafted,
accepted by position 70/55/42 give 0.645 of drafted and a block efficiency of 2.92.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specviz.core.records import ROOT, Fate, StepRecord


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with what it is a share of. `value` is None where the denominator is 0: no drafts is not 0 %."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """part / whole, or None."""
        return self.part / self.whole if self.whole else None

    def __str__(self) -> str:
        return f"{self.part / self.whole:.2f} ({self.part} of {self.whole})" if self.whole else "no drafts"


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over steps. A position is an index in the output that was drafted for; in a chain each token has one.

    `accepted_by_position` / `tested_by_position`: by position in the draft, from 1; how often accepted, how often tested.
    """

    steps: int
    emitted: int
    drafted: int
    tested: int
    accepted: int
    rejected: int
    untested: int
    resampled: int
    bonus: int
    drafting_steps: int
    accepted_by_position: tuple[int, ...]
    tested_by_position: tuple[int, ...]

    @property
    def acceptance_rate(self) -> Rate:
        """α: accepted positions of tested positions (the maximum-likelihood estimate for independent tests)."""
        return Rate(sum(self.accepted_by_position), sum(self.tested_by_position))

    @property
    def drafted_share(self) -> Rate:
        """Accepted of drafted; vLLM's "draft acceptance rate". Falls with K although the models are unchanged."""
        return Rate(self.accepted, self.drafted)

    @property
    def block_efficiency(self) -> Rate:
        """τ: tokens emitted per target pass, the target's own token included."""
        return Rate(self.emitted, self.steps)

    @property
    def mean_draft_length(self) -> Rate:
        """Tokens drafted per target pass, passes without a draft included: a high α with few drafted is no feat."""
        return Rate(self.drafted, self.steps)

    @property
    def conditional_by_position(self) -> tuple[Rate, ...]:
        """Accepted of tested at position i; tested only if all before it were accepted."""
        return tuple(Rate(a, t) for a, t in zip(self.accepted_by_position, self.tested_by_position, strict=True))

    @property
    def marginal_by_position(self) -> tuple[Rate, ...]:
        """Steps that accepted at least i of the steps that drafted; vLLM's per-position rate, never rises with i."""
        return tuple(Rate(a, self.drafting_steps) for a in self.accepted_by_position)


def count(steps: Iterable[StepRecord]) -> Counts:
    """Sum up steps of any mixture of strategies and K."""
    n = emitted = drafted = accepted = rejected = untested = resampled = bonus = drafting = 0
    accepted_by_position: list[int] = []
    tested_by_position: list[int] = []
    for step in steps:
        n += 1
        emitted += len(step.emitted_ids)
        drafted += len(step.tokens)
        drafting += bool(step.tokens)
        accepted += (kept := step.count(Fate.ACCEPTED))
        rejected += step.count(Fate.REJECTED)
        untested += step.count(Fate.UNTESTED)
        resampled += step.extra is not None and step.extra.fate is Fate.RESAMPLED
        bonus += step.extra is not None and step.extra.fate is Fate.BONUS
        tested = kept + rejected_position(step)
        for tally, upto in ((accepted_by_position, kept), (tested_by_position, tested)):
            tally.extend([0] * (tested - len(tally)))  # both stay as long as the deepest position tested so far
            for position in range(upto):
                tally[position] += 1
    return Counts(
        steps=n,
        emitted=emitted,
        drafted=drafted,
        tested=accepted + rejected,
        accepted=accepted,
        rejected=rejected,
        untested=untested,
        resampled=resampled,
        bonus=bonus,
        drafting_steps=drafting,
        accepted_by_position=tuple(accepted_by_position),
        tested_by_position=tuple(tested_by_position),
    )


def rejected_position(step: StepRecord) -> int:
    """1 where the walk ended in a rejection (in a tree: after rejecting every sibling at the last position), else 0."""
    path_end = ROOT
    for node, token in enumerate(step.tokens):
        if token.fate is Fate.ACCEPTED and token.parent == path_end:
            path_end = node
    return int(any(t.fate is Fate.REJECTED and t.parent == path_end for t in step.tokens))
