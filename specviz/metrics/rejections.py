"""Why tokens were rejected, and what the drafts that came to nothing cost. Standard library only.

For every rejected position: where the target's choice stood among the draft's candidates. A draft two wide would have had
it at rank 2. Ranks are exact as far as the recorded candidates go (the ten likeliest of the draft's own softmax).

Example: ``saved(rejections(steps), 3)`` are the rejections that three candidates at each position would have spared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.records import ROOT, Fate, PositionRecord, StepRecord, path_to

KNOWN = 10
"""Candidates of the draft that a position records."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A position where the draft was rejected and the target put its own token.

    `position`: position in the draft, from 1. `rank` of the target's token among the draft's candidates, from 1 (1: the
    draft's own favourite, rejected by a coin); None beyond the recorded ones or where no model is behind the draft.
    `known`: whether the draft's candidates are recorded at all. `siblings`: how many were rejected there; `drafted` is
    the first of them.
    """

    step: int
    position: int
    drafted: str
    chosen: str
    rank: int | None
    overlap: float | None
    known: bool = True
    siblings: int = 1


def rejections(steps: Sequence[StepRecord]) -> list[Rejection]:
    """Every walk that ended in a rejection, in order."""
    found = []
    for step in steps:
        if step.extra is None or step.extra.fate is not Fate.RESAMPLED:
            continue
        at, parents = step.extra.parent, [token.parent for token in step.tokens]
        position = next((p for p in step.positions if p.node == at), None)
        rejected = [token for token in step.tokens if token.parent == at]
        depth = 1 if at == ROOT else len(path_to(parents, at)) + 1
        rank = None if position is None else rank_of(position, step.extra.token_id)
        overlap = None if position is None else position.overlap
        known = position is not None and any(c.drafter_prob is not None for c in position.candidates)
        first, chosen = rejected[0].text, step.extra.text
        found.append(Rejection(step.index, depth, first, chosen, rank, overlap, known, len(rejected)))
    return found


def rank_of(position: PositionRecord, token_id: int) -> int | None:
    """Rank of a token by the draft's own softmax, from 1; None where that is not known."""
    own = sorted(
        ((c.drafter_prob, c.token_id) for c in position.candidates if c.drafter_prob is not None),
        key=lambda item: (-item[0], item[1]),
    )[:KNOWN]
    return next((rank for rank, (_, known) in enumerate(own, start=1) if known == token_id), None)


def saved(found: Sequence[Rejection], width: int) -> int:
    """Refusals at which a draft of `width` candidates would have had the target's token among them.

    Exact at temperature 0 or with chosen candidates; with sampled ones it is what the `width` likeliest would have done.
    """
    return sum(rejection.rank is not None and rejection.rank <= width for rejection in found)


BINS = ("1", "2", "3", "4", "5–10", "beyond 10", "unknown")


def ranks(found: Sequence[Rejection]) -> dict[str, int]:
    """Refusals by the rank of the target's choice, all of `BINS` in order; "unknown": no candidates were recorded."""
    bins = Counter(_bin(rejection) for rejection in found)
    return {name: bins[name] for name in BINS}


def _bin(rejection: Rejection) -> str:
    if rejection.rank is None:
        return "beyond 10" if rejection.known else "unknown"
    return str(rejection.rank) if rejection.rank <= 4 else "5–10"


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where the time of drafting and verifying went, in seconds, by what became of the tokens.

    Drafting is shared out over a step's tokens, verifying over its positions; `own` are the target's own tokens.
    """

    accepted: int
    rejected: int
    untested: int
    own: int
    accepted_s: float
    rejected_s: float
    untested_s: float
    own_s: float

    @property
    def wasted_share(self) -> float | None:
        """Time of rejected and untested tokens ÷ all of it; None before the first step."""
        whole = self.accepted_s + self.rejected_s + self.untested_s + self.own_s
        return (self.rejected_s + self.untested_s) / whole if whole else None


def ledger(steps: Sequence[StepRecord]) -> Ledger:
    """Sum up tokens and their time."""
    numbers = dict.fromkeys((Fate.ACCEPTED, Fate.REJECTED, Fate.UNTESTED), 0)
    seconds = dict.fromkeys(numbers, 0.0)
    own, own_s = 0, 0.0
    for step in steps:
        positions = len(step.tokens) + 1
        drafting = step.draft_s / len(step.tokens) if step.tokens else 0.0
        for token in step.tokens:
            numbers[token.fate] += 1
            seconds[token.fate] += drafting + step.verify_s / positions
        own += step.extra is not None
        own_s += step.verify_s / positions + (0.0 if step.tokens else step.draft_s)
    kept, rejected, rest = Fate.ACCEPTED, Fate.REJECTED, Fate.UNTESTED
    return Ledger(
        numbers[kept], numbers[rejected], numbers[rest], own, seconds[kept], seconds[rejected], seconds[rest], own_s
    )


def drafted_beyond(steps: Sequence[StepRecord], position: int) -> int:
    """Tokens that were drafted at positions after `position`."""
    deep = 0
    for step in steps:
        parents = [token.parent for token in step.tokens]
        deep += sum(len(path_to(parents, node)) > position for node in range(len(parents)))
    return deep


def last_paying_position(steps: Sequence[StepRecord]) -> int:
    """The last position in a draft at which anything was ever accepted; 0 where nothing was."""
    deepest = 0
    for step in steps:
        parents = [token.parent for token in step.tokens]
        kept = [n for n, token in enumerate(step.tokens) if token.fate is Fate.ACCEPTED]
        deepest = max([deepest, *(len(path_to(parents, node)) for node in kept)])
    return deepest
