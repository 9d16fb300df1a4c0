"""Llamas of any size with random weights, for timing on machines whose models are not at hand. They say nothing.

The draft is the target's first layers with its norm and head, about a tenth of its weights; the layers above speak softly,
so that the two agree often enough for every kind of step to happen. What is measured of such a pair are costs: c, v(K),
tokens per second, what the loop adds. Its acceptance is a matter of how it was made, not of any text.

Example: ``random_pair("7b", device="cuda")`` takes 14 GB there and nothing from disk or network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.core.runtime import pick_device, pick_dtype, use_threads
from specviz.core.settings import SettingsError
from specviz.core.words import sentence
from specviz.models.fitness import check_memory
from specviz.models.pair import LoadedModel, Pair
from specviz.models.plain import plain_forward
from specviz.models.self_check import self_check
from specviz.models.shallow import shallow
from specviz.models.text import TextCodec

SEED = 1
CONTEXT = 2048
LOUDNESS = 2.0
"""Standard deviation of the logits, whatever the size: some tokens are likelier than others."""
WHISPER = 0.2
"""What all layers above the draft's add together, in parts of what those of the draft do."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a Llama; `draft_layers` of its `layers` are the draft."""

    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    vocab: int
    draft_layers: int

    @property
    def parameters(self) -> int:
        """Of the target: two embeddings, attention and MLP of each layer, without its norms."""
        attention = 2 * self.hidden * self.hidden * (1 + self.kv_heads / self.heads)
        return int(2 * self.vocab * self.hidden + self.layers * (attention + 3 * self.hidden * self.inner))


SIZES: dict[str, Shape] = {
    "tiny": Shape(64, 176, 10, 4, 2, 512, 1),
    "1b": Shape(2048, 5632, 22, 32, 4, 32_000, 1),
    "7b": Shape(4096, 11_008, 32, 32, 32, 32_000, 3),
    "13b": Shape(5120, 13_824, 40, 40, 40, 32_000, 4),
}
"""The shapes of TinyLlama 1.1B and of Llama 2, 7B and 13B."""


def random_pair(size: str, dtype: str = "auto", device: str = "auto") -> Pair:
    """A target of that size and its draft, made where they compute. Raises SpecvizError, one sentence."""
    if size not in SIZES:
        raise SettingsError(sentence("errors.random_size", size=repr(size), known=", ".join(SIZES)))
    shape, on_device = SIZES[size], pick_device(device)
    kind = pick_dtype(dtype, on_device)
    name = f"random-{size}"
    check_memory(name, shape.parameters * kind.itemsize, kind, on_device)
    use_threads()
    model = _model(shape, kind, on_device)
    target = LoadedModel(
        name=name,
        source="random weights",
        model=model,
        codec=TextCodec(_tokenizer(), name, shape.vocab),
        device=on_device,
        dtype=kind,
        context=CONTEXT,
        vocab_size=shape.vocab,
        eos_ids=frozenset(),
        cache_mode="rollback",
        parameters=sum(p.numel() for p in model.parameters()),
        bytes=sum(p.numel() * p.element_size() for p in model.parameters()),
    )
    target.cache_mode = self_check(target)
    draft = shallow(target, shape.draft_layers)
    draft = replace(draft, plain=plain_forward(draft.model))
    note = "Random weights: costs and speeds are those of this shape, acceptance is that of no text."
    return Pair(target, draft, (note,))


def _model(shape: Shape, dtype: torch.dtype, device: torch.device) -> Any:
    config = LlamaConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        dtype=dtype,
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), device:
            torch.manual_seed(SEED)
            model = LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(before)
    model.generation_config = GenerationConfig()
    above = shape.layers - shape.draft_layers
    softer = WHISPER * math.sqrt(shape.draft_layers / above)
    with torch.no_grad():
        model.lm_head.weight.mul_(LOUDNESS / (config.initializer_range * math.sqrt(shape.hidden)))
        for layer in list(model.model.layers)[shape.draft_layers :]:
            layer.self_attn.o_proj.weight.mul_(softer)
            layer.mlp.down_proj.weight.mul_(softer)
    return model.requires_grad_(False).eval()


def _tokenizer() -> PreTrainedTokenizerFast:
    """Bytes, and nothing for the ids above them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)
