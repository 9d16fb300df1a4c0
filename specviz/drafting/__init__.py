"""Ways to propose tokens. To add a strategy: one file and one line here; its menu entry and knobs come along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.core.settings import NO_DRAFT
from specviz.drafting.base import Drafter, Readers, Strategy
from specviz.drafting.beam import BeamSearch
from specviz.drafting.dynamic_tree import DynamicTree
from specviz.drafting.early_exit import EarlyExit
from specviz.drafting.feature import FeatureHeads, FeatureTree
from specviz.drafting.greedy import Greedy
from specviz.drafting.length import LENGTHS, Length
from specviz.drafting.low_bit import LowBit
from specviz.drafting.ngram_table import NgramTableDraft
from specviz.drafting.none import NoDraft
from specviz.drafting.prompt_lookup import PromptLookup
from specviz.drafting.sampling import Sampling
from specviz.drafting.suffix import SuffixLookup
from specviz.drafting.tree import SampledTree

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.models.where import Progress

STRATEGIES: dict[str, Strategy] = {
    NO_DRAFT: NoDraft(),
    "greedy": Greedy(),
    "sampling": Sampling(),
    "beam search": BeamSearch(),
    "dynamic tree": DynamicTree(),
    "sampled tree": SampledTree(),
    "feature head": FeatureHeads(),
    "feature tree": FeatureTree(),
    "prompt lookup": PromptLookup(),
    "suffix lookup": SuffixLookup(),
    "n-gram table": NgramTableDraft(),
    "early exit": EarlyExit(),
    "8-bit copy": LowBit(8),
    "4-bit copy": LowBit(4),
}


def make_ready(pair: Pair, strategy: str, progress: Progress | None = None) -> None:
    """Load or make what the strategy of that name drafts with, where it is missing: slow, never in a timed phase."""
    if not STRATEGIES[strategy].ready(pair):
        STRATEGIES[strategy].prepare(pair, progress)


__all__ = ["LENGTHS", "STRATEGIES", "Drafter", "Length", "Readers", "Strategy", "make_ready"]
