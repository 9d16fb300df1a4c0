"""Walk along a draft and decide what is kept.

Knows nothing of models, text or time. A draft is a tree; a chain is a tree with one child at each node, and the same
walk verifies both. Example, chain of 3, second token rejected: verdicts for tokens 0 and 1, path (0,), one correction.

At a node, each child in order is accepted with the rule's `accept_prob`, else what is left of the target becomes the
rule's `residual`. No child left: the correction is drawn from the rest. At a leaf: the bonus is drawn from the target.
With one sampled child this is speculative sampling, with point-mass children token-by-token matching, with several
sampled children recursive rejection (SpecInfer, arXiv 2305.09781, algorithm 3).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import ROOT
from specviz.core.sampling import draw
from specviz.verification.base import Rule


@dataclass(frozen=True, slots=True)
class Verdict:
    """A tested token: accepted when coin < accept_prob."""

    accept_prob: float
    coin: float

    @property
    def accepted(self) -> bool:
        """Whether the token was kept."""
        return self.coin < self.accept_prob


@dataclass(frozen=True, slots=True)
class Walk:
    """Outcome of a walk. `path`: accepted tokens, root first. `extra`: the target's own token, None after an end
    token was accepted. `rejected`: the walk ended in a rejection, so `extra` is a correction, not a bonus."""

    verdicts: dict[int, Verdict]
    path: tuple[int, ...]
    extra: int | None
    extra_coin: float | None
    rejected: bool


def any_accept_prob(draft: Draft, siblings: Sequence[int], target_probs: Tensor, rule: Rule) -> float:
    """Chance that one of these drafted siblings is accepted when they are tried in order: 1 − Π (1 − accept_prob).

    `target_probs` [vocabulary]: the target's at their position. Example, two point masses: the sum of their probabilities.
    """
    rejected, left = 1.0, target_probs
    for node in siblings:
        token, draft_probs = draft.token_ids[node], draft.probs[node]
        rejected *= 1 - rule.accept_prob(token, left, draft_probs)
        left = rule.residual(token, left, draft_probs)
    return 1 - rejected


def verify(
    draft: Draft, target_probs: Tensor, rule: Rule, coins: Coins, start: int, end_ids: Collection[int] = ()
) -> Walk:
    """Decide about `draft`.

    `target_probs` [drafted + 1, vocabulary], CPU: row 0 follows the text so far, row i + 1 follows token i. `start`:
    output position of the first token, which keys the coins. An accepted token in `end_ids` ends the walk.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(draft.parents):
        children.setdefault(parent, []).append(node)

    verdicts: dict[int, Verdict] = {}
    path: list[int] = []
    here = ROOT
    while True:
        position, left = start + len(path), target_probs[here + 1]
        for sibling, node in enumerate(children.get(here, ())):
            token, draft_probs = draft.token_ids[node], draft.probs[node]
            verdicts[node] = verdict = Verdict(
                rule.accept_prob(token, left, draft_probs), coins(position, "accept", sibling)
            )
            if verdict.accepted:
                here = node
                path.append(node)
                break
            left = rule.residual(token, left, draft_probs)
        else:
            coin = coins(position, "emit", 0)
            return Walk(verdicts, tuple(path), draw(left, coin), coin, rejected=here in children)
        if draft.token_ids[here] in end_ids:
            return Walk(verdicts, tuple(path), None, None, rejected=False)
