"""Speculative sampling: keep a token as often as target and draft agree on it, and repair the rest exactly.

Leviathan et al., arXiv 2211.17192, section 2.3 and appendix A.1; Chen et al., arXiv 2302.01318, theorem 1. With a point
mass as draft it becomes: accept with the target's probability, else draw from the target without that token.
"""

from __future__ import annotations

from torch import Tensor

from specviz.core.words import sentence
from specviz.verification.base import Rule, shortfall


def accept_prob(token: int, target: Tensor, draft: Tensor) -> float:
    """min(1, target(token) / draft(token)). Both [vocabulary]; draft(token) > 0 as the token was drawn from it."""
    return min(1.0, float(target[token]) / float(draft[token]))


SPECULATIVE_SAMPLING = Rule(
    lossless=True,
    help=sentence("help.speculative_sampling"),
    accept_prob=accept_prob,
    residual=shortfall,
)
