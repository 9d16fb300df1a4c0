"""Trees of the draft model's likeliest continuations, grown position by position: for beam search and dynamic trees.

All branches that go on are read in one pass of the draft model at each position. All tokens are chosen, none drawn: each
is a point mass. Siblings are ordered by the draft's probability, best first. The search uses the draft's own softmax after
the repetition penalty; temperature and filters have no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import ROOT, DraftEnd
from specviz.core.sampling import likeliest, one_hot, penalise
from specviz.core.settings import RunSettings
from specviz.drafting.parts import Propose, Reader, goes_on


@dataclass(frozen=True, slots=True)
class Branch:
    """A continuation. `totals[i]`: log-probability of its first i + 1 tokens; `own_logits[i]`: the draft's, before
    token i. `node`: index of its last token in the tree that the draft model reads. `ended`: in an end token."""

    tokens: tuple[int, ...] = ()
    totals: tuple[float, ...] = ()
    own_logits: tuple[Tensor, ...] = ()
    node: int = ROOT
    ended: bool = False

    @property
    def total(self) -> float:
        """Log-probability of the whole branch."""
        return self.totals[-1] if self.totals else 0.0

    def longer(self, token: int, score: float, own_logits: Tensor, ended: bool) -> Branch:
        """Continued by one token; `node` is still that of the last token read."""
        tokens, totals = (*self.tokens, token), (*self.totals, self.total + score)
        return Branch(tokens, totals, (*self.own_logits, own_logits), self.node, ended)


def all_kept(kept: list[Branch], settings: RunSettings) -> list[Branch]:
    """Every branch that may be proposed."""
    return kept


@dataclass(frozen=True, slots=True)
class Growth:
    """How a tree grows.

    `width(settings, k)`: continuations of each branch, and branches that go on at each of `k` positions.
    `chosen(found, width)`: of all branches at a position, best first, those that go on, and those that may be proposed.
    An ended branch among those that go on stays there and is not read.
    `proposed(kept, settings)`: of those that may be proposed, those that are.
    """

    width: Callable[[RunSettings, int], int]
    chosen: Callable[[list[Branch], int], tuple[list[Branch], list[Branch]]]
    proposed: Callable[[list[Branch], RunSettings], list[Branch]] = all_kept


def grown(reader: Reader, end_ids: Collection[int], growth: Growth) -> Propose:
    """Propose a tree up to `k` deep; a branch that ends in an end token stays as it is. No coin is used."""

    def propose(ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        if not k:
            return Draft(stop=DraftEnd.NONE)
        width, stop = growth.width(settings, k), DraftEnd.K
        going, kept = [Branch()], [Branch()]
        nodes: list[int] = []
        parents: list[int] = []
        for depth in range(k):
            if len(ids) + depth > reader.loaded.context:
                stop = DraftEnd.DRAFT_CONTEXT
                break
            live = [branch for branch in going if not branch.ended]
            # one pass for all branches: the nodes added last are exactly the live branches' ends
            rows = reader.tree_logits(ids, nodes, parents, last=len(live)).cpu()
            found = [branch for branch in going if branch.ended]
            for branch, row in zip(live, rows, strict=True):
                found += continued(branch, row, width, ids, settings, end_ids)
            going, more = growth.chosen(sorted(found, key=lambda branch: -branch.total), width)
            kept += more
            for rank, branch in enumerate(going):
                if len(branch.tokens) == depth + 1 and not branch.ended:
                    nodes.append(branch.tokens[-1])
                    parents.append(branch.node)
                    going[rank] = replace(branch, node=len(nodes) - 1)
            live = [branch for branch in going if not branch.ended]
            if not live:
                stop = DraftEnd.END_TOKEN
                break
            # one branch that the model is sure of is enough to go on
            if depth + 1 < k and not any(goes_on(b.own_logits[-1], b.tokens[-1], settings) for b in live):
                stop = DraftEnd.CONFIDENCE
                break
        return merged(growth.proposed(kept, settings), reader.columns, stop)

    return propose


def continued(
    branch: Branch, row: Tensor, width: int, ids: Sequence[int], settings: RunSettings, end_ids: Collection[int]
) -> list[Branch]:
    """The branch with each of its `width` likeliest next tokens, without those that the model rules out (-inf).

    `row` [vocabulary]: the draft's raw logits after the branch.
    """
    penalised = penalise(row[None], [[*ids, *branch.tokens]], settings.repetition_penalty)[0]
    likely = likeliest(penalised, width)
    totals = torch.log_softmax(penalised.double(), -1)[likely]
    pairs = zip(likely.tolist(), totals.tolist(), strict=True)
    return [branch.longer(token, score, row, token in end_ids) for token, score in pairs if score > -torch.inf]


def merged(branches: Sequence[Branch], columns: int, stop: DraftEnd) -> Draft:
    """The branches as a tree, depth by depth; a prefix that several share is one node."""
    node_of: dict[tuple[int, ...], int] = {(): ROOT}
    own: list[Tensor] = []
    for depth in range(max(len(branch.tokens) for branch in branches)):
        prefixes = {b.tokens[: depth + 1]: b for b in branches if len(b.tokens) > depth}
        # siblings have the same total before them, so this order is best first among them
        for prefix, branch in sorted(prefixes.items(), key=lambda item: -item[1].totals[depth]):
            node_of[prefix] = len(own)
            own.append(branch.own_logits[depth])
    ways = list(node_of)[1:]
    return Draft(
        tuple(way[-1] for way in ways),
        tuple(node_of[way[:-1]] for way in ways),
        tuple(one_hot(way[-1], columns) for way in ways),
        tuple(own),
        stop,
    )
