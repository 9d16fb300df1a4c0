"""Lenience: speculative sampling that looks away a little, and so changes the output.

Leviathan et al., arXiv 2211.17192, appendix A.5: multiply draft(x) by l before it is compared with target(x). No token
is emitted more than 1/l times as often as by the target, but there is no such bound from below. With l = 1 it would be
speculative sampling.
"""

from __future__ import annotations

from torch import Tensor

from specviz.core.settings import knob
from specviz.core.words import sentence
from specviz.verification.base import Rule, shortfall

LENIENCE = knob("lenience", 0.5, 0.05, 0.95, 0.05)


def accept_prob(token: int, target: Tensor, draft: Tensor, lenience: float = LENIENCE.default) -> float:
    """min(1, target(token) / (l·draft(token))). Both [vocabulary]; draft(token) > 0 as the token came from it."""
    return min(1.0, float(target[token]) / (lenience * float(draft[token])))


LENIENT = Rule(
    lossless=False,
    help=sentence("help.lenience"),
    knobs={"lenience": LENIENCE},
    accept_prob=accept_prob,
    residual=shortfall,
)
