"""From logits to the distribution that is drawn from, and the draw itself.

One function shapes target and draft alike, at accepted, resampled and bonus positions alike. Order of the filters:
repetition penalty, temperature, top-k, top-p. Knows nothing of models, trees or rules.

Example: ``to_probs(logits, temperature=0)`` is one-hot at the largest logit, so greedy decoding is sampling from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import sentence

# A nucleus rarely holds more than this many tokens; sorting them is 20 times cheaper than sorting the vocabulary.
_NUCLEUS_GUESS = 1024


class BadLogits(SpecvizError):
    """A model answered with NaN or infinite logits."""


def check_finite(logits: Tensor) -> None:
    """Raise BadLogits where a row holds NaN, +inf, or nothing but -inf. Single -inf entries are a model's own mask."""
    if not bool(torch.isfinite(logits.amax(-1)).all()):
        raise BadLogits(sentence("errors.logits_invalid"))


def penalise(logits: Tensor, histories: Sequence[Sequence[int]], penalty: float) -> Tensor:
    """Repetition penalty (CTRL, arXiv 1909.05858, section 4.1, with transformers' sign rule), one history per row.

    `logits` [rows, vocabulary]; `histories[i]` are all ids before the position of row i: prompt, output, and the drafted
    tokens on the way there. Rejected drafts of earlier steps are in no history.
    """
    if penalty == 1.0:
        return logits
    logits = logits.clone()
    for row, history in zip(logits, histories, strict=True):
        seen = torch.tensor(sorted(set(history)), dtype=torch.long, device=row.device)
        seen = seen[seen < row.shape[0]]
        scores = row[seen]
        row[seen] = torch.where(scores < 0, scores * penalty, scores / penalty)
    return logits


def to_probs(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
    """[rows, vocabulary] logits to probabilities, float32 (float64 stays float64).

    temperature 0: one-hot at the argmax (the first of equals). top_k 0 or above the vocabulary: off. top_p 1: off;
    0 keeps one token. Raises BadLogits for NaN or infinite rows.
    """
    check_finite(logits)
    logits = logits if logits.dtype == torch.float64 else logits.float()
    if temperature == 0:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    # ranked before the temperature, which may round two different logits to the same number
    scores = _top_k(logits, top_k) if 0 < top_k < logits.shape[-1] else logits
    # the largest becomes 0 first, so that a tiny temperature cannot overflow
    probs = torch.softmax((scores - scores.amax(-1, keepdim=True)) / temperature, -1)
    return _nucleus(scores, probs, top_p) if top_p < 1 else probs


def likeliest(scores: Tensor, count: int) -> Tensor:
    """Ids of the `count` largest scores, largest first; the lowest id comes first among equal scores.

    `scores` [vocabulary]; the ids are [min(count, vocabulary)]. `topk` alone promises no order among equals.
    """
    count = min(count, scores.shape[-1])
    values, ids = _ranked(scores[None], count)
    ids = _settled(scores[None], values, ids, torch.tensor([count], device=scores.device))[0, :count].sort().values
    return ids[scores[ids].sort(descending=True, stable=True).indices]


def _top_k(logits: Tensor, top_k: int) -> Tensor:
    """All but the `top_k` largest logits of each row become -inf; of equal ones at the border the lowest ids stay."""
    values, ids = _ranked(logits, top_k)
    counts = torch.full(logits.shape[:1], top_k, device=logits.device)
    kept = _settled(logits, values, ids, counts)[:, :top_k]
    return torch.full_like(logits, -torch.inf).scatter_(-1, kept, values[:, :top_k])


def _nucleus(scores: Tensor, probs: Tensor, top_p: float) -> Tensor:
    """Keep the likeliest tokens up to the one that brings their sum to `top_p` (arXiv 1904.09751, section 3.1).

    A row's outcome depends on this row alone: a pass over one position and a pass over K + 1 must agree.
    """
    values, ids = _ranked(scores, _NUCLEUS_GUESS)
    likely = probs.gather(-1, ids)
    counts = _needed(likely, top_p)
    # the guess was too small for a flat row: the first value outside is not known
    flat = (counts >= ids.shape[-1]).nonzero().flatten().tolist() if ids.shape[-1] < probs.shape[-1] else []
    ids = _settled(scores, values, ids, counts)
    kept = torch.where(torch.arange(ids.shape[-1], device=ids.device) < counts[:, None], likely, 0.0)
    # added, not written: an id may stand in the list twice, kept once and once with 0
    whole = torch.zeros_like(probs).scatter_add_(-1, ids, kept / _total(kept))
    for row in flat:
        order = scores[row].sort(descending=True, stable=True).indices
        likely = probs[row, order]
        likely = likely[: int(_needed(likely[None], top_p))]
        whole[row] = 0.0
        whole[row, order[: len(likely)]] = likely / _total(likely)
    return whole


def _total(probs: Tensor) -> Tensor:
    """The sum of each row; in float64, where the order of adding, which other rows may change, does not show."""
    return probs.sum(-1, keepdim=True, dtype=torch.float64).to(probs.dtype)


def _needed(likely: Tensor, top_p: float) -> Tensor:
    """How many of the descending probabilities [rows, tokens] are needed to reach `top_p`, at least one: [rows]."""
    before = likely.cumsum(-1, dtype=torch.float64) - likely
    return ((before < top_p) & (likely > 0)).sum(-1).clamp_min(1)


def _ranked(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row and the next one, descending, with their ids; equals come in any order."""
    return scores.topk(min(count + 1, scores.shape[-1]), dim=-1)


def _settled(scores: Tensor, values: Tensor, ids: Tensor, counts: Tensor) -> Tensor:
    """`ids` whose first `counts` [rows] are the right set: of those that equal the last one, the lowest ids.

    `values`, `ids` [rows, ranked] as `_ranked` gives them. A row whose next value is smaller is right already.
    """
    last = values.gather(-1, counts[:, None] - 1)
    following = values.gather(-1, counts[:, None].clamp_max(values.shape[-1] - 1))
    open_rows = ((last == following) & (counts[:, None] < values.shape[-1])).flatten().nonzero().flatten().tolist()
    for row in open_rows:
        count, first = int(counts[row]), int((values[row] > last[row]).sum())
        ids[row, first:count] = (scores[row] == last[row]).nonzero().flatten()[: count - first]
    return ids


def shape(logits: Tensor, histories: Sequence[Sequence[int]], settings: RunSettings) -> Tensor:
    """All filters of a run in their order. `logits` [rows, vocabulary], one history of ids per row."""
    penalised = penalise(logits, histories, settings.repetition_penalty)
    return to_probs(penalised, settings.temperature, settings.top_k, settings.top_p)


def draw(probs: Tensor, coin: float) -> int:
    """Inverse transform: the first token whose cumulative probability exceeds `coin` × the total.

    `probs` [vocabulary], need not sum to exactly 1. A token of probability 0 is never drawn.
    """
    # summed in float64: in float32 the tail of a large vocabulary is lost in rounding
    cumulative = probs.double().cumsum(-1)
    token = int(torch.searchsorted(cumulative, coin * float(cumulative[-1]), right=True))
    return min(token, int(probs.nonzero()[-1])) if token >= probs.shape[-1] else token


def one_hot(token: int, size: int) -> Tensor:
    """A point mass: the distribution of a token that was chosen, not drawn."""
    probs = torch.zeros(size, dtype=torch.float32)  # the default may be another while a model is being loaded
    probs[token] = 1.0
    return probs
