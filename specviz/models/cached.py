"""A model that is asked for logits of whole texts and privately keeps what it has already read.

Nobody outside rolls anything back: `logits(ids, last=n)` compares `ids` with what the cache holds, drops what no longer
fits and reads the rest. One `CachedModel` per run and model; the weights below are shared and never altered.

Whether a model can be used like that is decided when it is loaded (`self_check.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from transformers import DynamicCache

from specviz.core.records import ROOT, path_to
from specviz.core.sampling import BadLogits, check_finite
from specviz.core.settings import SpecvizError
from specviz.core.words import sentence
from specviz.models.features import KeptStates

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel


class CachedModel:
    """One reader of one text. `columns`: width of the logits handed out (a draft is cut or padded with -inf to the
    target's vocabulary, so that both distributions have the same positions)."""

    def __init__(self, loaded: LoadedModel, columns: int | None = None) -> None:
        self.loaded = loaded
        self.columns = columns or loaded.vocab_size
        self.positions = 0
        """Positions computed by the last call."""
        known = inspect.signature(loaded.model.forward).parameters
        self._forward = loaded.plain or loaded.model
        self._cut = "logits_to_keep" in known
        self._can_cache = "use_cache" in known
        self._cache_name = "cache" if "cache" in known else "past_key_values"  # renamed in transformers 5.2x
        self._states = KeptStates()
        self._forget()

    def _forget(self) -> None:
        # without a config every layer is kept in full, also sliding-window ones, so that any of them can be rolled back
        self._cache: Any = DynamicCache() if self.loaded.cache_mode == "rollback" else None
        self._ids: list[int] = []
        self._tree: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        self._states = KeptStates(self._states.layers)

    def keep_features(self, layers: Sequence[int]) -> None:
        """From now on keep the hidden states of `layers` (0: the embedding) for every position read.

        What was read before has none, and they come only with a pass: where layers are new, the text is read again.
        """
        wanted = tuple(sorted({*self._states.layers, *layers}))
        if wanted != self._states.layers:
            self._states = KeptStates(wanted)
            self._forget()

    def known(self, ids: Sequence[int]) -> int:
        """For how many positions at the start of `ids` features are kept."""
        return 0 if self._states.rows is None else self._common(ids) + len(self._branch(ids))

    def features(self, ids: Sequence[int], first: int, layers: Sequence[int]) -> Tensor:
        """Hidden states of `layers` at positions `first` … `known(ids)` - 1: [positions, layers · hidden size], as computed.

        Costs no more than a copy: the target's own passes left them behind.
        """
        drafted = (len(self._ids) + node for node in self._branch(ids))
        return self._states.at([*range(self._common(ids)), *drafted][first:], layers)

    def behind(self, ids: Sequence[int]) -> int:
        """How many positions before the last one of `ids` are not in the cache yet."""
        if self._cache is None:
            return 0
        return max(0, len(ids) - 1 - self._common(ids) - len(self._branch(ids)))

    def catch_up(self, ids: Sequence[int], most: int | None = None) -> bool:
        """Read all but the last of `ids`, so that the next pass reads only new positions. A no-op when up to date.

        `most`: only about so many of them now. Returns whether some are left to read.
        """
        behind = self.behind(ids)
        if behind == 0 or (behind == 1 and self._ids):
            return False
        # a single position left over would be read by the next pass and counted as its own
        left = behind - most if most is not None and behind > most + 1 else 0
        self.logits(ids[: len(ids) - 1 - left])
        return left > 0

    def logits(self, ids: Sequence[int], last: int = 1) -> Tensor:
        """Logits after each of the last `last` ids: [last, columns], float32, on the model's device.

        Raises BadLogits naming the model when it answers with NaN or infinite numbers.
        """
        return self._pass(list(ids), (), (), last)

    def tree_logits(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int], last: int | None = None
    ) -> Tensor:
        """Logits after `ids` and after each node of a tree of drafted tokens: [1 + nodes, columns]; row 0 after `ids`.

        Position of a node is its depth, and it sees the text and its own ancestors only. A chain is read plainly.
        `last`: only the last so many rows; a tree that grows at its end is then read on, not read again.
        """
        rows = len(token_ids) + 1 if last is None else last
        if all(parent == here - 1 for here, parent in enumerate(parents)):
            return self.logits([*ids, *token_ids], last=rows)
        if self._cache is None or not self.loaded.reads_trees:
            return self.branch_by_branch(list(ids), token_ids, parents, rows)
        return self._pass(list(ids), token_ids, parents, rows)

    def branch_by_branch(self, ids: list[int], nodes: Sequence[int], parents: Sequence[int], rows: int) -> Tensor:
        """The same rows for a model that cannot read a tree at once: a plain pass for each branch."""
        wanted = range(len(nodes) - rows, len(nodes))  # the text itself is node -1
        found: dict[int, Tensor] = {}
        positions = 0
        for node in reversed(wanted):
            if node not in found:
                way = [ROOT, *path_to(parents, node)]
                found |= zip(way, self.logits(ids + [nodes[n] for n in way[1:]], last=len(way)), strict=True)
                positions += self.positions
        self.positions = positions
        return torch.stack([found[node] for node in wanted])

    def _pass(self, ids: list[int], nodes: Sequence[int], parents: Sequence[int], rows: int) -> Tensor:
        if not ids:
            raise SpecvizError(sentence("errors.prompt_empty"))
        read = self._read_of(ids, nodes, parents, rows)
        keep = len(ids) if read else self._settle(ids, max(0, rows - len(nodes)))
        fed = [*ids[keep:], *nodes[read:]]
        self.positions = len(fed)
        # the target may emit a padded id that a smaller draft has no row for; any stand-in keeps the run lossless
        size = self.loaded.vocab_size
        inputs: dict[str, Any] = {
            "input_ids": torch.tensor([[i if i < size else 0 for i in fed]], device=self.loaded.device)
        }
        if nodes:
            inputs |= self._tree_inputs(keep, len(ids) - keep, parents, read)
        if self._cut:
            inputs["logits_to_keep"] = rows
        if self._cache is not None:
            inputs |= {self._cache_name: self._cache, "use_cache": True}
        elif self._can_cache:
            inputs["use_cache"] = False
        if self._states.layers:
            inputs["output_hidden_states"] = list(self._states.layers)  # no others are kept
        try:
            with torch.inference_mode():
                # the plain pass answers with logits alone
                answer = (self.loaded.model if self._states.layers else self._forward)(**inputs)
                logits = answer.logits[0, -rows:].float()
                if self._states.layers:
                    self._states.add(answer.hidden_states, kept=bool(keep or read))
        except BaseException:
            self._forget()  # half a pass may be in the cache
            raise
        self._ids, self._tree = ids, (tuple(nodes), tuple(parents))  # copied: the caller may let its tree grow
        try:
            check_finite(logits)
        except BadLogits as error:
            name, dtype = self.loaded.name, str(self.loaded.dtype).removeprefix("torch.")
            raise BadLogits(
                sentence("errors.bad_logits", name=name, dtype=dtype, what=error.sentence, tokens=len(ids))
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
        """Make the cache hold a prefix of `ids` that leaves at least `last` positions to read; return its length."""
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
            self._states.crop(keep)
        return keep

    def _read_of(self, ids: list[int], nodes: Sequence[int], parents: Sequence[int], rows: int) -> int:
        """How many of these nodes the last pass left in the cache, where the tree only grew by at least `rows`."""
        size = len(self._tree[0])
        grew = size and len(nodes) - size >= rows and self._ids == ids
        return size if grew and self._tree == (tuple(nodes[:size]), tuple(parents[:size])) else 0

    def _branch(self, ids: Sequence[int]) -> list[int]:
        """Nodes of the last tree pass that `ids` went down; of equal siblings the first."""
        nodes, parents = self._tree
        way: list[int] = []
        if not nodes or self._common(ids) < len(self._ids):
            return way
        for token in ids[len(self._ids) :]:
            here = way[-1] if way else ROOT
            found = [n for n, parent in enumerate(parents) if parent == here and nodes[n] == token]
            if not found:
                break
            way.append(found[0])
        return way

    def _keep_branch(self, ids: Sequence[int]) -> None:
        """After a tree pass: keep the rows of the branch that `ids` went down, drop its siblings."""
        way, base = self._branch(ids), len(self._ids)
        index = torch.tensor([*range(base), *(base + n for n in way)], device=self.loaded.device)
        for layer in self._cache.layers:
            layer.keys, layer.values = layer.keys.index_select(2, index), layer.values.index_select(2, index)
        self._states.select(index)
        self._ids = self._ids + [self._tree[0][n] for n in way]
        self._tree = ((), ())

    def _tree_inputs(self, kept: int, new: int, parents: Sequence[int], read: int) -> dict[str, Tensor]:
        """Additive attention mask [1, 1, fed, kept + new + nodes] and positions, for `new` ids and all nodes but the
        first `read`, whose rows follow the text in the cache."""
        text = kept + new
        fed, total = new + len(parents) - read, text + len(parents)
        sees = torch.zeros(fed, total, dtype=torch.bool)
        sees[:, :kept] = True
        sees[:, kept:text] = torch.ones(fed, new, dtype=torch.bool).tril()
        positions = list(range(kept, text))
        for row, node in enumerate(range(read, len(parents)), start=new):
            way = path_to(parents, node)
            sees[row, [text + n for n in way]] = True
            positions.append(text + len(way) - 1)
        floor = torch.finfo(self.loaded.dtype).min
        mask = torch.zeros(fed, total, dtype=self.loaded.dtype).masked_fill(~sees, floor)
        return {
            "attention_mask": mask[None, None].to(self.loaded.device),
            "position_ids": torch.tensor([positions], device=self.loaded.device),
        }
