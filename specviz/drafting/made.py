"""Strategies whose draft model is not the pair's own: made from the target, or found for it, when first wanted.

It is a `LoadedModel` like any other, kept as a companion of its target, and drafts as the strategy "sampling" does: drawn
at the run's temperature, the likeliest token at temperature 0. The pair's own draft model has no part in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.drafting.base import Readers, WithModel
from specviz.drafting.sampling import SamplingDrafter
from specviz.models.cached import CachedModel
from specviz.models.companions import companion, present

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.models.where import Progress


class MadeDraft(WithModel):
    """Subclasses say how the model is made, and what it is called among the target's companions."""

    needs_draft_model = False
    deterministic = False
    name: str

    def make(self, target: LoadedModel, progress: Progress | None = None) -> LoadedModel:
        """The draft model for `target`, which must stay as it is. Raises SpecvizError, one sentence."""
        raise NotImplementedError

    def fits(self, pair: Pair) -> str | None:
        """Fits every pair."""
        return None

    def ready(self, pair: Pair) -> bool:
        """Whether the model has been made."""
        return present(pair.target, self.name)

    def prepare(self, pair: Pair, progress: Progress | None = None) -> None:
        """Make it. Raises what `make` raises."""
        companion(pair.target, self.name, lambda: self.make(pair.target, progress))

    def start(self, readers: Readers) -> MadeDrafter:
        """A drafter with a cache of its own."""
        target = readers.target
        loaded = companion(target.loaded, self.name, lambda: self.make(target.loaded))
        return MadeDrafter(CachedModel(loaded, target.columns), target.loaded.eos_ids)


class MadeDrafter(SamplingDrafter):
    """Draws from its own model; only the target's end tokens end a draft."""

    @property
    def about(self) -> str:
        """What its model is, with its size."""
        return self.reader.loaded.source
