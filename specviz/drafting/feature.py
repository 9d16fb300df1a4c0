"""Feature head: a small trained layer drafts from the hidden states that the target computed anyway (EAGLE).

The head belongs to one target (see `models.head_store`). It draws like "sampling" above temperature 0 and takes its
likeliest token at 0. After a step it reads the target's true states of what was accepted; only drafted places are read
from its own output. Where a run switches to it midway, the target reads the text once more for the states: that is
catch-up time, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.sampling import draw
from specviz.core.settings import Knob, RunSettings
from specviz.drafting.base import AlwaysReady, ChainDrafter, ChainStrategy, Drafter, ModelDrafter, Readers, shaped
from specviz.drafting.dynamic_tree import DynamicTree, DynamicTreeDrafter
from specviz.models.folders import ModelError
from specviz.models.head_reader import HeadReader
from specviz.models.head_store import head_of, head_present, loaded_head
from specviz.models.where import report

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.models.where import Progress


class FeatureHeads(ChainStrategy, AlwaysReady):
    """Drafts of a head trained on this target."""

    help = (
        "A small layer trained on this target drafts from the target's own hidden states (EAGLE). Needs no draft model."
    )
    needs_draft_model = False
    deterministic = False
    knobs: Mapping[str, Knob] = {}

    def fits(self, pair: Pair) -> str | None:
        """A head must have been trained on this very target."""
        try:
            found = head_of(pair.target)
        except ModelError as error:  # a head that cannot be opened is a reason too
            return str(error).removesuffix(".")
        return None if found else f"no feature head was trained on {pair.target.name}; choose another strategy"

    def ready(self, pair: Pair) -> bool:
        """Whether the head is in memory."""
        return head_present(pair.target)

    def prepare(self, pair: Pair, progress: Progress | None = None) -> None:
        """Load the head: a tenth of a second."""
        report(progress, None, f"Loading {head_of(pair.target)}.")
        loaded_head(pair.target)

    def start(self, readers: Readers) -> Drafter:
        """A drafter beside the target's reader, which keeps its hidden states from now on."""
        target = readers.target.loaded
        return FeatureDrafter(HeadReader(loaded_head(target), readers.target), target.eos_ids)


class FeatureTree(FeatureHeads):
    """The same head, and a tree shaped by its confidence."""

    help = "Dynamic tree of a feature head's likeliest continuations (EAGLE-2): deep where it is sure, wide where not."
    deterministic = True
    knobs: Mapping[str, Knob] = DynamicTree.knobs

    def nodes(self, k: int, settings: RunSettings) -> int:
        """As many as the strategy "dynamic tree" proposes."""
        return DynamicTree().nodes(k, settings)

    def start(self, readers: Readers) -> Drafter:
        """As above; the head reads all nodes of one depth in one pass."""
        target = readers.target.loaded
        return FeatureTreeDrafter(HeadReader(loaded_head(target), readers.target), target.eos_ids)


class FromStates(ModelDrafter):
    """Common part of drafters over a head: what they draft with, and where they can draft at all."""

    reader: HeadReader

    @property
    def about(self) -> str:
        """The head's name."""
        return self.reader.head.name

    def behind(self, ids: Sequence[int]) -> bool:
        """Also where the target has not kept its states of the text yet."""
        return len(ids) <= self.reader.loaded.context and self.reader.behind(ids) > 0

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """Nothing after a single token, which the target has not read yet."""
        if k and not self.reader.can_read(ids):
            return Draft(stop=DraftEnd.NOTHING_READ)
        draft: Draft = super().propose(ids, k, settings, coins, start)  # type: ignore[misc]  # of the class beside it
        return draft


class FeatureDrafter(FromStates, ChainDrafter):
    """A chain."""

    def pick(self, logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
        """At temperature 0 the argmax as a point mass, else inverse transform with the "draft" coin of this place."""
        probs = shaped(logits, history, settings)
        return (int(probs.argmax()) if settings.temperature == 0 else draw(probs, coin)), probs


class FeatureTreeDrafter(FromStates, DynamicTreeDrafter):
    """A tree."""
