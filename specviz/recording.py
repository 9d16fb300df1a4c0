"""From tensors to plain records: the one border where a step becomes something to look at.

Runs after the clock has stopped. Whatever is shown is computed from the very tensors that decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from specviz.models.cached import CachedModel
from specviz.sampling import likeliest
from specviz.settings import RunSettings
from specviz.trace import ROOT, Candidate, Fate, PlaceRecord, StepRecord, StopReason, TokenRecord
from specviz.verification import Draft, Walk, any_accept_prob, rule_of

CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the phases of a step."""

    draft_s: float
    verify_s: float
    other_s: float
    catch_up_s: float


def record(
    index: int,
    start: int,
    settings: RunSettings,
    draft: Draft,
    walk: Walk,
    logits: Tensor,
    probs: Tensor,
    emitted: list[int],
    stop: StopReason | None,
    target: CachedModel,
    times: Times,
    asked: int,
) -> StepRecord:
    """The record of one step.

    `logits` [drafted + 1, vocabulary] raw, of the target; `probs` the same after the filters. `emitted` may be shorter
    than the walk's outcome where a stop string cut it: what was cut is untested, as if the walk had ended there.
    """
    began = perf_counter()
    path = walk.path[: len(emitted)]
    extra = walk.extra if len(emitted) > len(walk.path) else None
    end = path[-1] if path else ROOT
    # places the walk stood at; the last one only if it went on to test or draw there
    visited = [ROOT, *path] if extra is not None else [ROOT, *path[:-1]]
    show = target.loaded.codec.show

    # the pass computed a row after every parent, so that an untested token has its probabilities, too
    nodes = list(dict.fromkeys([*visited, *draft.parents]))
    own_target = torch.log_softmax(logits[[n + 1 for n in nodes]].float(), -1).cpu()
    row_of = {node: row for row, node in enumerate(nodes)}
    own_draft = _own_draft(draft)

    def token(node: int) -> TokenRecord:
        token_id, parent = draft.token_ids[node], draft.parents[node]
        verdict = walk.verdicts.get(node)
        if verdict is None or parent not in visited:
            fate, verdict = Fate.UNTESTED, None
        else:
            fate = Fate.ACCEPTED if node in path else Fate.REJECTED
        return TokenRecord(
            token_id=token_id,
            text=show(token_id),
            fate=fate,
            parent=parent,
            draft_prob=float(draft.probs[node][token_id]),
            drafter_prob=float(own_draft[node][token_id].exp()) if node in own_draft else None,
            target_prob=float(probs[parent + 1, token_id]),
            verifier_prob=float(own_target[row_of[parent], token_id].exp()),
            accept_prob=verdict.accept_prob if verdict else None,
            coin=verdict.coin if verdict else None,
        )

    def place(node: int) -> PlaceRecord:
        children = [n for n, parent in enumerate(draft.parents) if parent == node]
        child = children[0] if children else None
        p, own_p = probs[node + 1], own_target[row_of[node]].exp()
        q = None if child is None else draft.probs[child]
        own_q = None if child is None or child not in own_draft else own_draft[child].exp()
        likely = likeliest(own_p, CANDIDATES).tolist()
        if own_q is not None:
            likely += likeliest(own_q, CANDIDATES).tolist()
        likely += [draft.token_ids[n] for n in children]
        if extra is not None and node == end:
            likely.append(extra)
        ids = list(dict.fromkeys(likely))
        candidates = tuple(
            Candidate(
                token_id=i,
                text=show(i),
                draft_prob=None if q is None else float(q[i]),
                target_prob=float(p[i]),
                drafter_prob=None if own_q is None else float(own_q[i]),
                verifier_prob=float(own_p[i]),
            )
            for i in ids
        )
        return PlaceRecord(
            node=node,
            overlap=None if q is None else float(torch.minimum(p, q).sum()),
            candidates=candidates,
            draft_tail=None if q is None else max(0.0, 1 - float(q[ids].sum())),
            target_tail=max(0.0, 1 - float(p[ids].sum())),
            accept_prob=any_accept_prob(draft, children, p, rule_of(settings)) if len(children) > 1 else None,
        )

    def target_token(token_id: int) -> TokenRecord:
        return TokenRecord(
            token_id=token_id,
            text=show(token_id),
            fate=Fate.RESAMPLED if walk.refused else Fate.BONUS,
            parent=end,
            target_prob=float(probs[end + 1, token_id]),
            verifier_prob=float(own_target[row_of[end], token_id].exp()),
            coin=walk.extra_coin,
        )

    tokens = tuple(token(node) for node in range(len(draft.token_ids)))
    last = None if extra is None else target_token(extra)
    places = tuple(place(node) for node in visited)
    return StepRecord(
        index=index,
        start=start,
        settings=settings,
        tokens=tokens,
        extra=last,
        emitted_ids=tuple(emitted),
        stop=stop,
        draft_stop=draft.stop,
        target_positions=target.positions,
        draft_s=times.draft_s,
        verify_s=times.verify_s,
        other_s=times.other_s,
        catch_up_s=times.catch_up_s,
        record_s=perf_counter() - began,
        places=places,
        asked=asked,
    )


def _own_draft(draft: Draft) -> dict[int, Tensor]:
    """The drafter's own log-probabilities [vocabulary] before each token; siblings share one row."""
    rows: dict[int, Tensor] = {}
    for own_logits in draft.own_logits or ():
        if id(own_logits) not in rows:
            rows[id(own_logits)] = torch.log_softmax(own_logits, -1)
    return {node: rows[id(own_logits)] for node, own_logits in enumerate(draft.own_logits or ())}
