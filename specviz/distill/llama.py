"""A small Llama as a student: from scratch, or going on from a draft that is there.

Its embedding (which is its head too) begins as the principal components of the target's: tokens that the target holds to
be alike are alike to it from the first step on.

Example: ``Shape(128, 1, 2, 1, 384, vocabulary=0.5)`` has one layer and knows only the first half of the target's ids. In
a byte-pair vocabulary those are the commonest, and a draft without the rest is twice as fast or twice as wide.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from specviz.core.settings import SpecvizError
from specviz.distill.batches import Batch
from specviz.distill.losses import cross_entropy, rejection_chance, sample_vocabulary
from specviz.distill.recipe import Recipe
from specviz.distill.tokenizer import check_cuttable, write_tokenizer
from specviz.models.cached import CachedModel
from specviz.models.loading import common_ids, load_model
from specviz.models.pair import LoadedModel


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes as in LlamaConfig. `vocabulary`: share of the target's ids that the student knows, lowest first."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: float = 1.0


class LlamaStudent:
    """See `students.Student`. `module`: a LlamaForCausalLM with tied embeddings."""

    def __init__(self, module: Any, target: LoadedModel, random_ids: int = 1024) -> None:
        self.module = module
        self.target = target
        self.random_ids = random_ids
        self.vocab_size = int(module.config.vocab_size)

    @classmethod
    def build(cls, target: LoadedModel, shape: Shape, recipe: Recipe) -> LlamaStudent:
        """A fresh student on the target's device, in float32; or one with the weights of the draft
        `recipe.start`, of which the ids beyond the shape's vocabulary are cut off.

        Raises SpecvizError for a draft that has another vocabulary or is no Llama with tied embeddings.
        """
        vocab_size = min(target.vocab_size, -(-int(target.vocab_size * shape.vocabulary) // 64) * 64)
        if vocab_size < target.vocab_size:
            check_cuttable(target.codec.tokenizer, vocab_size, target.name)
        if recipe.start is not None:
            return cls(_continued(target, recipe.start, vocab_size), target, recipe.random_ids)
        text_config = target.model.config.get_text_config()
        rope = getattr(text_config, "rope_parameters", None) or {}
        config = LlamaConfig(
            vocab_size=vocab_size,
            hidden_size=shape.hidden,
            intermediate_size=shape.feed_forward,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads,
            head_dim=shape.hidden // shape.heads,
            max_position_embeddings=target.context,
            rope_parameters={"rope_type": "default", "rope_theta": float(rope.get("rope_theta") or 10_000.0)},
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            bos_token_id=None,
            pad_token_id=None,
            eos_token_id=sorted(i for i in target.eos_ids if i < vocab_size) or None,
        )
        state = torch.random.get_rng_state()
        torch.manual_seed(recipe.seed)
        module: Any = LlamaForCausalLM(config)
        torch.random.set_rng_state(state)
        _begin_like(module.model.embed_tokens.weight, target)
        return cls(module.to(device=target.device), target, recipe.random_ids)

    def begin(self, batches: Iterable[Batch]) -> None:
        """It knows enough."""

    def loss(self, batch: Batch, generator: torch.Generator, overlap: bool) -> Tensor:
        """Cross-entropy against the target over a sampled vocabulary, or the chance of a rejection."""
        sample = sample_vocabulary(batch.top_ids, batch.top_logprobs, self.vocab_size, self.random_ids, generator)
        logits = torch.nn.functional.linear(self._hidden(batch), self.module.lm_head.weight[sample.ids])
        return rejection_chance(logits, sample) if overlap else cross_entropy(logits, sample)

    @torch.inference_mode()
    def measure(self, batch: Batch) -> dict[str, Tensor]:
        """Over the whole vocabulary; the target's probabilities beyond its likeliest tokens count as no overlap."""
        hidden = self._hidden(batch)
        found: list[dict[str, Tensor]] = []
        for rows in torch.arange(len(hidden), device=hidden.device).split(
            512
        ):  # logits of all at once can be gigabytes
            logits = torch.nn.functional.linear(hidden[rows], self.module.lm_head.weight).float()
            found.append(compare(logits, batch.top_ids[rows], batch.top_logprobs[rows], batch.temperature[rows]))
        return {name: torch.cat([part[name] for part in found]) for name in found[0]}

    def export(self, folder: Path) -> dict[str, Any]:
        """config.json, model.safetensors in bfloat16, and the tokenizer, cut to the student's ids."""
        state = {name: tensor.to(torch.bfloat16) for name, tensor in self.module.state_dict().items()}
        copy: Any = LlamaForCausalLM(self.module.config)
        copy.to(dtype=torch.bfloat16)
        copy.load_state_dict(state)
        copy.generation_config = GenerationConfig()
        copy.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        write_tokenizer(self.target.codec.tokenizer, folder, self.vocab_size)
        config = self.module.config
        return {
            "parameters": sum(p.numel() for p in self.module.parameters()),
            "what": f"a Llama of {config.num_hidden_layers} layer{'s' * (config.num_hidden_layers > 1)}, hidden size "
            f"{config.hidden_size}, {config.num_attention_heads} heads ({config.num_key_value_heads} for keys and "
            f"values), feed-forward {config.intermediate_size}, tied embeddings, {self.vocab_size} of the target's "
            f"{self.target.vocab_size} ids",
        }

    def reader(self, folder: Path) -> Callable[[Sequence[int]], Any]:
        """The product's own cached reader of the exported draft."""
        dtype = str(self.target.dtype).removeprefix("torch.")
        draft = load_model(folder, dtype, str(self.target.device))
        common_ids(self.target, draft)
        return CachedModel(draft, self.target.vocab_size).logits

    def usage(self, target: str, folder: Path) -> str:
        """As any draft model."""
        return f"specviz.load_pair({target!r}, {str(folder)!r})"

    def _hidden(self, batch: Batch) -> Tensor:
        """The last hidden state at each answer position [positions, hidden]. Ids it does not know are read as id 0, as
        `CachedModel` does."""
        ids = torch.where(batch.input_ids < self.vocab_size, batch.input_ids, 0)
        hidden: Tensor = self.module.model(input_ids=ids, use_cache=False).last_hidden_state
        return hidden.flatten(0, 1)[batch.positions]


