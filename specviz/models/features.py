"""Hidden states that a model's passes leave behind, kept beside its cache for a drafter that reads them.

Rows follow the rows of the cache: what is cropped there is cropped here. Nothing is computed for it; the passes hand
their states out anyway. Knows nothing of texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class KeptStates:
    """States of `layers` (0: the embedding, the last: after the model's own last norm) of every row of a cache."""

    def __init__(self, layers: Sequence[int] = ()) -> None:
        self.layers = tuple(layers)
        self.rows: Tensor | None = None

    def add(self, hidden_states: Sequence[Tensor], kept: bool) -> None:
        """After a pass: `hidden_states` [1, fed, H] by layer; `kept`: the rows so far are still in the cache."""
        fresh = torch.cat([hidden_states[layer][0] for layer in self.layers], -1)
        self.rows = torch.cat([self.rows, fresh]) if kept and self.rows is not None else fresh

    def crop(self, length: int) -> None:
        """Keep the first `length` rows."""
        if self.rows is not None:
            self.rows = self.rows[:length]

    def select(self, index: Tensor) -> None:
        """Keep the rows at `index` [rows]."""
        if self.rows is not None:
            self.rows = self.rows.index_select(0, index)

    def at(self, index: Sequence[int], layers: Sequence[int]) -> Tensor:
        """[len(index), layers · H] in the model's own format."""
        assert self.rows is not None
        rows = self.rows.index_select(0, torch.tensor(list(index), dtype=torch.long, device=self.rows.device))
        if tuple(layers) == self.layers:
            return rows
        return rows.unflatten(-1, (len(self.layers), -1))[:, [self.layers.index(n) for n in layers]].flatten(1)
