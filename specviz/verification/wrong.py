"""Rules that are wrong, to be seen to fail: in no table, so that no run can be made with them by mistake.

Both are mistakes that were made in earnest. Example, target (½, ½) and draft (1, 0): a rejection, which comes in half of
the cases, must give the second token; drawn from the whole target instead, the first comes in three of four.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from specviz.core.words import sentence
from specviz.verification.base import Rule, shortfall, whole_target
from specviz.verification.speculative import SPECULATIVE_SAMPLING, accept_prob

FROM_THE_TARGET = replace(
    SPECULATIVE_SAMPLING,
    lossless=False,
    help=sentence("help.correction_from_p"),
    residual=whole_target,
)
"""The right test, but after a rejection the whole target is drawn from, not the residual."""

ARGMAX_HELP = sentence("help.argmax_as_sample")


def argmax_as_drawn(softmax: Tensor) -> Rule:
    """The right formulas for a token drawn from `softmax` [vocabulary], used on one chosen for being likeliest.

    The draft, a point mass, is ignored.
    """
    return Rule(
        lossless=False,
        help=ARGMAX_HELP,
        accept_prob=lambda token, target, draft: accept_prob(token, target, softmax),
        residual=lambda token, target, draft: shortfall(token, target, softmax),
    )
