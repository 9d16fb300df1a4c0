"""What drafting hands to verification: a tree of tokens, each with the distribution that it was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specviz.core.records import DraftEnd, path_to

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Draft:
    """What a drafter proposes: a tree of tokens in the order drafted, a child always after its parent.

    `parents[i]`: index of the token that i continues, -1 for the text so far. `probs[i]` [vocabulary]: the distribution
    that token i was really drawn from; a point mass where it was chosen. `own_logits[i]` [vocabulary]: the drafter's raw
    logits there, for the screen; None where no model is behind it. `stop`: why drafting ended.
    """

    token_ids: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    probs: tuple[Tensor, ...] = ()
    own_logits: tuple[Tensor, ...] | None = None
    stop: DraftEnd = DraftEnd.NONE

    @property
    def is_chain(self) -> bool:
        """No token has a sibling."""
        return all(parent == here - 1 for here, parent in enumerate(self.parents))

    def path(self, node: int) -> list[int]:
        """Indices from the root's child down to `node`, empty for the root."""
        return path_to(self.parents, node)
