"""A feature head that is asked for logits of whole texts, as `CachedModel` is, and keeps what it has read.

Where the target's own passes left features of a text, the head reads those; a position that the target has not computed
(a drafted token) is read from the head's own output at the position before. So a draft of K costs K passes: the first reads
the true features of what was accepted since, and each deeper one a single position.

Example: after a step that accepted two of four drafts, the next `logits(ids)` drops the four positions that were read from
the head's own states and reads three positions with the target's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from specviz.core.records import ROOT, path_to
from specviz.core.settings import MAX_K
from specviz.models.cached import CachedModel
from specviz.models.head_store import LoadedHead


class HeadReader:
    """One reader of one text, beside the `target` reader of the same run; the head below is shared and never altered."""

    def __init__(self, head: LoadedHead, target: CachedModel) -> None:
        self.head = head
        self.target = target
        self.columns = target.columns
        self.loaded = target.loaded
        self.positions = 0
        """Positions computed by the last call."""
        target.keep_features(head.network.shape.feature_layers)
        shape, like = head.network.shape, head.network.norm
        self._nothing = like.new_zeros(1, shape.kv_heads, 0, shape.head_size)
        self._text: list[int] = []
        """Ids whose features are read: position t needs the token after it, so there is one position less."""
        self._keys = self._values = self._nothing
        self._state = like.new_zeros(1, 0, shape.hidden_size)
        """Output at the last position of the text."""
        self._forget_tree()

    def _forget_tree(self) -> None:
        self._nodes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        self._node_states: list[Tensor] = []

    def can_read(self, ids: Sequence[int]) -> bool:
        """Whether the target left features of at least the first position, and there is a token after it."""
        return len(ids) > 1 and self.target.known(ids) > 0

    def behind(self, ids: Sequence[int]) -> int:
        """How many positions that the head will read have not been read, by it or by the target; a step's worth is none."""
        if len(ids) < 2:
            return 0
        missing = max(0, len(ids) - 1 - self.target.known(ids))
        return missing or max(0, len(ids) - self._common(ids) - 1 - MAX_K)

    def catch_up(self, ids: Sequence[int]) -> None:
        """Let the target read what it must (after a switch to this strategy: the whole text once), then read along."""
        if len(ids) > 1:
            if self.target.known(ids) < len(ids) - 1:
                self.target.logits(ids[:-1])
            self._read(list(ids), [], [])

    def logits(self, ids: Sequence[int], last: int = 1) -> Tensor:
        """Logits after each of the last `last` ids: [last, columns], float32; -inf for ids that the head has no row for.

        `last` may not reach into what the target has read, but for its end. Call only where `can_read(ids)`.
        """
        return self.tree_logits(ids, (), (), last)

    def tree_logits(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int], last: int | None = None
    ) -> Tensor:
        """Logits after `ids` and after each node of a tree: [1 + nodes, columns], or only the last `last` rows.

        Nodes of one depth are read in one pass; a tree that grows at its end is read on, not read again.
        """
        split = min(self.target.known(ids), len(ids) - 1) + 1
        text, own = list(ids[:split]), list(ids[split:])
        nodes, chain = [*own, *token_ids], [*range(-1, len(own) - 1)]
        ways = [*chain, *(parent + len(own) if parent != ROOT else len(own) - 1 for parent in parents)]
        with torch.inference_mode():
            self._read(text, nodes, ways)
            rows = [self._state[0, -1:], *self._node_states][-(len(token_ids) + 1 if last is None else last) :]
            return self._logits(torch.cat(rows))

    def _logits(self, states: Tensor) -> Tensor:
        few = functional.linear(states, self.head.output).float()
        return few.new_full((len(few), self.columns), -torch.inf).index_copy_(1, self.head.rows, few)

    def _common(self, ids: Sequence[int]) -> int:
        length = min(len(self._text), len(ids))
        if self._text[:length] == list(ids[:length]):
            return length
        return next(i for i in range(length) if self._text[i] != ids[i])

    @torch.inference_mode()
    def _read(self, text: list[int], nodes: list[int], parents: list[int]) -> None:
        """Bring keys, values and states to `text` with the target's features, and `nodes` after it with its own."""
        self.positions = 0
        old, (known, ways) = len(self._text), self._nodes
        if self._text != text:
            self._forget_tree()
            keep = max(0, self._common(text) - 1)
            if keep == len(text) - 1:  # cut to a shorter text: its last position is read again for its state
                keep -= 1
            self._keys, self._values = self._keys[:, :, :keep], self._values[:, :, :keep]
            self._read_text(text, keep)
        elif (tuple(nodes[: len(known)]), tuple(parents[: len(known)])) != (known, ways):
            self._forget_tree()
            self._keys, self._values = self._keys[:, :, : old - 1], self._values[:, :, : old - 1]
        while (done := len(self._node_states)) < len(nodes):
            # all whose parent is read, up to the first whose is not: nodes come in order of depth
            end = next((n for n in range(done, len(nodes)) if parents[n] >= done), len(nodes))
            self._read_nodes(nodes, parents, done, end)
        self._nodes = (tuple(nodes), tuple(parents))

    def _read_text(self, text: list[int], keep: int) -> None:
        network = self.head.network
        features = self.target.features(text, keep, network.shape.feature_layers)[: len(text) - 1 - keep]
        x = network.from_target(features, self._embedded(text[keep + 1 :]))
        position_ids = torch.arange(keep, len(text) - 1)
        # a text read from its start needs no mask of its own, which would be as large as the text squared
        mask = torch.ones(len(position_ids), len(text) - 1, dtype=torch.bool).tril(keep) if keep else None
        self._state = self._pass(x[None], position_ids, mask)[:, -1:]
        self._text = text

    def _read_nodes(self, nodes: list[int], parents: list[int], start: int, end: int) -> None:
        network, before = self.head.network, len(self._text) - 1
        states = torch.cat([self._node_states[p] if p != ROOT else self._state[0] for p in parents[start:end]])
        x = network.from_own(states, self._embedded(nodes[start:end]))
        ways = [path_to(parents, node) for node in range(start, end)]
        mask = torch.zeros(end - start, before + end, dtype=torch.bool)
        mask[:, :before] = True
        for row, way in enumerate(ways):
            mask[row, [before + node for node in way]] = True
        position_ids = torch.tensor([before - 1 + len(way) for way in ways])
        self._node_states += self._pass(x[None], position_ids, mask)[0].split(1)

    def _pass(self, x: Tensor, position_ids: Tensor, mask: Tensor | None) -> Tensor:
        """One pass of the layer over new positions; `mask` [new, kept + new]: what each sees, None: all before it."""
        device = x.device
        self.positions += x.shape[1]
        seen = None if mask is None or bool(mask.all()) else mask.to(device)

        def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            self._keys, self._values = torch.cat([self._keys, k], 2), torch.cat([self._values, v], 2)
            return functional.scaled_dot_product_attention(
                q, self._keys, self._values, attn_mask=seen, is_causal=mask is None, enable_gqa=True
            )

        network = self.head.network
        return network.layer(x, network.rotation(position_ids.to(device)), attend)

    def _embedded(self, ids: Sequence[int]) -> Tensor:
        return self.head.embedding[torch.tensor(list(ids), dtype=torch.long, device=self.head.embedding.device)]
