"""Beam search: the draft model's likeliest continuations, K tokens long, as one tree.

At each place every beam is continued by its likeliest tokens and the `width` best by total log-probability go on. Every
beam that was kept anywhere is a branch, also one that later fell behind: the draft model has read it already, and the
last beams alone often begin with the same token, which leaves the target no choice where it matters most. What beams
have in common is one branch. Example, width 2: ``a`` and ``z``, then ``a b`` and ``a c``, make the tree a → (b, c), z.

How a tree is grown, and what its tokens are drawn from, is in `growing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from specviz.core.settings import Knob, RunSettings
from specviz.drafting.base import Readers, WithModel, end_ids_of
from specviz.drafting.growing import Branch, GrowingDrafter
from specviz.drafting.tree import MAX_NODES, narrowed

WIDTH = Knob(
    "beam width",
    2,
    1,
    8,
    1,
    f"Beams kept at each place; K is their length. At most {MAX_NODES} tokens in all: fewer beams above K = 8.",
    whole=True,
)


def width_of(settings: RunSettings, k: int) -> int:
    """Beams at `k` places."""
    return narrowed(int(settings.options.get("width", WIDTH.default)), k)


class BeamSearch(WithModel):
    """Beams of the draft model."""

    help = "The draft model's likeliest continuations of K tokens as one tree (point masses); the target reads all at once."
    deterministic = True
    knobs: Mapping[str, Knob] = MappingProxyType({"width": WIDTH})

    def nodes(self, k: int, settings: RunSettings) -> int:
        """All beams at all places."""
        return k * width_of(settings, k)

    def start(self, readers: Readers) -> BeamDrafter:
        """A drafter over the run's own cache of the draft model."""
        assert readers.draft is not None
        return BeamDrafter(readers.draft, end_ids_of(readers))


class BeamDrafter(GrowingDrafter):
    """See module."""

    def width(self, settings: RunSettings, k: int) -> int:
        """The beams."""
        return width_of(settings, k)

    def chosen(self, found: list[Branch], width: int) -> tuple[list[Branch], list[Branch]]:
        """The best go on, ended ones among them, and are proposed."""
        return found[:width], found[:width]
