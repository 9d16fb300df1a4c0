"""The target itself with rounded weights drafts for the target with its own: nearly the same answers, fewer bytes to read.

Two entries rather than one with a knob: each copy takes seconds to make, and can be made ready and compared by name.
Of the ways tried, torch's own kernels were the only ones faster than the target on a CPU (see `models.lowbit`); the same
rounding through torchao 0.18 was slower than the target (1.6 and 2.6 times its pass).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.drafting.made import MadeDraft
from specviz.models.lowbit import low_bit, refusal

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.models.where import Progress


class LowBit(MadeDraft):
    """A copy of the target in `bits` bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.name = f"{bits} bits"
        self.help = f"The target with its weights rounded to {bits} bits drafts for the target itself. Made in seconds."

    def fits(self, pair: Pair) -> str | None:
        """On a CPU, a model with weight matrices that the kernels can read."""
        return refusal(pair.target)

    def make(self, target: LoadedModel, progress: Progress | None = None) -> LoadedModel:
        """The rounded copy."""
        return low_bit(target, self.bits, progress)
