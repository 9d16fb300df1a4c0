"""A feature head's passes over whole texts, the deeper ones as drafting makes them.

The first pass reads the target's states everywhere. Pass d + 1 reads, at every position, the state that pass d left at the
position before: what a draft reads at its d + 1st token (EAGLE-3, arXiv 2503.01840, section 3.2: training-time test). So a
position of a deeper pass sees the keys of the first pass up to where the target's states would end, and one key of each
pass after it.

Example, pass 2 at position 7: it sees positions 0 … 6 as the first pass left them, and itself.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from specviz.models.heads import FeatureHead


def unrolled(head: FeatureHead, features: Tensor, embedded: Tensor, passes: int) -> list[Tensor]:
    """States [texts, T, H] after each of `passes` passes; in pass d the first d - 1 positions are of no use.

    `features` [texts, T, layers · H] of the target at each position, `embedded` [texts, T, H] of the token after it.
    """
    rotation = head.rotation(torch.arange(features.shape[1], device=features.device))
    seen = _Seen()
    states = [head.layer(head.from_target(features, embedded), rotation, seen.first)]
    while len(states) < passes:
        own = functional.pad(states[-1][:, :-1], (0, 0, 1, 0))
        states.append(head.layer(head.from_own(own, embedded), rotation, seen.deeper))
    return states


class _Seen:
    """Keys and values of the passes so far, each [texts, kv heads, T, size]."""

    def __init__(self) -> None:
        self.passes: list[tuple[Tensor, Tensor]] = []

    def first(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Plain causal attention."""
        self.passes.append((k, v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    def deeper(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The first pass up to `depth` positions back, then one position of each pass after it."""
        depth, length, groups = len(self.passes), q.shape[2], q.shape[1] // k.shape[1]
        self.passes.append((k, v))
        keys, values = (x.repeat_interleave(groups, 1) for x in self.passes[0])
        before = torch.ones(length, length, dtype=torch.bool, device=q.device).tril(-depth)
        scores = [(q @ keys.transpose(-1, -2)).masked_fill(~before, torch.finfo(q.dtype).min)]
        single: list[Tensor] = []
        for n, (later_keys, later_values) in enumerate(self.passes[1:], start=1):
            back = depth - n
            later_keys, later_values = (
                functional.pad(x, (0, 0, back, 0))[:, :, :length].repeat_interleave(groups, 1)
                for x in (later_keys, later_values)
            )
            scores.append((q * later_keys).sum(-1, keepdim=True))
            single.append(later_values)
        weights = torch.softmax(torch.cat(scores, -1).float() * q.shape[-1] ** -0.5, -1).to(q.dtype)
        mixed = weights[..., :length] @ values
        for n, later_values in enumerate(single):
            mixed = mixed + weights[..., length + n : length + n + 1] * later_values
        return mixed
