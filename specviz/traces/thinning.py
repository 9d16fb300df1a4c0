"""What a very long run leaves out of its saved trace, so that the file can be opened again. Standard library only.

Every token, fate, coin, time and overlap stays. Where a whole record would be too large, a position keeps fewer
candidates; where that is too large, too, untested tokens lose the probabilities that no verdict was made from.
"""

from __future__ import annotations

from dataclasses import replace

from specviz.core.records import Fate, PositionRecord, StepRecord, TokenRecord

LEVELS = (0, 1, 2)
"""0: everything. 1: fewer candidates. 2: and no target's or drafter's own probability of untested tokens."""
FEW = 3
"""The target's likeliest candidates that a position keeps beside drafted and emitted tokens."""


def thinned(step: StepRecord, level: int) -> StepRecord:
    """`step` with what `level` leaves out; the records still agree with each other."""
    if level == 0:
        return step
    positions = tuple(_few(position, step) for position in step.positions)
    tokens = step.tokens if level == 1 else tuple(map(_bare, step.tokens))
    return replace(step, positions=positions, tokens=tokens)


def _few(position: PositionRecord, step: StepRecord) -> PositionRecord:
    own = {token.token_id for token in step.tokens if token.parent == position.node}
    if step.extra is not None and step.extra.parent == position.node:
        own.add(step.extra.token_id)
    # without the drafter's ten likeliest its ranks are unknown, so its own softmax goes from the others, too
    kept = tuple(
        replace(candidate, drafter_prob=None)
        for count, candidate in enumerate(position.candidates)
        if count < FEW or candidate.token_id in own
    )
    draft_tail = None if position.draft_tail is None else _left(sum(c.draft_prob or 0.0 for c in kept))
    return replace(
        position, candidates=kept, draft_tail=draft_tail, target_tail=_left(sum(c.target_prob for c in kept))
    )


def _left(total: float) -> float:
    return max(0.0, 1 - total)


def _bare(token: TokenRecord) -> TokenRecord:
    if token.fate is not Fate.UNTESTED:
        return token
    return replace(token, target_prob=None, verifier_prob=None, drafter_prob=None)
