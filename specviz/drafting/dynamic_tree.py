"""Dynamic tree: grown where the draft model is sure of itself, then cut to a number of tokens (EAGLE-2).

Li et al., EAGLE-2, arXiv 2406.16858, section 4. The value of a token is the product of the draft's probabilities from
the root down to it, an estimate of the chance that the target takes the whole way. Expansion: at each place the tokens
with most value, `children` of them, are continued by their `children` likeliest tokens each. Re-ranking: of all tokens
of all places the `tree_size` with most value are proposed; a token never has more value than its parent and of equals
the shallower comes first, so what is proposed hangs together. Where the draft is sure the tree is deep, else it is wide.

May tokens be dropped because of what they are? Here, yes: they were chosen from the draft's distribution by rank, not
drawn from it. Each is a point mass, a function of the text so far alone, and the walk keeps the target's distribution
exactly whichever such tokens it is offered. After a draw the same pruning would change q (see the strategy "sampled tree").
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from specviz.core.settings import Knob, RunSettings
from specviz.drafting.base import Readers, WithModel, end_ids_of
from specviz.drafting.growing import Branch, GrowingDrafter
from specviz.drafting.tree import MAX_NODES

CHILDREN = Knob(
    "children", 4, 1, 8, 1, "Likeliest continuations looked at of each token, and tokens continued a place.", whole=True
)
SIZE = Knob(
    "tree size",
    12,
    1,
    MAX_NODES,
    1,
    "Tokens proposed in all: those whose whole way the draft thinks likeliest.",
    whole=True,
)


class DynamicTree(WithModel):
    """A tree shaped by the draft's confidence."""

    help = (
        "Tree of the draft model's likeliest continuations up to K deep: deep where it is sure, wide where it is not."
    )
    deterministic = True
    knobs: Mapping[str, Knob] = MappingProxyType({"children": CHILDREN, "tree_size": SIZE})

    def nodes(self, k: int, settings: RunSettings) -> int:
        """All that was looked at, or as many as are proposed."""
        width = int(settings.options.get("children", CHILDREN.default))
        return min(width + (k - 1) * width * width, int(settings.options.get("tree_size", SIZE.default)))

    def start(self, readers: Readers) -> DynamicTreeDrafter:
        """A drafter over the run's own cache of the draft model."""
        assert readers.draft is not None
        return DynamicTreeDrafter(readers.draft, end_ids_of(readers))


class DynamicTreeDrafter(GrowingDrafter):
    """See module."""

    def width(self, settings: RunSettings, k: int) -> int:
        """The children."""
        return int(settings.options.get("children", CHILDREN.default))

    def chosen(self, found: list[Branch], width: int) -> tuple[list[Branch], list[Branch]]:
        """The best that have not ended go on; all may be proposed."""
        return [branch for branch in found if not self.ended(branch)][:width], found

    def proposed(self, kept: list[Branch], settings: RunSettings) -> list[Branch]:
        """Those with most value; the root, which is no token, is the first of them."""
        size = int(settings.options.get("tree_size", SIZE.default))
        return sorted(kept, key=lambda branch: (-branch.total, len(branch.tokens)))[: size + 1]
