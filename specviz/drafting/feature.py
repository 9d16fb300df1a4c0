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

from specviz.coins import Coins
from specviz.drafting.base import AlwaysReady, ChainDrafter, ChainStrategy, Readers, shaped
from specviz.models.folders import ModelError
from specviz.models.head_reader import HeadReader
from specviz.models.head_store import head_of, head_present, loaded_head
from specviz.models.where import report
from specviz.sampling import check_finite, draw
from specviz.settings import Knob, RunSettings
from specviz.verification import Draft

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

    def start(self, readers: Readers) -> FeatureDrafter:
        """A drafter beside the target's reader, which keeps its hidden states from now on."""
        target = readers.target.loaded
        return FeatureDrafter(HeadReader(loaded_head(target), readers.target), target.eos_ids)


class FeatureDrafter(ChainDrafter):
    """See module."""

    reader: HeadReader

    def behind(self, ids: Sequence[int]) -> bool:
        """Also where the target has not kept its states of the text yet."""
        return len(ids) <= self.reader.loaded.context and self.reader.behind(ids) > 0

    def pick(self, logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
        """At temperature 0 the argmax as a point mass, else inverse transform with the "draft" coin of this place."""
        check_finite(logits)
        probs = shaped(logits, history, settings)
        return (int(probs.argmax()) if settings.temperature == 0 else draw(probs, coin)), probs

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A chain of up to `k` tokens; none after a single token, which the target has not read yet."""
        if k and not self.reader.can_read(ids):
            return Draft(stop="nothing read")
        return super().propose(ids, k, settings, coins, start)
