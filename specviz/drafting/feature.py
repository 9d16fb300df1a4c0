"""Feature head: a small trained layer drafts from the hidden states that the target computed anyway (EAGLE).

The head belongs to one target (see `models.head_store`). It draws like "sampling" above temperature 0 and takes its
likeliest token at 0. After a step it reads the target's true states of what was accepted; only drafted positions are read
from its own output. Where a run switches to it midway, the target reads the text once more for the states: that is
catch-up time, once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.settings import RunSettings
from specviz.core.words import say, sentence
from specviz.drafting.base import Drafter, Readers, Strategy
from specviz.drafting.chain import chain, drawn
from specviz.drafting.dynamic_tree import CONFIDENT, DYNAMIC_TREE
from specviz.drafting.growing import grown
from specviz.drafting.parts import Propose, Reader
from specviz.models.folders import ModelError
from specviz.models.head_reader import HeadReader
from specviz.models.head_store import head_of, head_present, loaded_head
from specviz.models.where import report

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.models.where import Progress


def fits(pair: Pair) -> str | None:
    """A head must have been trained on this very target."""
    try:
        found = head_of(pair.target)
    except ModelError as error:  # a head that cannot be opened is a reason too
        return str(error).removesuffix(".")
    return None if found else say("drafting.no_head", name=pair.target.name)


def ready(pair: Pair) -> bool:
    """Whether the head is in memory."""
    return head_present(pair.target)


def prepare(pair: Pair, progress: Progress | None = None) -> None:
    """Load the head: a tenth of a second."""
    report(progress, None, say("drafting.loading", name=head_of(pair.target)))
    loaded_head(pair.target)


@dataclass(frozen=True, slots=True)
class HeadDrafter:
    """Proposes with `propose_read`, where the target has left hidden states to read."""

    reader: HeadReader
    propose_read: Propose

    @property
    def about(self) -> str:
        """The head's name."""
        return self.reader.head.name

    def adopt(self, settings: RunSettings) -> None:
        """Nothing to do: no knob decides what it reads with."""

    def behind(self, ids: Sequence[int]) -> bool:
        """Also where the target has not kept its states of the text yet."""
        return len(ids) <= self.reader.loaded.context and self.reader.behind(ids) > 0

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read the text so far; the target reads it again first where its states are missing."""
        self.reader.catch_up(ids)

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """Nothing after a single token, which the target has not read yet."""
        if k and not self.reader.can_read(ids):
            return Draft(stop=DraftEnd.NOTHING_READ)
        return self.propose_read(ids, k, settings, coins, start)


def on_head(propose_with: Callable[[Reader, Collection[int]], Propose]) -> Callable[[Readers], Drafter]:
    """`Strategy.start` beside the target's reader, which keeps its hidden states from then on."""

    def start(readers: Readers) -> Drafter:
        target = readers.target.loaded
        reader = HeadReader(loaded_head(target), readers.target)
        return HeadDrafter(reader, propose_with(reader, target.eos_ids))

    return start


FEATURE_HEAD = Strategy(
    help=sentence("help.feature_head"),
    fits=fits,
    ready=ready,
    prepare=prepare,
    start=on_head(partial(chain, pick=drawn)),
)
FEATURE_TREE = replace(
    FEATURE_HEAD,
    help=sentence("help.feature_tree"),
    deterministic=True,
    knobs=DYNAMIC_TREE.knobs,
    nodes=DYNAMIC_TREE.nodes,
    start=on_head(partial(grown, growth=CONFIDENT)),
)
