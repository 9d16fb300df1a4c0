"""Beam search: the draft model's likeliest continuations, K tokens long, as one tree.

At each position every beam is continued by its likeliest tokens and the `width` best by total log-probability go on. Every
beam that was kept anywhere is a branch, also one that later fell behind: the draft model has read it already, and the
last beams alone often begin with the same token, which leaves the target no choice where it matters most. What beams
have in common is one branch. Example, width 2: ``a`` and ``z``, then ``a b`` and ``a c``, make the tree a → (b, c), z.

How a tree is grown, and what its tokens are drawn from, is in `growing`.
"""

from __future__ import annotations

from functools import partial

from specviz.core.settings import RunSettings, knob
from specviz.core.words import sentence
from specviz.drafting.base import Strategy
from specviz.drafting.growing import Branch, Growth, grown
from specviz.drafting.parts import on_draft_model
from specviz.drafting.tree import MAX_NODES, narrowed

WIDTH = knob("width", 2, 1, 8, 1, whole=True, most=MAX_NODES)


def width_of(settings: RunSettings, k: int) -> int:
    """Beams at `k` positions."""
    return narrowed(int(settings.options.get("width", WIDTH.default)), k)


def best(found: list[Branch], width: int) -> tuple[list[Branch], list[Branch]]:
    """The best go on, ended ones among them, and are proposed."""
    return found[:width], found[:width]


def nodes(k: int, settings: RunSettings) -> int:
    """All beams at all positions."""
    return k * width_of(settings, k)


BEAM_SEARCH = Strategy(
    help=sentence("help.beam_search"),
    needs_draft_model=True,
    deterministic=True,
    knobs={"width": WIDTH},
    nodes=nodes,
    start=on_draft_model(partial(grown, growth=Growth(width_of, best))),
)
