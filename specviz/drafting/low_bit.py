"""The target itself with rounded weights drafts for the target with its own: nearly the same answers, fewer bytes to read.

Two entries rather than one with a knob: each copy takes seconds to make, and can be made ready and compared by name.
Of the ways tried, torch's own kernels were the only ones faster than the target on a CPU (see `models.lowbit`); the same
rounding through torchao 0.18 was slower than the target (1.6 and 2.6 times its pass).
"""

from __future__ import annotations

from specviz.core.words import sentence
from specviz.drafting.base import Strategy
from specviz.drafting.derived_draft import derived_draft
from specviz.models.lowbit import low_bit, unavailable_reason


def low_bit_copy(bits: int) -> Strategy:
    """Draft with a copy of the target in 8 or 4 `bits`: on a CPU, where the kernels can read its weight matrices."""
    return derived_draft(
        f"{bits} bits",
        sentence("help.low_bit_copy", bits=bits),
        make=lambda target, progress: low_bit(target, bits, progress),
        fits=lambda pair: unavailable_reason(pair.target),
    )
