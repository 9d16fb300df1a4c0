"""Early exit: the target's own first layers draft, and the whole target verifies (self-speculative decoding).

LayerSkip (arXiv 2404.16710) trains a model so that its final norm and head can read any layer; Draft & Verify
(arXiv 2309.08168) leaves out layers of a model as it is. Most models were not trained for it: of SmolLM2-135M's 30 layers
the first 10 name the target's likeliest token at 4 in 100 positions, the first 25 at 30 in 100.

Greedy and sampled drafts need no two entries: at temperature 0 the draw is the likeliest token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.settings import RunSettings, knob
from specviz.core.words import say, sentence
from specviz.drafting.base import Drafter, Readers, Strategy
from specviz.drafting.derived_draft import drafter_with
from specviz.models.cached import CachedModel
from specviz.models.companions import companion
from specviz.models.shallow import depth, shallow

if TYPE_CHECKING:
    from specviz.models.pair import Pair

EXIT = knob("exit_layer", 0, 0, 63, 1, whole=True)


def exit_of(settings: RunSettings, layers: int) -> int:
    """The layer to leave at, of a target with so many: the knob, or a third where that is 0."""
    return int(settings.options.get("exit_layer", EXIT.default)) or max(1, layers // 3)


def fits(pair: Pair) -> str | None:
    """A decoder built like Llama, of two layers or more."""
    layers = depth(pair.target.model)
    if layers is None:
        return say("drafting.not_llama", name=pair.target.name)
    if layers < 2:
        return say("drafting.one_layer", name=pair.target.name, layers=layers)
    return None


def objection(pair: Pair, settings: RunSettings) -> str | None:
    """The exit must leave out at least one layer."""
    layers = depth(pair.target.model) or 0
    if (chosen := exit_of(settings, layers)) < layers:
        return None
    return say("drafting.exit_range", name=pair.target.name, layers=layers, most=layers - 1, given=chosen)


class EarlyExitDrafter:
    """Drafts with the layers that the knob asks for. Another exit layer is another model with an empty cache."""

    def __init__(self, target: CachedModel) -> None:
        self.target = target
        self.layers = depth(target.loaded.model) or 0
        self.exit = exit_of(RunSettings(), self.layers)
        self.drafter = self._at_exit()

    def _at_exit(self) -> Drafter:
        layers, target = self.exit, self.target.loaded
        # one model for all runs
        model = companion(target, f"first {layers} layers", lambda: shallow(target, layers))
        return drafter_with(model, self.target)

    @property
    def about(self) -> str:
        """How many layers draft."""
        return self.drafter.about

    def adopt(self, settings: RunSettings) -> None:
        """Read with the layers that the knob asks for."""
        chosen = exit_of(settings, self.layers)
        if chosen != self.exit:
            self.exit = chosen
            self.drafter = self._at_exit()

    def behind(self, ids: Sequence[int]) -> bool:
        """Whether these layers have more to read than a step's worth."""
        return self.drafter.behind(ids)

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read the text so far with these layers."""
        self.drafter.catch_up(ids)

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A chain of up to `k` draws."""
        self.adopt(settings)
        return self.drafter.propose(ids, k, settings, coins, start)


def start(readers: Readers) -> Drafter:
    """A drafter with a cache of its own."""
    return EarlyExitDrafter(readers.target)


EARLY_EXIT = Strategy(
    help=sentence("help.early_exit"),
    knobs={"exit_layer": EXIT},
    fits=fits,
    objection=objection,
    start=start,
)
