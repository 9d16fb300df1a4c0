"""A feature head as a student: one layer over the target's own hidden states (see `models.heads`).

It begins as the target's last layer, whose input is fitted by least squares from what the head reads: before the first
step it agrees with a small chat model in three answers of ten. Each batch asks the target for its states; they are not kept,
which is a third of the work of a training on a CPU and little on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from specviz.core.settings import SpecvizError
from specviz.distill.batches import Batch
from specviz.distill.llama import compare
from specviz.distill.losses import cross_entropy, rejection_chance, sample_vocabulary
from specviz.distill.recipe import Recipe
from specviz.distill.unrolled import unrolled
from specviz.models.cached import CachedModel
from specviz.models.head_reader import HeadReader
from specviz.models.head_store import load_head, save_head
from specviz.models.heads import FeatureHead, HeadShape
from specviz.models.pair import LoadedModel

PASSES = 3
FADE = 0.8
"""Drafted tokens that training foresees, and how much less each counts than the one before it."""
FITTED = 24_000
"""Positions that the fit at the beginning looks at."""


class Trained(nn.Module):
    """The head, and the ids that it can propose: `rows` [V], ascending."""

    rows: Tensor

    def __init__(self, head: FeatureHead, rows: Tensor) -> None:
        super().__init__()
        self.head = head
        self.register_buffer("rows", rows)


class FeatureStudent:
    """See `students.Student`."""

    def __init__(self, module: Trained, target: LoadedModel, random_ids: int) -> None:
        self.module = module
        self.target = target
        self.random_ids = random_ids

    @classmethod
    def build(cls, target: LoadedModel, vocabulary: float, recipe: Recipe) -> FeatureStudent:
        """A head with the sizes of the target's last layer, on its device, in float32. `vocabulary`: share of the ids
        that it can propose. Raises SpecvizError for a target without Llama-like layers."""
        if recipe.start is not None:
            raise SpecvizError("A feature head begins from its target's last layer; leave --start out.")
        head = FeatureHead(_shape(target))
        with torch.no_grad():
            _begin_as_last_layer(head, target)
        rows = torch.arange(max(1, round(target.vocab_size * vocabulary)))
        return cls(Trained(head, rows).to(target.device), target, recipe.random_ids)

    def begin(self, batches: Iterable[Batch]) -> None:
        """Choose the likeliest ids, and fit the layer's input."""
        hidden = self.module.head.shape.hidden_size
        wide = (len(self.module.head.shape.feature_layers) + 1) * hidden
        gram = torch.zeros(wide, wide, dtype=torch.float64)
        both = torch.zeros(wide, hidden, dtype=torch.float64)
        mass, positions = torch.zeros(self.target.vocab_size, dtype=torch.float64), 0
        for batch in batches:
            mass.index_add_(0, batch.top_ids.flatten().cpu(), batch.top_logprobs.exp().flatten().double().cpu())
            if positions < FITTED:
                known, wanted = self._pairs(batch)
                gram += (known.T @ known).double().cpu()
                both += (known.T @ wanted).double().cpu()
                positions += len(known)
        # a little toward zero, so that states which say nothing get no weight
        gram += 0.02 * gram.diagonal().mean() * torch.eye(wide, dtype=torch.float64)
        weights = torch.linalg.solve(gram, both).T.to(self.module.rows.device, torch.float32)
        chosen = mass.topk(len(self.module.rows)).indices.sort().values
        with torch.no_grad():
            self.module.rows.copy_(chosen)
            self.module.head.fuse.weight.copy_(weights[:, :-hidden])
            self.module.head.embed.weight.copy_(weights[:, -hidden:])
            # its own states are made to look like the target's last ones
            self.module.head.carry.weight.copy_(weights[:, -2 * hidden : -hidden])

    def loss(self, batch: Batch, generator: torch.Generator, overlap: bool) -> Tensor:
        """Cross-entropy against the target over a sampled vocabulary, or the chance of a rejection, of the token after
        the target's states and of the next ones as drafting reaches them."""
        top_ids = self._rows_of(batch.top_ids)
        sample = sample_vocabulary(top_ids, batch.top_logprobs, len(self.module.rows), self.random_ids, generator)
        output = self._output()[self.module.rows[sample.ids]]
        total = torch.zeros((), device=batch.input_ids.device)
        for depth, states in enumerate(self._states(batch, PASSES)):
            logits = torch.nn.functional.linear(states.to(output.dtype), output)
            total = total + FADE**depth * (
                rejection_chance(logits, sample) if overlap else cross_entropy(logits, sample)
            )
        return total

    @torch.inference_mode()
    def measure(self, batch: Batch) -> dict[str, Tensor]:
        """Of the first token of a draft; ids that the head has no row for count as no overlap."""
        states, output = self._states(batch, 1)[0], self._output()[self.module.rows]
        top_ids, found = self._rows_of(batch.top_ids), []
        for rows in torch.arange(len(states), device=states.device).split(512):
            logits = torch.nn.functional.linear(states[rows].to(output.dtype), output).float()
            found.append(compare(logits, top_ids[rows], batch.top_logprobs[rows], batch.temperature[rows]))
        return {name: torch.cat([part[name] for part in found]) for name in found[0]}

    def export(self, folder: Path) -> dict[str, Any]:
        """What `models.head_store` loads."""
        save_head(folder, self.module.head, self.module.rows, self.target, "")
        shape = self.module.head.shape
        return {
            "parameters": sum(p.numel() for p in self.module.parameters()),
            "what": f"a feature head (EAGLE) of one layer, hidden size {shape.hidden_size}, over the target's hidden "
            f"states {', '.join(map(str, shape.feature_layers))}, which can propose {len(self.module.rows)} of its ids",
        }

    def reader(self, folder: Path) -> Callable[[Sequence[int]], Any]:
        """One token drafted from the head's own state, after a text that the target has read."""
        reader = HeadReader(load_head(folder, self.target), CachedModel(self.target))

        def one(ids: Sequence[int]) -> Any:
            if not reader.can_read(ids):
                reader.catch_up(ids)
            return reader.logits(ids) if reader.can_read(ids) else None

        return one

    def usage(self, target: str, folder: Path) -> str:
        """How a run comes to draft with it."""
        return f'HEADS in specviz/models/head_store.py, with the line "{folder.name}": Path({str(folder)!r})'

    def _rows_of(self, ids: Tensor) -> Tensor:
        """Which row of the head each id is; ids without one are the number of rows."""
        rows = self.module.rows
        positions = torch.full((self.target.vocab_size,), len(rows), device=rows.device)
        positions[rows] = torch.arange(len(rows), device=rows.device)
        return positions[ids]

    def _output(self) -> Tensor:
        weight: Tensor = self.target.model.get_output_embeddings().weight
        return weight

    def _states(self, batch: Batch, passes: int) -> list[Tensor]:
        """The head's state at each answer position [positions, H], for each pass: that of the position before it."""
        features, _ = self._target_states(batch)
        embedded = self.target.model.get_input_embeddings().weight[batch.input_ids[:, 1:]]
        kind = self.module.head.norm.dtype
        states = unrolled(self.module.head, features[:, :-1].to(kind), embedded.to(kind), passes)
        # state [text, t] answers for the token after t + 1; one position in front is of no use to a one-token prompt
        return [nn.functional.pad(s, (0, 0, 1, 0)).flatten(0, 1)[batch.positions] for s in states]

    @torch.no_grad()
    def _target_states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The head's features [texts, T, F · H], and the input of the target's last layer [texts, T, H]."""
        layers = self.module.head.shape.feature_layers
        last = layers[-1] - 1
        wanted = sorted({*layers, last})
        with torch.autocast(batch.input_ids.device.type, enabled=False):
            states = self.target.model(
                input_ids=batch.input_ids, use_cache=False, output_hidden_states=wanted, logits_to_keep=1
            ).hidden_states
        return torch.cat([states[layer] for layer in layers], -1), states[last]

    def _pairs(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """What the head reads at a position [positions, (F + 1) · H] and what its layer should be given there [positions, H],
        both divided by the size of the latter: errors count in proportion."""
        head = self.module.head
        features, inputs = self._target_states(batch)
        embedded = self.target.model.get_input_embeddings().weight[batch.input_ids]
        positions = torch.arange(batch.input_ids.shape[1], device=batch.input_ids.device)
        # not the first position: as an attention sink its states are hundreds of times larger than any other's
        inside = positions[1:-1] + 1 < batch.lengths[:, None]
        known = torch.cat([head.evened_features(features[:, 1:-1]), head.evened(embedded[:, 2:])], -1)[inside].float()
        wanted = inputs[:, 2:][inside].float()
        size = wanted.square().mean(-1, keepdim=True).clamp(min=1e-12).rsqrt()
        return known * size, wanted * size


def _shape(target: LoadedModel) -> HeadShape:
    config = target.model.config.get_text_config()
    try:
        hidden, heads, layers = config.hidden_size, config.num_attention_heads, config.num_hidden_layers
        rope = getattr(config, "rope_parameters", None) or {}
        shape = HeadShape(
            hidden_size=hidden,
            intermediate_size=config.intermediate_size,
            heads=heads,
            kv_heads=config.num_key_value_heads,
            head_size=getattr(config, "head_dim", None) or hidden // heads,
            feature_layers=tuple(sorted({max(1, round(0.4 * layers)), max(1, int(0.75 * layers)), layers})),
            rope_theta=float(rope.get("rope_theta") or 10_000.0),
            eps=float(getattr(config, "rms_norm_eps", None) or 1e-5),
        )
        target.model.model.layers[-1].self_attn.q_proj.weight  # noqa: B018
        target.model.model.layers[-1].mlp.gate_proj.weight  # noqa: B018
    except AttributeError as error:
        raise SpecvizError(
            f"{target.name} has no Llama-like layers to begin a head from; choose another student."
        ) from error
    return shape


def _begin_as_last_layer(head: FeatureHead, target: LoadedModel) -> None:
    """All of it but what fuses the states; biases and norms of queries, where there are any, are left out."""
    inner, last = target.model.model, target.model.model.layers[-1]
    attention, mlp = last.self_attn, last.mlp
    for ours, theirs in (
        (head.before_attention, last.input_layernorm.weight),
        (head.before_mlp, last.post_attention_layernorm.weight),
        (head.norm, inner.norm.weight),
        (head.qkv.weight, torch.cat([x.weight for x in (attention.q_proj, attention.k_proj, attention.v_proj)])),
        (head.out.weight, attention.o_proj.weight),
        (head.gate_up.weight, torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])),
        (head.down.weight, mlp.down_proj.weight),
    ):
        ours.copy_(theirs)
