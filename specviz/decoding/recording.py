"""From tensors to plain records: the one border where a step becomes something to look at.

Runs after the clock has stopped. Whatever is shown is computed from the very tensors that decided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from specviz.core.draft import Draft
from specviz.core.records import ROOT, Candidate, DraftEnd, Fate, PositionRecord, StepRecord, StopReason, TokenRecord
from specviz.core.sampling import likeliest
from specviz.core.settings import RunSettings
from specviz.verification import Walk, any_accept_prob, rule_of

CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the phases of a step."""

    draft_s: float
    verify_s: float
    other_s: float
    catch_up_s: float


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step computed, still as tensors.

    `start`: output position of the first emitted token. `asked`: K as the draft length chose it. `draft_end`: why the
    draft has no more tokens. `logits` [drafted + 1, vocabulary]: the target's raw ones; `probs` the same after the
    filters. `emitted` may be shorter than the walk's outcome where a stop string cut it: what was cut is untested, as if
    the walk had ended there. `positions`: those that the target computed in this pass. `show`: token id → text.
    """

    index: int
    start: int
    settings: RunSettings
    asked: int
    draft: Draft
    draft_end: DraftEnd
    walk: Walk
    logits: Tensor
    probs: Tensor
    emitted: list[int]
    stop: StopReason | None
    times: Times
    positions: int
    show: Callable[[int], str]


def record(outcome: StepOutcome) -> StepRecord:
    """The record of one step."""
    began = perf_counter()
    rows = _Rows(outcome)
    tokens = tuple(_drafted(outcome, rows, node) for node in range(len(outcome.draft.token_ids)))
    extra = None if rows.extra is None else _extra(outcome, rows, rows.extra)
    positions = tuple(_position(outcome, rows, node) for node in rows.visited)
    return StepRecord(
        index=outcome.index,
        start=outcome.start,
        settings=outcome.settings,
        tokens=tokens,
        extra=extra,
        emitted_ids=tuple(outcome.emitted),
        stop=outcome.stop,
        draft_stop=outcome.draft_end,
        target_positions=outcome.positions,
        draft_s=outcome.times.draft_s,
        verify_s=outcome.times.verify_s,
        other_s=outcome.times.other_s,
        catch_up_s=outcome.times.catch_up_s,
        record_s=perf_counter() - began,
        positions=positions,
        asked=outcome.asked,
    )


class _Rows:
    """Where the walk went, and the unfiltered log-probabilities [vocabulary] at the nodes that are recorded.

    `path`: accepted nodes that were emitted. `extra`: the target's own token, None where it was cut. `visited`: nodes
    the walk stood at; the last one only if it went on to verify or draw there.
    """

    def __init__(self, outcome: StepOutcome) -> None:
        draft, walk, emitted = outcome.draft, outcome.walk, outcome.emitted
        self.path = walk.path[: len(emitted)]
        self.extra = walk.extra if len(emitted) > len(walk.path) else None
        self.end = self.path[-1] if self.path else ROOT
        self.visited = [ROOT, *self.path] if self.extra is not None else [ROOT, *self.path[:-1]]
        # the pass computed a row after every parent, so that an untested token has its probabilities, too
        nodes = list(dict.fromkeys([*self.visited, *draft.parents]))
        own = torch.log_softmax(outcome.logits[[n + 1 for n in nodes]].float(), -1).cpu()
        self.target = dict(zip(nodes, own, strict=True))
        self.draft = _own_draft(draft)


def _drafted(outcome: StepOutcome, rows: _Rows, node: int) -> TokenRecord:
    """A drafted token with its fate."""
    draft = outcome.draft
    token_id, parent = draft.token_ids[node], draft.parents[node]
    verdict = outcome.walk.verdicts.get(node)
    if verdict is None or parent not in rows.visited:
        fate, verdict = Fate.UNTESTED, None
    else:
        fate = Fate.ACCEPTED if node in rows.path else Fate.REJECTED
    return TokenRecord(
        token_id=token_id,
        text=outcome.show(token_id),
        fate=fate,
        parent=parent,
        draft_prob=float(draft.probs[node][token_id]),
        drafter_prob=float(rows.draft[node][token_id].exp()) if node in rows.draft else None,
        target_prob=float(outcome.probs[parent + 1, token_id]),
        verifier_prob=float(rows.target[parent][token_id].exp()),
        accept_prob=verdict.accept_prob if verdict else None,
        coin=verdict.coin if verdict else None,
    )


def _extra(outcome: StepOutcome, rows: _Rows, token_id: int) -> TokenRecord:
    """The target's own token: resampled after a rejection, else bonus."""
    return TokenRecord(
        token_id=token_id,
        text=outcome.show(token_id),
        fate=Fate.RESAMPLED if outcome.walk.rejected else Fate.BONUS,
        parent=rows.end,
        target_prob=float(outcome.probs[rows.end + 1, token_id]),
        verifier_prob=float(rows.target[rows.end][token_id].exp()),
        coin=outcome.walk.extra_coin,
    )


def _position(outcome: StepOutcome, rows: _Rows, node: int) -> PositionRecord:
    """The position after `node`: its likeliest candidates in both distributions, with overlap and what is not listed."""
    draft = outcome.draft
    children = [n for n, parent in enumerate(draft.parents) if parent == node]
    child = children[0] if children else None
    p, own_p = outcome.probs[node + 1], rows.target[node].exp()
    q = None if child is None else draft.probs[child]
    own_q = None if child is None or child not in rows.draft else rows.draft[child].exp()
    ids = likeliest(own_p, CANDIDATES).tolist()
    ids += [] if own_q is None else likeliest(own_q, CANDIDATES).tolist()
    ids += [draft.token_ids[n] for n in children]
    if rows.extra is not None and node == rows.end:
        ids.append(rows.extra)
    ids = list(dict.fromkeys(ids))
    rule = rule_of(outcome.settings)
    return PositionRecord(
        node=node,
        overlap=None if q is None else float(torch.minimum(p, q).sum()),
        candidates=tuple(_candidate(i, outcome.show(i), p, own_p, q, own_q) for i in ids),
        draft_tail=None if q is None else max(0.0, 1 - float(q[ids].sum())),
        target_tail=max(0.0, 1 - float(p[ids].sum())),
        accept_prob=any_accept_prob(draft, children, p, rule) if len(children) > 1 else None,
    )


def _candidate(token_id: int, text: str, p: Tensor, own_p: Tensor, q: Tensor | None, own_q: Tensor | None) -> Candidate:
    """One token in all four distributions [vocabulary]: filtered and own, of target and draft."""
    return Candidate(
        token_id=token_id,
        text=text,
        draft_prob=None if q is None else float(q[token_id]),
        target_prob=float(p[token_id]),
        drafter_prob=None if own_q is None else float(own_q[token_id]),
        verifier_prob=float(own_p[token_id]),
    )


def _own_draft(draft: Draft) -> dict[int, Tensor]:
    """The drafter's own log-probabilities [vocabulary] before each token; siblings share one row."""
    rows: dict[int, Tensor] = {}
    for own_logits in draft.own_logits or ():
        if id(own_logits) not in rows:
            rows[id(own_logits)] = torch.log_softmax(own_logits, -1)
    return {node: rows[id(own_logits)] for node, own_logits in enumerate(draft.own_logits or ())}
