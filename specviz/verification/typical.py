"""Typical acceptance: keep whatever the target does not find too unlikely, and so change the output.

Medusa (Cai et al., arXiv 2401.10774, section 2.3.1; after truncation sampling, arXiv 2210.15191). No coin decides: a
token is kept if target(x) > min(ε, δ·exp(−H(target))), with H in nats over the whole distribution. The draft's own
distribution is not asked for. Medusa's ε = 0.09, δ = 0.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from specviz.core.settings import knob
from specviz.core.words import sentence
from specviz.verification.base import Rule, whole_target

EPSILON = knob("epsilon", 0.09, 0.01, 0.9, 0.01)
DELTA = knob("delta", 0.3, 0.05, 1, 0.05)


def accept_prob(
    token: int, target: Tensor, draft: Tensor, epsilon: float = EPSILON.default, delta: float = DELTA.default
) -> float:
    """1 or 0. `target` [vocabulary], whole; `draft` is not used."""
    entropy = float(torch.special.entr(target.double()).sum())
    return float(float(target[token]) > min(epsilon, delta * math.exp(-entropy)))


TYPICAL_ACCEPTANCE = Rule(
    lossless=False,
    help=sentence("help.typical_acceptance"),
    knobs={"epsilon": EPSILON, "delta": DELTA},
    accept_prob=accept_prob,
    residual=whole_target,  # the next sibling meets the same threshold, the correction is an ordinary draw
)