def compare(logits: Tensor, top_ids: Tensor, top_logprobs: Tensor, temperature: Tensor) -> dict[str, Tensor]:
    """The figures of `Student.measure` from a student's logits [positions, columns], which may lack the highest ids.

    Of the target only the likeliest tokens are known: what it gives to others is overlapped by nothing here, so that
    overlaps are a little too low at temperature 1 and, at lower ones, relative to these tokens alone.
    """
    known = top_ids < logits.shape[-1]
    index = torch.where(known, top_ids, 0)

    def overlap(target_probs: Tensor, scaled: Tensor) -> Tensor:
        draft_probs = (scaled.gather(1, index) - torch.logsumexp(scaled, -1)[:, None]).exp()
        return torch.where(known, torch.minimum(target_probs, draft_probs), 0.0).sum(-1)

    agreement = (logits.argmax(-1) == top_ids[:, 0]).float()
    at_one = overlap(top_logprobs.exp(), logits)
    warm = temperature.clamp(min=1e-3)[:, None]
    target_probs = torch.softmax(top_logprobs / warm, -1)
    own = overlap(torch.where(warm == 1, top_logprobs.exp(), target_probs), logits / warm)
    return {"agreement": agreement, "overlap": at_one, "overlap_at_own": torch.where(temperature == 0, agreement, own)}


def _begin_like(embedding: Tensor, target: LoadedModel) -> None:
    """Fill `embedding` with the first principal components of the target's, at a Llama's usual size (0.02)."""
    full = target.model.get_input_embeddings().weight.detach()[: len(embedding)].float()
    full = full - full.mean(0)
    width = min(embedding.shape[1], full.shape[1])
    _, directions = torch.linalg.eigh(full.T @ full)  # ascending
    components = full @ directions.flip(1)[:, :width]
    with torch.no_grad():
        embedding[:, :width].copy_(components * (0.02 / components.std()))
    gc.collect()


def _continued(target: LoadedModel, start: str, vocab_size: int) -> Any:
    loaded = load_model(start, "float32", str(target.device))
    common_ids(target, loaded)
    if not isinstance(loaded.model, LlamaForCausalLM) or not loaded.model.config.tie_word_embeddings:
        raise SpecvizError(f"{loaded.name} is not a Llama with tied embeddings; choose another draft to continue from.")
    config = LlamaConfig.from_dict(loaded.model.config.to_dict() | {"vocab_size": min(vocab_size, loaded.vocab_size)})
    module: Any = LlamaForCausalLM(config)
    module.to(device=target.device)
    state = dict(loaded.model.state_dict())
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        state[name] = state[name][: config.vocab_size]
    module.load_state_dict(state)
    return module
