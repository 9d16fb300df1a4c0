"""A Llama's forward pass as a dozen plain calls: the way a draft of few layers, or with rounded weights, is read.

In a model of two layers, or with weights of 4 bits, most of a pass is Python on its way through modules, not arithmetic.
Written out, the pass of the smallest bundled draft takes 0.6 of the time. It reads and fills the same cache as the library's
own forward pass, and in float32 gives the same logits; a model that is anything but a plain Llama keeps the library's.

Example: ``plain_forward(model)`` of a GPT-2, or of a Llama of thirty layers, is None.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import LlamaForCausalLM

MOST_LAYERS = 4
"""In deeper models arithmetic outweighs the way there, and the weights that are joined here would be a second copy."""
TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
"""Matrices that read the same input, so that one call can do for all."""
Linear = Callable[[Tensor], Tensor]


class PlainLlama:
    """Called as the model is, with the few arguments that `CachedModel` gives; answers with `logits` alone.

    Holds no state of any text, so it may be shared by runs as the model is.
    """

    def __init__(self, model: LlamaForCausalLM) -> None:
        config: Any = model.config
        self._heads, self._kv_heads = config.num_attention_heads, config.num_key_value_heads
        self._size = config.head_dim
        self._eps = config.rms_norm_eps
        self._embedding, self._head = model.model.embed_tokens.weight.detach(), _joined(model.lm_head)
        self._norm = model.model.norm.weight.detach()
        self._layers = [_layer(layer) for layer in model.model.layers]
        self._frequencies: Tensor = model.model.rotary_emb.inv_freq
        self._rotation = self._rotation_of(256)

    def __call__(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        logits_to_keep: int = 0,
        past_key_values: Any = None,
        cache: Any = None,
        use_cache: bool = False,
    ) -> SimpleNamespace:
        """`input_ids`: [texts, positions]; `attention_mask`: None or additive, [1, 1, positions, all positions]."""
        kept = past_key_values if cache is None else cache
        texts, positions = input_ids.shape
        read = kept.get_seq_length() if kept is not None else 0
        causal = attention_mask is None and positions > 1
        if causal and read:
            seen = torch.ones(positions, read + positions, dtype=torch.bool, device=input_ids.device)
            attention_mask, causal = seen.tril(read), False
        cos, sin = self._turned(read, positions, position_ids)
        x = functional.embedding(input_ids, self._embedding)
        rotated, half = self._heads + self._kv_heads, self._size // 2
        for number, (before_attention, qkv, out, before_mlp, gate_up, down) in enumerate(self._layers):
            mixed = qkv(self._normed(x, before_attention)).view(texts, positions, -1, self._size).transpose(1, 2)
            turning = mixed[:, :rotated]
            turned = turning * cos + torch.cat([-turning[..., half:], turning[..., :half]], -1) * sin
            keys, values = turned[:, self._heads :], mixed[:, rotated:]
            if kept is not None:
                keys, values = kept.update(keys, values, number)
            found = functional.scaled_dot_product_attention(
                turned[:, : self._heads], keys, values, attention_mask, is_causal=causal, enable_gqa=True
            )
            x = x + out(found.transpose(1, 2).flatten(2))
            gate, up = gate_up(self._normed(x, before_mlp)).chunk(2, -1)
            x = x + down(functional.silu(gate) * up)
        x = self._normed(x[:, -logits_to_keep:], self._norm)
        return SimpleNamespace(logits=self._head(x))

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, weight.shape, weight, self._eps)

    def _turned(self, read: int, positions: int, position_ids: Tensor | None) -> tuple[Tensor, Tensor]:
        """Cosines and sines of the new positions, [positions, size] or, where ids are given, [texts, 1, positions, size]."""
        cos, sin = self._rotation
        if len(cos) < read + positions:  # positions never lie beyond the number of positions read
            cos, sin = self._rotation = self._rotation_of(2 * (read + positions))
        if position_ids is None:
            return cos[read : read + positions], sin[read : read + positions]
        return cos[position_ids].unsqueeze(1), sin[position_ids].unsqueeze(1)

    def _rotation_of(self, positions: int) -> tuple[Tensor, Tensor]:
        """Tables of the rotary embedding (RoPE, arXiv 2104.09864), [positions, size], as Llama pairs dimensions."""
        where = torch.arange(positions, device=self._frequencies.device).float()
        angles = torch.outer(where, self._frequencies.float()).repeat(1, 2)
        return angles.cos().to(self._embedding.dtype), angles.sin().to(self._embedding.dtype)


def plain_forward(model: Any) -> PlainLlama | None:
    """A faster way to call `model`, or None where there is none."""
    return PlainLlama(model) if is_plain(model) and model.config.num_hidden_layers <= MOST_LAYERS else None


def is_plain(model: Any) -> bool:
    """Whether `model` is a Llama and nothing more, so that the pass above is its own."""
    if type(model) is not LlamaForCausalLM:
        return False
    config: Any = model.config
    return (
        config.hidden_act == "silu"
        and not config.attention_bias
        and not config.mlp_bias
        and (config.rope_parameters or {}).get("rope_type", "default") == "default"
    )


def _layer(layer: Any) -> tuple[Tensor, Linear, Linear, Tensor, Linear, Linear]:
    """Norm, queries-keys-values, output, norm, gate-and-up, down."""
    (qkv, gate_up), attention, mlp = TOGETHER, layer.self_attn, layer.mlp
    return (
        layer.input_layernorm.weight.detach(),
        _joined(*(getattr(attention, name) for name in qkv)),
        _joined(attention.o_proj),
        layer.post_attention_layernorm.weight.detach(),
        _joined(*(getattr(mlp, name) for name in gate_up)),
        _joined(mlp.down_proj),
    )


def _joined(*layers: Any) -> Linear:
    """The outputs of several linear layers in one call, in a row."""
    if all(type(layer) is nn.Linear for layer in layers):
        weights = [layer.weight.detach() for layer in layers]
        return partial(functional.linear, weight=weights[0] if len(weights) == 1 else torch.cat(weights))
    # with rounded weights those that read the same input were made as one (`lowbit`)
    return layers[0] if len(layers) == 1 else layers[0].whole
