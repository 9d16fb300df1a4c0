"""No drafting: every step is one pass of the target over one place, plain autoregressive decoding."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.settings import RunSettings
from specviz.drafting.base import Readers, WithoutModel


class NoDraft(WithoutModel):
    """The target alone, whatever K says."""

    help = "The target alone, one token a pass: what speculation is measured against."

    def start(self, readers: Readers) -> NoDraft:
        """Keeps no state."""
        return self

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """Nothing."""
        return Draft(stop=DraftEnd.NONE)
