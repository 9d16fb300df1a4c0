"""Sampling: each token is drawn from the draft model's distribution, shaped by the run's own filters."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from specviz.core.sampling import draw
from specviz.core.settings import RunSettings
from specviz.drafting.base import ChainDrafter, Readers, WithModel, end_ids_of, shaped


class Sampling(WithModel):
    """Drawn drafts, the form the papers analyse."""

    help = "Draws from the draft model at the run's temperature: the form the papers analyse. Best above temperature 0."
    deterministic = False

    def start(self, readers: Readers) -> SamplingDrafter:
        """A drafter over the run's own cache of the draft model."""
        assert readers.draft is not None
        return SamplingDrafter(readers.draft, end_ids_of(readers))


class SamplingDrafter(ChainDrafter):
    """See module."""

    def pick(self, logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
        """Inverse transform with the "draft" coin of this place."""
        probs = shaped(logits, history, settings)
        return draw(probs, coin), probs
