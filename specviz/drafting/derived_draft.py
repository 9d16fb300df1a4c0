"""Strategies whose draft model is not the pair's own: derived from the target, or found for it, when first wanted.

It is a `LoadedModel` like any other, kept as a companion of its target, and drafts as the strategy "sampling" does: drawn
at the run's temperature, the likeliest token at temperature 0. The pair's own draft model has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from specviz.drafting.base import Drafter, Readers, Strategy
from specviz.drafting.chain import chain, drawn
from specviz.drafting.parts import SimpleDrafter
from specviz.models.cached import CachedModel
from specviz.models.companions import companion, present

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.models.where import Progress

Make = Callable[["LoadedModel", "Progress | None"], "LoadedModel"]
"""``make(target, progress)``: the draft model for `target`, which must stay as it is. Raises SpecvizError, one sentence."""


def derived_draft(name: str, help: str, make: Make, fits: Callable[[Pair], str | None]) -> Strategy:
    """A strategy that drafts with what `make` gives, kept among the target's companions as `name`."""

    def ready(pair: Pair) -> bool:
        return present(pair.target, name)

    def prepare(pair: Pair, progress: Progress | None = None) -> None:
        companion(pair.target, name, lambda: make(pair.target, progress))

    def start(readers: Readers) -> Drafter:
        target = readers.target.loaded
        return drafter_with(companion(target, name, lambda: make(target, None)), readers.target)

    return Strategy(help=help, fits=fits, ready=ready, prepare=prepare, start=start)


def drafter_with(model: LoadedModel, target: CachedModel) -> SimpleDrafter:
    """A drafter that draws from `model`, with a cache of its own; only the target's end tokens end a draft."""
    reader = CachedModel(model, target.columns)
    return SimpleDrafter(chain(reader, target.loaded.eos_ids, drawn), reader, about=model.source)
