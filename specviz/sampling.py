"""From logits to the distribution that is drawn from, and the draw itself.

One function shapes target and draft alike, at accepted, resampled and bonus places alike. Order of the filters:
repetition penalty, temperature, top-k, top-p. Knows nothing of models, trees or rules.

Example: ``to_probs(logits, temperature=0)`` is one-hot at the largest logit, so greedy decoding is sampling from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.settings import RunSettings, SpecvizError

# A nucleus rarely holds more than this many tokens; sorting them is 20 times cheaper than sorting the vocabulary.
_NUCLEUS_GUESS = 1024


class BadLogits(SpecvizError):
    """A model answered with NaN or infinite logits."""


def check_finite(logits: Tensor) -> None:
    """Raise BadLogits where a row holds NaN, +inf, or nothing but -inf. Single -inf entries are a model's own mask."""
    if not bool(torch.isfinite(logits.amax(-1)).all()):
        raise BadLogits("logits are not numbers (NaN or infinite)")


def penalise(logits: Tensor, histories: Sequence[Sequence[int]], penalty: float) -> Tensor:
    """Repetition penalty (CTRL, arXiv 1909.05858, section 4.1, with transformers' sign rule), one history per row.

    `logits` [rows, vocabulary]; `histories[i]` are all ids before the place of row i: prompt, output, and the drafted
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
    # the largest becomes 0 first, so that a tiny temperature cannot overflow
    logits = (logits - logits.amax(-1, keepdim=True)) / temperature
    if 0 < top_k < logits.shape[-1]:
        kept = logits.topk(top_k, dim=-1)
        logits = torch.full_like(logits, -torch.inf).scatter_(-1, kept.indices, kept.values)
    probs = torch.softmax(logits, -1)
    return _nucleus(probs, top_p) if top_p < 1 else probs


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    """Keep the likeliest tokens up to the one that brings their sum to `top_p` (arXiv 1904.09751, section 3.1)."""
    size = min(_NUCLEUS_GUESS, probs.shape[-1])
    values, indices = probs.topk(size, dim=-1)
    if bool((values.sum(-1) < top_p).any()):
        values, indices = probs.sort(dim=-1, descending=True, stable=True)
    before = values.cumsum(-1) - values
    kept = torch.where(before < top_p, values, 0.0)
    kept[..., 0] = values[..., 0]
    return torch.zeros_like(probs).scatter_(-1, indices, kept / kept.sum(-1, keepdim=True))


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
