"""Rules that are wrong, to be seen to fail: in no table, so that no run can be made with them by mistake.

Both are mistakes that were made in earnest. Example, target (½, ½) and draft (1, 0): a refusal, which comes in half of
the cases, must give the second token; drawn from the whole target instead, the first comes in three of four.
"""

from __future__ import annotations

from torch import Tensor

from specviz.verification.speculative import SpeculativeSampling


class FromTheTarget(SpeculativeSampling):
    """The right test, but after a refusal the whole target is drawn from, not what the draft had too little of."""

    lossless = False
    help = "Accept with probability min(1, p/q), but after a rejection draw from p as it is."

    def residual(self, token: int, target: Tensor, draft: Tensor) -> Tensor:
        """The target, [vocabulary]."""
        return target


class ArgmaxAsDrawn(SpeculativeSampling):
    """The right formulas for a token that was drawn from `softmax`, used on one that was chosen for being likeliest."""

    lossless = False
    help = "Draft the likeliest token, but accept it with min(1, p/q), q its softmax, as if it had been drawn from it."

    def __init__(self, softmax: Tensor) -> None:
        self.softmax = softmax

    def accept_prob(self, token: int, target: Tensor, draft: Tensor) -> float:
        """min(1, target(token) / softmax(token)), though the draft is a point mass. All [vocabulary]."""
        return super().accept_prob(token, target, self.softmax)

    def residual(self, token: int, target: Tensor, draft: Tensor) -> Tensor:
        """norm(max(0, target − softmax)), [vocabulary]."""
        return super().residual(token, target, self.softmax)
