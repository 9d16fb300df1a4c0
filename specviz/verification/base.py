"""What a rule is: two pure functions of (token, target, draft), where the target is what is left of it.

A rule is lossless exactly when Σ_x draft(x)·[a(x)·δ_x + (1 − a(x))·residual_x] equals the target; a test checks this
for every rule in the table, without sampling, and that it fails for those that say they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from torch import Tensor

from specviz.core.settings import Knob


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way to decide about a drafted token, and an entry of the menu of rules.

    `lossless`: the output keeps the target's distribution exactly.
    `accept_prob(token, target, draft)`: chance in [0, 1] of keeping `token`. `target` and `draft` are [vocabulary]; the
    token came from `draft`, so that draft(token) > 0.
    `residual(token, target, draft)`: [vocabulary], the target of the next sibling or of the correction after `token` was
    rejected.
    `knobs`: by the names that they have in `RunSettings.options`. Both functions take them by these names, with a default.
    """

    help: str
    lossless: bool
    accept_prob: Callable[..., float]
    residual: Callable[..., Tensor]
    knobs: Mapping[str, Knob] = field(default_factory=dict)

    def tuned(self, options: Mapping[str, float]) -> Rule:
        """The rule with its own knobs where `RunSettings.options` has them; others are ignored."""
        own = {name: float(options[name]) for name in self.knobs if name in options}
        return replace(self, accept_prob=partial(self.accept_prob, **own), residual=partial(self.residual, **own))


def shortfall(token: int, target: Tensor, draft: Tensor, **knobs: float) -> Tensor:
    """norm(max(0, target − draft)), [vocabulary]: what the draft has too little of, whichever token was rejected."""
    return normalised((target - draft).clamp_min(0), otherwise=target)


def whole_target(token: int, target: Tensor, draft: Tensor, **knobs: float) -> Tensor:
    """The target as it is, [vocabulary]."""
    return target


def normalised(mass: Tensor, otherwise: Tensor) -> Tensor:
    """`mass` scaled to sum 1. Where nothing is left the rejection had probability 0; `otherwise` keeps that defined."""
    total = mass.sum()
    return mass / total if float(total) > 0 else otherwise
