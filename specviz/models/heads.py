"""The network of a feature head: one decoder layer that drafts from what the target computed anyway.

Position t reads the target's hidden states at t (an early, a later and the last one) and the embedding of the token after
it, and answers with logits of the token after that (EAGLE, arXiv 2401.15077, section 3.1; three states: EAGLE-3, arXiv
2503.01840, section 3.1). Drafting deeper, its own output stands in for the states that the target has not computed.
Embedding and output rows are the target's own and in no file of the head.

Knows nothing of text, caches or runs. Letters of shapes: T positions, F feature layers, H hidden size, V rows of the head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Queries, keys and values [batch, heads, T, size] of the new positions, already rotated → what they see, same shape."""


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Sizes of a head; `feature_layers` are indices of the target's hidden states, 0 the embedding, ascending."""

    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    head_size: int
    feature_layers: tuple[int, ...]
    rope_theta: float = 10_000.0
    eps: float = 1e-5


class FeatureHead(nn.Module):
    """See module. All weights are without bias, so that a linear map of several inputs is a sum of maps."""

    def __init__(self, shape: HeadShape) -> None:
        super().__init__()
        self.shape = shape
        hidden, inner, size = shape.hidden_size, shape.intermediate_size, shape.head_size
        self.fuse = nn.Linear(len(shape.feature_layers) * hidden, hidden, bias=False)
        self.carry = nn.Linear(hidden, hidden, bias=False)
        self.embed = nn.Linear(hidden, hidden, bias=False)
        self.before_attention = nn.Parameter(torch.ones(hidden))
        self.qkv = nn.Linear(hidden, (shape.heads + 2 * shape.kv_heads) * size, bias=False)
        self.out = nn.Linear(shape.heads * size, hidden, bias=False)
        self.before_mlp = nn.Parameter(torch.ones(hidden))
        self.gate_up = nn.Linear(hidden, 2 * inner, bias=False)
        self.down = nn.Linear(inner, hidden, bias=False)
        self.norm = nn.Parameter(torch.ones(hidden))

    def from_target(self, features: Tensor, embedded: Tensor) -> Tensor:
        """Input of the layer where the target's states are known: features [..., F·H], embeddings [..., H] → [..., H]."""
        return self.fuse(self.evened_features(features)) + self.embed(self.evened(embedded))

    def from_own(self, states: Tensor, embedded: Tensor) -> Tensor:
        """Input of the layer where the head's own `states` [..., H] stand in for the target's."""
        return self.carry(self.evened(states)) + self.embed(self.evened(embedded))

    def layer(self, x: Tensor, rotation: tuple[Tensor, Tensor], attend: Attend) -> Tensor:
        """[batch, T, H] → states [batch, T, H], normed: to be multiplied with the target's output rows, or carried on."""
        shape = self.shape
        mixed = self.qkv(self._normed(x, self.before_attention))
        mixed = mixed.unflatten(-1, (-1, shape.head_size)).transpose(1, 2)
        q, k, v = mixed.split([shape.heads, shape.kv_heads, shape.kv_heads], 1)
        seen = attend(rotate(q, rotation), rotate(k, rotation), v)
        x = x + self.out(seen.transpose(1, 2).flatten(-2))
        gate, up = self.gate_up(self._normed(x, self.before_mlp)).chunk(2, -1)
        x = x + self.down(functional.silu(gate) * up)
        return self._normed(x, self.norm)

    def rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines [T, head size] of rotary positions [T] (RoPE, arXiv 2104.09864), as Llama pairs them."""
        size = self.shape.head_size
        steps = torch.arange(0, size, 2, device=positions.device, dtype=torch.float32) / size
        angles = positions.float()[:, None] / self.shape.rope_theta**steps
        angles = torch.cat([angles, angles], -1)
        kind = self.norm.dtype
        return angles.cos().to(kind), angles.sin().to(kind)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight.to(x.dtype), self.shape.eps)

    def evened(self, x: Tensor) -> Tensor:
        """Scaled to a mean square of one: states of different layers differ in size by orders of magnitude."""
        return functional.rms_norm(x, (x.shape[-1],), None, self.shape.eps)

    def evened_features(self, features: Tensor) -> Tensor:
        """The same for the states of each layer by themselves, [..., F·H]."""
        return self.evened(features.unflatten(-1, (len(self.shape.feature_layers), -1))).flatten(-2)


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """`x` [batch, heads, T, size] turned by its positions."""
    cosines, sines = rotation
    left, right = x.chunk(2, -1)
    turned: Tensor = x * cosines + torch.cat([-right, left], -1) * sines
    return turned.to(x.dtype)
