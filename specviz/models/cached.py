"""A model that is asked for logits of whole texts and privately keeps what it has already read.

Nobody outside rolls anything back: `logits(ids, last=n)` compares `ids` with what the cache holds, drops what no longer
fits and reads the rest. One `CachedModel` per run and model; the weights below are shared and never altered.

`self_check` decides at load whether a model can be used like that: recurrent and hybrid models accept a cache without
complaint and are silently wrong after a rollback, bidirectional ones are wrong from the start.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from transformers import DynamicCache

from specviz.sampling import BadLogits, check_finite
from specviz.settings import SpecvizError
from specviz.trace import ROOT

if TYPE_CHECKING:
    from specviz.models.loading import LoadedModel


class CachedModel:
    """One reader of one text. `columns`: width of the logits handed out (a draft is cut or padded with -inf to the
    target's vocabulary, so that both distributions have the same places)."""

    def __init__(self, loaded: LoadedModel, columns: int | None = None) -> None:
        self.loaded = loaded
        self.columns = columns or loaded.vocab_size
        self.positions = 0
        """Places computed by the last call."""
        known = inspect.signature(loaded.model.forward).parameters
        self._cut = "logits_to_keep" in known
        self._can_cache = "use_cache" in known
        self._cache_name = "cache" if "cache" in known else "past_key_values"  # renamed in transformers 5.2x
        self._forget()

    def _forget(self) -> None:
        # without a config every layer is kept in full, also sliding-window ones, so that any of them can be rolled back
        self._cache: Any = DynamicCache() if self.loaded.cache_mode == "rollback" else None
        self._ids: list[int] = []
        self._tree: tuple[Sequence[int], Sequence[int]] = ((), ())

    def behind(self, ids: Sequence[int]) -> int:
        """How many places before the last one of `ids` are not in the cache yet."""
        return max(0, len(ids) - 1 - self._common(ids)) if self._cache is not None else 0

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read all but the last of `ids`, so that the next pass reads only new places. A no-op when up to date."""
        if self.behind(ids) > 1 or (self.behind(ids) and not self._ids):
            self.logits(ids[:-1])

    def logits(self, ids: Sequence[int], last: int = 1) -> Tensor:
        """Logits after each of the last `last` ids: [last, columns], float32, on the model's device.

        Raises BadLogits naming the model when it answers with NaN or infinite numbers.
        """
        return self._pass(list(ids), (), (), last)

    def tree_logits(self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int]) -> Tensor:
        """Logits after `ids` and after each node of a tree of drafted tokens: [1 + nodes, columns]; row 0 after `ids`.

        Position of a node is its depth, and it sees the text and its own ancestors only. A chain is read plainly.
        """
        if all(parent == here - 1 for here, parent in enumerate(parents)):
            return self.logits([*ids, *token_ids], last=len(token_ids) + 1)
        if self._cache is None:  # recomputed: each branch is read on its own
            rows = [self.logits(ids)[0]]
            for node in range(len(token_ids)):
                rows.append(self.logits([*ids, *(token_ids[n] for n in _path(parents, node))])[0])
            return torch.stack(rows)
        return self._pass(list(ids), token_ids, parents, 1)

    def _pass(self, ids: list[int], nodes: Sequence[int], parents: Sequence[int], last: int) -> Tensor:
        if not ids:
            raise SpecvizError("Type a prompt first: a model cannot continue an empty text.")
        keep = self._settle(ids, last)
        fed = [*ids[keep:], *nodes]
        self.positions = len(fed)
        rows = last + len(nodes)
        # the target may emit a padded id that a smaller draft has no row for; any stand-in keeps the run lossless
        size = self.loaded.vocab_size
        inputs: dict[str, Any] = {
            "input_ids": torch.tensor([[i if i < size else 0 for i in fed]], device=self.loaded.device)
        }
        if nodes:
            inputs |= self._tree_inputs(keep, len(ids) - keep, parents)
        if self._cut:
            inputs["logits_to_keep"] = rows
        if self._cache is not None:
            inputs |= {self._cache_name: self._cache, "use_cache": True}
        elif self._can_cache:
            inputs["use_cache"] = False
        try:
            with torch.inference_mode():
                logits = self.loaded.model(**inputs).logits[0, -rows:].float()
        except BaseException:
            self._forget()  # half a pass may be in the cache
            raise
        self._ids, self._tree = ids, (nodes, parents)
        try:
            check_finite(logits)
        except BadLogits as error:
            name, dtype = self.loaded.name, str(self.loaded.dtype).removeprefix("torch.")
            raise BadLogits(
                f"{name} in {dtype} answered with {error} after {len(ids)} tokens; load it in float32."
            ) from error
        return self._fit(logits)

    def _fit(self, logits: Tensor) -> Tensor:
        width = logits.shape[-1]
        if width < self.columns:
            return torch.nn.functional.pad(logits, (0, self.columns - width), value=-torch.inf)
        return logits[..., : self.columns]

    def _common(self, ids: Sequence[int]) -> int:
        length = min(len(self._ids), len(ids))
        if self._ids[:length] == list(ids[:length]):
            return length
        return next(i for i in range(length) if self._ids[i] != ids[i])

    def _settle(self, ids: Sequence[int], last: int) -> int:
        """Make the cache hold a prefix of `ids` that leaves at least `last` places to read; return its length."""
        if self._cache is None:
            return 0
        if self._tree[0]:
            self._keep_branch(ids)
        keep = min(self._common(ids), len(ids) - last)
        if drop := len(self._ids) - keep:
            if keep:
                self._cache.crop(-drop)
            else:
                self._cache = DynamicCache()
            self._ids = self._ids[:keep]
        return keep

    def _keep_branch(self, ids: Sequence[int]) -> None:
        """After a tree pass: keep the rows of the branch that `ids` went down, drop its siblings."""
        nodes, parents = self._tree
        rows, here = list(range(len(self._ids))), ROOT
        base = len(rows)
        for place in range(base, len(ids)):
            found = [n for n, p in enumerate(parents) if p == here and nodes[n] == ids[place]]
            if not found:
                break
            here = found[0]
            rows.append(base + here)
        index = torch.tensor(rows, device=self.loaded.device)
        for layer in self._cache.layers:
            layer.keys, layer.values = layer.keys.index_select(2, index), layer.values.index_select(2, index)
        self._ids = self._ids + [nodes[n - base] for n in rows[base:]]
        self._tree = ((), ())

    def _tree_inputs(self, kept: int, new: int, parents: Sequence[int]) -> dict[str, Tensor]:
        """Additive attention mask [1, 1, new + nodes, kept + new + nodes] and positions for a tree after `new` ids."""
        size, total = new + len(parents), kept + new + len(parents)
        sees = torch.zeros(size, total, dtype=torch.bool)
        sees[:, :kept] = True
        sees[:, kept : kept + new] = torch.ones(size, new, dtype=torch.bool).tril()
        positions = list(range(kept, kept + new))
        for node in range(len(parents)):
            way = _path(parents, node)
            sees[new + node, [kept + new + n for n in way]] = True
            positions.append(kept + new + len(way) - 1)
        floor = torch.finfo(self.loaded.dtype).min
        mask = torch.zeros(size, total, dtype=self.loaded.dtype).masked_fill(~sees, floor)
        return {
            "attention_mask": mask[None, None].to(self.loaded.device),
            "position_ids": torch.tensor([positions], device=self.loaded.device),
        }


def _path(parents: Sequence[int], node: int) -> list[int]:
    way: list[int] = []
    while node != ROOT:
        way.append(node)
        node = parents[node]
    return way[::-1]


def self_check(loaded: LoadedModel) -> str:
    """Set and return `cache_mode`: "rollback" when cached logits equal uncached ones after dropping a tail, else
    "recompute" (exact, but slow).

    Raises SpecvizError for a model that looks ahead, and BadLogits for one that answers with NaN. Takes six short
    passes, which also warm the model up.
    """
    size = min(12, loaded.context)
    ids = [(7 * i + 3) % loaded.vocab_size for i in range(size)]
    head = max(1, size - 4)
    loaded.cache_mode = "recompute"
    whole = CachedModel(loaded).logits(ids, last=size)
    if not _agree(CachedModel(loaded).logits(ids[:head], last=head), whole[:head], loaded.dtype):
        raise SpecvizError(
            f"{loaded.name} looks ahead at tokens to its right (a bidirectional model); "
            "choose a causal language model, such as one named …ForCausalLM or …LMHeadModel."
        )
    loaded.cache_mode = "rollback"
    reader = CachedModel(loaded)
    try:
        reader.logits([*ids[:head], *reversed(ids[head:])], last=size - head + 1)
        block = reader.logits(ids, last=size - head)
        singly = torch.cat([reader.logits(ids[: n + 1]) for n in range(head, size)])
        ok = _agree(block, whole[head:], loaded.dtype) and _agree(singly, whole[head:], loaded.dtype)
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError):
        # whatever a cache that cannot be rolled back raises, reading afresh stays right
        ok = False
    loaded.cache_mode = "rollback" if ok else "recompute"
    return loaded.cache_mode


def _agree(one: Tensor, other: Tensor, dtype: torch.dtype) -> bool:
    """Total variation distance below what rounding can do; a wrong cache is off by ten times more."""
    bound = 1e-3 if dtype in (torch.float32, torch.float64) else 0.1
    distance = 0.5 * (torch.softmax(one.float(), -1) - torch.softmax(other.float(), -1)).abs().sum(-1)
    return bool((distance <= bound).all())
