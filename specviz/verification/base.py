"""What a rule is: two pure functions of (token, what is left of the target, the draft's distribution).

A rule is lossless exactly when Σ_x draft(x)·[a(x)·δ_x + (1 − a(x))·residual_x] equals the target; a test checks this
for every rule in the table, without sampling, and that it fails for those that say they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor

from specviz.core.settings import Knob


class Rule(Protocol):
    """One way to decide about a drafted token. `lossless`: the output keeps the target's distribution exactly."""

    lossless: bool
    help: str
    knobs: Mapping[str, Knob]

    def tuned(self, options: Mapping[str, float]) -> Rule:
        """The rule with its own knobs where `RunSettings.options` has them; others are left alone."""
        ...

    def accept_prob(self, token: int, target: Tensor, draft: Tensor) -> float:
        """Chance in [0, 1] of keeping `token`; `target` (what is left of it) and `draft` are [vocabulary]."""
        ...

    def residual(self, token: int, target: Tensor, draft: Tensor) -> Tensor:
        """[vocabulary], what the next sibling or the correction is judged by after refusing `token`."""
        ...


class Untuned:
    """Common part of rules without a knob."""

    knobs: Mapping[str, Knob] = {}

    def tuned(self, options: Mapping[str, float]) -> Rule:
        """The rule itself."""
        rule: Rule = self  # type: ignore[assignment]
        return rule


def normalised(mass: Tensor, otherwise: Tensor) -> Tensor:
    """`mass` scaled to sum 1. Where nothing is left the refusal had probability 0; `otherwise` keeps that defined."""
    total = mass.sum()
    return mass / total if float(total) > 0 else otherwise
