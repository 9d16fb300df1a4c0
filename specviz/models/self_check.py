"""Whether a model can be read through a cache that is rolled back, and a tree of tokens in one pass: tried when it is loaded.

Recurrent and hybrid models accept a cache without complaint and are silently wrong after a rollback, bidirectional ones
are wrong from the start; so it is measured and not looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from specviz.core.records import ROOT
from specviz.core.settings import SpecvizError
from specviz.core.words import sentence
from specviz.models.cached import CachedModel

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel

_ANY = (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError)


def self_check(loaded: LoadedModel) -> str:
    """Set and return `cache_mode`: "rollback" when cached logits equal uncached ones after dropping a tail, else
    "recompute" (exact, but slow). Sets `reads_trees` too: whether one masked pass over a tree equals its branches.

    Raises SpecvizError for a model that looks ahead, and BadLogits for one that answers with NaN. Takes some ten short
    passes, which also warm the model up.
    """
    size = min(12, loaded.context)
    ids = [(7 * i + 3) % loaded.vocab_size for i in range(size)]
    head = max(1, size - 4)
    loaded.cache_mode = "recompute"
    whole = CachedModel(loaded).logits(ids, last=size)
    if not _agree(CachedModel(loaded).logits(ids[:head], last=head), whole[:head], loaded.dtype):
        raise SpecvizError(sentence("errors.looks_ahead", name=loaded.name))
    loaded.cache_mode = "rollback"
    reader = CachedModel(loaded)
    try:
        reader.logits([*ids[:head], *reversed(ids[head:])], last=size - head + 1)
        block = reader.logits(ids, last=size - head)
        singly = torch.cat([reader.logits(ids[: n + 1]) for n in range(head, size)])
        ok = _agree(block, whole[head:], loaded.dtype) and _agree(singly, whole[head:], loaded.dtype)
    except _ANY:
        # whatever a cache that cannot be rolled back raises, reading afresh stays right
        ok = False
    loaded.cache_mode = "rollback" if ok else "recompute"
    loaded.reads_trees = ok and size - head >= 3 and not _windowed(loaded.model) and _tree_check(loaded, ids[:head])
    return loaded.cache_mode


def _tree_check(loaded: LoadedModel, ids: list[int]) -> bool:
    """A pass over a small tree, grown once, against plain passes over its branches."""
    tokens, parents = [n % loaded.vocab_size for n in (1, 2, 5, 4)], [ROOT, ROOT, 1, 2]
    loaded.reads_trees = True
    reader, plain = CachedModel(loaded), CachedModel(loaded)
    try:
        rows = torch.cat(
            [reader.tree_logits(ids, tokens[:3], parents[:3]), reader.tree_logits(ids, tokens, parents, last=1)]
        )
        return _agree(rows, plain.branch_by_branch(ids, tokens, parents, len(rows)), loaded.dtype)
    except _ANY:
        return False


def _windowed(model: Any) -> bool:
    """Whether some layer sees only part of the text: a mask for a tree would replace its window, on long texts only."""
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None)
    if kinds:
        return any(kind not in ("full_attention", "global") for kind in kinds)
    return bool(getattr(config, "sliding_window", None) or getattr(config, "attention_chunk_size", None))


def _agree(one: Tensor, other: Tensor, dtype: torch.dtype) -> bool:
    """Total variation distance below what rounding can do; a wrong cache is off by ten times more."""
    bound = 1e-3 if dtype in (torch.float32, torch.float64) else 0.1
    distance = 0.5 * (torch.softmax(one.float(), -1) - torch.softmax(other.float(), -1)).abs().sum(-1)
    return bool((distance <= bound).all())
