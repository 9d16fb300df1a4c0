"""Sampled tree: at each position several tokens are drawn, and the verifier may try each.

The tree is a spine: K positions, `siblings` draws at each, and only the first of them is continued. A full tree would need
30 nodes instead of 8 for two draws at four positions, and each node is a position of the target's pass; the first is tried
first, so the others are mostly reached where the walk would have ended anyway. The draft model reads a chain, nothing
more: one pass a position. With one sibling it is the strategy "sampling", coin for coin.

Without replacement a later sibling is drawn from what its earlier siblings left, renormalised, and carries that
distribution (recursive rejection: SpecInfer, arXiv 2305.09781; without replacement: arXiv 2402.14160). With
replacement equal draws stay separate siblings: dropping one because of what it is would change q.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import ROOT, DraftEnd
from specviz.core.sampling import draw
from specviz.core.settings import RunSettings, knob
from specviz.core.words import sentence
from specviz.drafting.base import Strategy
from specviz.drafting.parts import Propose, Reader, goes_on, on_draft_model, shaped

MAX_NODES = 64
"""Most tokens that a tree may hold: each is a position of the target's pass and a row of its whole vocabulary."""

SIBLINGS = knob("siblings", 2, 1, 4, 1, whole=True, most=MAX_NODES)
REPLACEMENT = knob("replacement", 0, 0, 1, 1, whole=True)


def narrowed(width: int, k: int) -> int:
    """`width` nodes a position, or as many as `MAX_NODES` allows at `k` positions: ``narrowed(8, 16)`` is 4."""
    return min(width, max(1, MAX_NODES // k))


def siblings_of(settings: RunSettings, k: int) -> int:
    """Draws at each of `k` positions."""
    return narrowed(int(settings.options.get("siblings", SIBLINGS.default)), k)


def nodes(k: int, settings: RunSettings) -> int:
    """All siblings at all positions."""
    return k * siblings_of(settings, k)


def sampled_tree(reader: Reader, end_ids: Collection[int]) -> Propose:
    """Propose a spine of up to `k` positions; it ends with its own end token or at the end of the model's context."""

    def propose(ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        if not k:
            return Draft(stop=DraftEnd.NONE)
        siblings = siblings_of(settings, k)
        replacement = bool(settings.options.get("replacement", REPLACEMENT.default))
        text, here, stop = list(ids), ROOT, DraftEnd.K
        tokens: list[int] = []
        parents: list[int] = []
        probs: list[Tensor] = []
        own: list[Tensor] = []
        for depth in range(k):
            if len(text) > reader.loaded.context:
                stop = DraftEnd.DRAFT_CONTEXT
                break
            logits = reader.logits(text)[0].cpu()
            left = shaped(logits, text, settings)
            first = len(tokens)
            for sibling in range(siblings):
                # One parent a depth, so the sibling's number tells its coin from all others of this output position.
                # (Several parents could even share coins: a walk stands at one of them, and whether it got there
                # hangs on draws and coins of earlier positions only, so its children are fresh draws all the same.)
                token = draw(left, coins(start + depth, "draft", sibling))
                tokens.append(token)
                parents.append(here)
                probs.append(left)
                own.append(logits)
                if not replacement:
                    left = left.index_fill(0, left.new_tensor([token]).long(), 0.0)
                    if float(rest := left.sum()) <= 0:
                        break
                    left = left / rest
            here = first
            text.append(tokens[first])
            # the end token stays, and so do its siblings: nothing is dropped because of what was drawn
            if tokens[first] in end_ids:
                stop = DraftEnd.END_TOKEN
                break
            if depth + 1 < k and not goes_on(logits, tokens[first], settings):
                stop = DraftEnd.CONFIDENCE
                break
        return Draft(tuple(tokens), tuple(parents), tuple(probs), tuple(own), stop)

    return propose


SAMPLED_TREE = Strategy(
    help=sentence("help.sampled_tree"),
    needs_draft_model=True,
    knobs={"siblings": SIBLINGS, "replacement": REPLACEMENT},
    nodes=nodes,
    start=on_draft_model(sampled_tree),
)
