"""Dynamic tree: grown where the draft model is sure of itself, then cut to a number of tokens (EAGLE-2).

Li et al., EAGLE-2, arXiv 2406.16858, section 4. The value of a token is the product of the draft's probabilities from
the root down to it, an estimate of the chance that the target takes the whole way. Expansion: at each position the tokens
with most value, `children` of them, are continued by their `children` likeliest tokens each. Re-ranking: of all tokens
of all positions the `tree_size` with most value are proposed; a token never has more value than its parent and of equals
the shallower comes first, so what is proposed hangs together. Where the draft is sure the tree is deep, else it is wide.

May tokens be dropped because of what they are? Here, yes: they were chosen from the draft's distribution by rank, not
drawn from it. Each is a point mass, a function of the text so far alone, and the walk keeps the target's distribution
exactly whichever such tokens it is offered. After a draw the same pruning would change q (see the strategy "sampled tree").
"""

from __future__ import annotations

from functools import partial

from specviz.core.settings import RunSettings, knob
from specviz.core.words import sentence
from specviz.drafting.base import Strategy
from specviz.drafting.growing import Branch, Growth, grown
from specviz.drafting.parts import on_draft_model
from specviz.drafting.tree import MAX_NODES

CHILDREN = knob("children", 4, 1, 8, 1, whole=True)
SIZE = knob("tree_size", 12, 1, MAX_NODES, 1, whole=True)


def children_of(settings: RunSettings, k: int) -> int:
    """The children, however deep the tree is."""
    return int(settings.options.get("children", CHILDREN.default))


def size_of(settings: RunSettings) -> int:
    """Tokens proposed at most."""
    return int(settings.options.get("tree_size", SIZE.default))


def sure(found: list[Branch], width: int) -> tuple[list[Branch], list[Branch]]:
    """The best that have not ended go on; all may be proposed."""
    return [branch for branch in found if not branch.ended][:width], found


def most_valuable(kept: list[Branch], settings: RunSettings) -> list[Branch]:
    """Those with most value; the root, which is no token, is the first of them."""
    return sorted(kept, key=lambda branch: (-branch.total, len(branch.tokens)))[: size_of(settings) + 1]


def nodes(k: int, settings: RunSettings) -> int:
    """All continuations that were considered, or as many as are proposed."""
    width = children_of(settings, k)
    return min(width + (k - 1) * width * width, size_of(settings))


CONFIDENT = Growth(children_of, sure, most_valuable)

DYNAMIC_TREE = Strategy(
    help=sentence("help.dynamic_tree"),
    needs_draft_model=True,
    deterministic=True,
    knobs={"children": CHILDREN, "tree_size": SIZE},
    nodes=nodes,
    start=on_draft_model(partial(grown, growth=CONFIDENT)),
)
