"""Early exit: the target's own first layers draft, and the whole target verifies (self-speculative decoding).

LayerSkip (arXiv 2404.16710) trains a model so that its final norm and head can read any layer; Draft & Verify
(arXiv 2309.08168) leaves out layers of a model as it is. Most models were not trained for it: of SmolLM2-135M's 30 layers
the first 10 name the target's likeliest token at 4 in 100 places, the first 25 at 30 in 100.

Greedy and sampled drafts need no two entries: at temperature 0 the draw is the likeliest token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.settings import Knob, RunSettings
from specviz.drafting.base import Readers
from specviz.drafting.made import MadeDraft, MadeDrafter
from specviz.models.cached import CachedModel
from specviz.models.companions import companion
from specviz.models.shallow import depth, shallow

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.models.where import Progress

EXIT = Knob(
    "exit layer",
    0,
    0,
    63,
    1,
    "Layers of the target that draft: more agree better and cost more. 0 is a third of them.",
    whole=True,
)


def exit_of(settings: RunSettings, layers: int) -> int:
    """The layer to leave at, of a target with so many: the knob, or a third where that is 0."""
    return int(settings.options.get("exit_layer", EXIT.default)) or max(1, layers // 3)


class EarlyExit(MadeDraft):
    """The first layers of the target."""

    help = (
        "The target's own first layers draft, with its norm and head: no second model. Pays in models trained for it."
    )
    knobs: Mapping[str, Knob] = MappingProxyType({"exit_layer": EXIT})

    def fits(self, pair: Pair) -> str | None:
        """A decoder built like Llama, of two layers or more."""
        layers = depth(pair.target.model)
        if layers is None:
            return f"{pair.target.name} is not built like Llama (layers, norm, head); draft with prompt lookup"
        if layers < 2:
            return f"{pair.target.name} has only {layers} layer, so none can be left out; draft with prompt lookup"
        return None

    def objection(self, pair: Pair, settings: RunSettings) -> str | None:
        """The exit must leave out at least one layer."""
        layers = depth(pair.target.model) or 0
        if (chosen := exit_of(settings, layers)) < layers:
            return None
        return (
            f"{pair.target.name} has {layers} layers, so the exit layer must be from 1 to {layers - 1}; "
            f"you gave {chosen}"
        )

    def ready(self, pair: Pair) -> bool:
        """Nothing is computed or copied, so there is nothing to wait for."""
        return True

    def prepare(self, pair: Pair, progress: Progress | None = None) -> None:
        """Nothing to load."""

    def start(self, readers: Readers) -> EarlyExitDrafter:
        """A drafter with a cache of its own."""
        return EarlyExitDrafter(readers.target)


class EarlyExitDrafter(MadeDrafter):
    """See module. Another exit layer is another reader, which begins with an empty cache."""

    def __init__(self, target: CachedModel) -> None:
        self.target = target
        self.layers = depth(target.loaded.model) or 0
        self.exit = 0
        self.adopt(RunSettings())
        super().__init__(self.reader, target.loaded.eos_ids)

    def adopt(self, settings: RunSettings) -> None:
        """Read with the layers that the knob asks for."""
        chosen = exit_of(settings, self.layers)
        if chosen != self.exit:
            self.exit = chosen
            self.reader = CachedModel(_shared(self.target.loaded, chosen), self.target.columns)

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A chain of up to `k` draws."""
        self.adopt(settings)
        return super().propose(ids, k, settings, coins, start)


def _shared(target: LoadedModel, layers: int) -> LoadedModel:
    """One for all runs."""
    return companion(target, f"first {layers} layers", lambda: shallow(target, layers))
