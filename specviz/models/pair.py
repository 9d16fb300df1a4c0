"""A model in memory, and two of them that share a vocabulary. Plain holders; loading fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from specviz.models.plain import PlainLlama
from specviz.models.text import TextCodec


@dataclass(slots=True, weakref_slot=True, eq=False)
class LoadedModel:
    """A model in memory, shared by all runs; nothing is changed after loading.

    `context`: tokens it can read. `vocab_size`: columns of its logits, which may be more than the tokenizer has names
    for. `cache_mode`: "rollback", or "recompute" for one whose cache cannot be rolled back. `reads_trees`:
    whether one pass can read a tree of tokens; else each branch is read by itself. `bytes`: of its weights. `plain`: a
    faster way to call `model` for logits alone, or None.
    """

    name: str
    source: str
    model: Any
    codec: TextCodec
    device: torch.device
    dtype: torch.dtype
    context: int
    vocab_size: int
    eos_ids: frozenset[int]
    cache_mode: str
    parameters: int
    bytes: int
    notes: tuple[str, ...] = ()
    reads_trees: bool = False
    plain: PlainLlama | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and the draft model for it, if any; they share a vocabulary. `notes`: sentences for the screen.

    `instead`: one that says so where this pair runs in place of the one asked for, else empty.
    """

    target: LoadedModel
    draft: LoadedModel | None
    notes: tuple[str, ...] = ()
    instead: str = ""

    @property
    def devices(self) -> set[torch.device]:
        """Where the two compute."""
        return {model.device for model in (self.target, self.draft) if model}
