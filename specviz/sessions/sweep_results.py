"""What a visitor's sweeps have measured so far, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specviz.experiments.sweep import Cell, Outcome, Rows

MOST_KEPT = 600


@dataclass(slots=True)
class SweepResults:
    """`done`: outcomes by what was measured. `rows`: rows of the table once made of them."""

    done: dict[str, Outcome] = field(default_factory=dict)
    rows: Rows = field(default_factory=dict)

    def keep(self, cell: Cell, outcome: Outcome) -> None:
        """Put an outcome with the others; the oldest go where there are too many."""
        self.done[cell.key] = outcome
        stores: tuple[dict[Any, Any], ...] = (self.done, self.rows)
        for kept in stores:
            while len(kept) > MOST_KEPT:
                del kept[next(iter(kept))]

    def clear(self) -> None:
        """Forget all of them."""
        self.done.clear()
        self.rows.clear()
