"""Trees of the draft model's likeliest continuations, grown place by place: what beam search and dynamic tree share.

All branches that go on are read in one pass of the draft model a place. All tokens are chosen, none drawn: each is a
point mass. Siblings are ordered by the draft's probability, best first. The search uses the draft's own softmax after
the repetition penalty; temperature and filters have no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import ROOT, DraftEnd
from specviz.core.sampling import likeliest, one_hot, penalise
from specviz.core.settings import RunSettings
from specviz.drafting.base import ModelDrafter, goes_on


@dataclass(frozen=True, slots=True)
class Branch:
    """A continuation. `totals[i]`: log-probability of its first i + 1 tokens; `own_logits[i]`: the draft's, before
    token i. `node`: its last token's place in the tree that the draft model reads."""

    tokens: tuple[int, ...] = ()
    totals: tuple[float, ...] = ()
    own_logits: tuple[Tensor, ...] = ()
    node: int = ROOT

    @property
    def total(self) -> float:
        """Log-probability of the whole branch."""
        return self.totals[-1] if self.totals else 0.0

    def longer(self, token: int, score: float, own_logits: Tensor) -> Branch:
        """Continued by one token; `node` is still that of the last token read."""
        return Branch(
            (*self.tokens, token), (*self.totals, self.total + score), (*self.own_logits, own_logits), self.node
        )


class GrowingDrafter(ModelDrafter):
    """Subclasses say how wide to grow, which branches go on, and which are proposed."""

    def width(self, settings: RunSettings, k: int) -> int:
        """Continuations of each branch, and branches that go on at a place."""
        raise NotImplementedError

    def chosen(self, found: list[Branch], width: int) -> tuple[list[Branch], list[Branch]]:
        """Of all branches at a place, best first: those that go on, and those that may be proposed.

        An ended branch among those that go on keeps its place there and is not read.
        """
        raise NotImplementedError

    def proposed(self, kept: list[Branch], settings: RunSettings) -> list[Branch]:
        """Of those that may be proposed, those that are: all."""
        return kept

    def ended(self, branch: Branch) -> bool:
        """Whether it ends in an end token."""
        return bool(branch.tokens) and branch.tokens[-1] in self.end_ids

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A tree up to `k` deep; a branch that ends in an end token stays as it is. No coin is used."""
        if not k:
            return Draft(stop=DraftEnd.NONE)
        width, stop = self.width(settings, k), DraftEnd.K
        going, kept = [Branch()], [Branch()]
        nodes: list[int] = []
        parents: list[int] = []
        for depth in range(k):
            if len(ids) + depth > self.reader.loaded.context:
                stop = DraftEnd.DRAFT_CONTEXT
                break
            live = [branch for branch in going if not self.ended(branch)]
            # one pass a place: the nodes added last are exactly the live branches' ends
            rows = self.reader.tree_logits(ids, nodes, parents, last=len(live)).cpu()
            found = [branch for branch in going if self.ended(branch)]
            for branch, row in zip(live, rows, strict=True):
                found += self._continued(branch, row, width, ids, settings)
            going, more = self.chosen(sorted(found, key=lambda branch: -branch.total), width)
            kept += more
            for place, branch in enumerate(going):
                if len(branch.tokens) == depth + 1 and not self.ended(branch):
                    nodes.append(branch.tokens[-1])
                    parents.append(branch.node)
                    going[place] = replace(branch, node=len(nodes) - 1)
            live = [branch for branch in going if not self.ended(branch)]
            if not live:
                stop = DraftEnd.END_TOKEN
                break
            # one branch that the model is sure of is enough to go on
            if depth + 1 < k and not any(goes_on(b.own_logits[-1], b.tokens[-1], settings) for b in live):
                stop = DraftEnd.CONFIDENCE
                break
        return merged(self.proposed(kept, settings), self.reader.columns, stop)

    def _continued(
        self, branch: Branch, row: Tensor, width: int, ids: Sequence[int], settings: RunSettings
    ) -> list[Branch]:
        """The branch with each of its `width` likeliest next tokens; one that the model rules out (-inf) is none."""
        penalised = penalise(row[None], [[*ids, *branch.tokens]], settings.repetition_penalty)[0]
        likely = likeliest(penalised, width)
        totals = torch.log_softmax(penalised.double(), -1)[likely]
        pairs = zip(likely.tolist(), totals.tolist(), strict=True)
        return [branch.longer(token, score, row) for token, score in pairs if score > -torch.inf]


def merged(branches: Sequence[Branch], columns: int, stop: DraftEnd) -> Draft:
    """The branches as a tree, depth by depth; a prefix that several share is one node."""
    place: dict[tuple[int, ...], int] = {(): ROOT}
    own: list[Tensor] = []
    for depth in range(max(len(branch.tokens) for branch in branches)):
        prefixes = {b.tokens[: depth + 1]: b for b in branches if len(b.tokens) > depth}
        # siblings have the same total before them, so this order is best first among them
        for prefix, branch in sorted(prefixes.items(), key=lambda item: -item[1].totals[depth]):
            place[prefix] = len(own)
            own.append(branch.own_logits[depth])
    ways = list(place)[1:]
    return Draft(
        tuple(way[-1] for way in ways),
        tuple(place[way[:-1]] for way in ways),
        tuple(one_hot(way[-1], columns) for way in ways),
        tuple(own),
        stop,
    )
