"""Token matching: keep a drafted token as often as the target itself would draw it.

The same as drawing t from the target and keeping the draft while t equals it (with the drafted token laid first in the
cumulative distribution, the accept coin is that draw). Lossless whatever the draft's distribution, and so accepts less
than speculative sampling does for drafts that were sampled.
"""

from __future__ import annotations

from torch import Tensor

from specviz.core.words import sentence
from specviz.verification.base import Rule, normalised


def accept_prob(token: int, target: Tensor, draft: Tensor) -> float:
    """target(token). `target` [vocabulary]; `draft` is not used."""
    return float(target[token])


def residual(token: int, target: Tensor, draft: Tensor) -> Tensor:
    """The target without this token, normalised."""
    rest = target.clone()
    rest[token] = 0
    return normalised(rest, otherwise=target)


TOKEN_MATCHING = Rule(
    lossless=True,
    help=sentence("help.token_matching"),
    accept_prob=accept_prob,
    residual=residual,
)
