"""A pair small enough to be understood whole: six words, random weights, real forward passes in a fraction of a millisecond.

Made in memory from a seed, nothing is read or written. All texts of three words can be listed with their probabilities,
so thousands of runs can be held against them. The draft knows half of what the target does: it shares the embedding and
the head and lacks a layer.

Example: ``toy_pair().target.vocab_size`` is 6.
"""

from __future__ import annotations

from functools import cache

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.models.pair import LoadedModel, Pair
from specviz.models.plain import plain_forward
from specviz.models.self_check import self_check
from specviz.models.text import TextCodec

WORDS = ("sun", "rain", "wind", "snow", "fog", "hail")
_SHARED = ("embed_tokens", "lm_head")


@cache
def toy_pair(seed: int = 1) -> Pair:
    """Target of two layers, draft of one, in float32 on the processor."""
    return Pair(_model("toy target", 2, seed), _model("toy draft", 1, seed))


def _model(name: str, layers: int, seed: int) -> LoadedModel:
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    # the default format may be another while a model is being loaded elsewhere, so all weights are put in anew
    model = LlamaForCausalLM(config).float().requires_grad_(False).eval()
    for number, (parameter_name, weight) in enumerate(sorted(model.named_parameters())):
        # what both models have is the same in both
        shared = any(part in parameter_name for part in _SHARED)
        generator = torch.Generator().manual_seed(1000 * seed + (number if shared else 100 * layers + number))
        if weight.dim() == 1:  # of a norm
            weight.fill_(1.0)
        else:
            weight.copy_(torch.randn(weight.shape, generator=generator) * 1.1 / weight.shape[1] ** 0.5)
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=None))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    parameters = sum(p.numel() for p in model.parameters())
    loaded = LoadedModel(
        name=name,
        source="made in memory",
        model=model,
        codec=TextCodec(PreTrainedTokenizerFast(tokenizer_object=words), name, len(WORDS)),
        device=torch.device("cpu"),
        dtype=torch.float32,
        context=64,
        vocab_size=len(WORDS),
        eos_ids=frozenset(),
        cache_mode="rollback",
        parameters=parameters,
        bytes=4 * parameters,
        plain=plain_forward(model),
    )
    loaded.cache_mode = self_check(loaded)
    return loaded
