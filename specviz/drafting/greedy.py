"""Greedy drafting: the draft model's likeliest token at each place.

The token was chosen, not drawn, so its distribution is a point mass and the rule accepts it with the target's own
probability. Taking the draft's softmax for q here would silently break losslessness.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from specviz.core.sampling import check_finite, one_hot, penalise
from specviz.core.settings import RunSettings
from specviz.drafting.base import ChainDrafter, Readers, WithModel, end_ids_of


class Greedy(WithModel):
    """Argmax drafts."""

    help = "The draft model's likeliest token at each place (a point mass: accepted with probability p)."
    deterministic = True

    def start(self, readers: Readers) -> GreedyDrafter:
        """A drafter over the run's own cache of the draft model."""
        assert readers.draft is not None
        return GreedyDrafter(readers.draft, end_ids_of(readers))


class GreedyDrafter(ChainDrafter):
    """See module."""

    def pick(self, logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
        """The argmax after the repetition penalty (temperature and filters do not change it); no coin is used."""
        check_finite(logits)
        token = int(penalise(logits[None], [history], settings.repetition_penalty)[0].argmax())
        return token, one_hot(token, logits.shape[-1])
