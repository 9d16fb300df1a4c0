"""Ways to propose tokens. To add a strategy: one file, its import and one line here (CONTRIBUTING.md has an example)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.core.settings import NO_DRAFT
from specviz.drafting.base import Drafter, Readers, Strategy
from specviz.drafting.beam import BEAM_SEARCH
from specviz.drafting.chain import GREEDY, NONE, SAMPLING
from specviz.drafting.dynamic_tree import DYNAMIC_TREE
from specviz.drafting.early_exit import EARLY_EXIT
from specviz.drafting.feature import FEATURE_HEAD, FEATURE_TREE
from specviz.drafting.length import LENGTHS, Length
from specviz.drafting.low_bit import low_bit_copy
from specviz.drafting.ngram_table import NGRAM_TABLE
from specviz.drafting.prompt_lookup import PROMPT_LOOKUP
from specviz.drafting.suffix import SUFFIX_LOOKUP
from specviz.drafting.tree import SAMPLED_TREE

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.models.where import Progress

STRATEGIES: dict[str, Strategy] = {
    NO_DRAFT: NONE,
    "greedy": GREEDY,
    "sampling": SAMPLING,
    "beam search": BEAM_SEARCH,
    "dynamic tree": DYNAMIC_TREE,
    "sampled tree": SAMPLED_TREE,
    "feature head": FEATURE_HEAD,
    "feature tree": FEATURE_TREE,
    "prompt lookup": PROMPT_LOOKUP,
    "suffix lookup": SUFFIX_LOOKUP,
    "n-gram table": NGRAM_TABLE,
    "early exit": EARLY_EXIT,
    "8-bit copy": low_bit_copy(8),
    "4-bit copy": low_bit_copy(4),
}


def make_ready(pair: Pair, strategy: str, progress: Progress | None = None) -> None:
    """Load or make what the strategy of that name drafts with, where it is missing: slow, never in a timed phase."""
    if not STRATEGIES[strategy].ready(pair):
        STRATEGIES[strategy].prepare(pair, progress)


__all__ = ["LENGTHS", "STRATEGIES", "Drafter", "Length", "Readers", "Strategy", "make_ready"]
