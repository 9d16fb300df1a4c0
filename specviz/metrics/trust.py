"""Whether a measured speed-up can be believed: what no quiet machine could have given is reported as a `Doubt`.

Standard library only. Example: 2.79× at τ = 1.55 is impossible, since a step takes at least one target pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Literal

SLACK = 1.02
"""A speed-up may lie this far above what is possible before it is called impossible: the noise of a quiet machine."""
UNEVEN = 1.25
"""Mean ÷ median of a run of passes, of which all do the same work, above which something else used the machine."""
TOO_GOOD = 1.1
"""Measured ÷ expected above this is no gain but a target alone that was timed on a busier machine."""
ENOUGH = 8
"""Fewer passes have no meaningful median."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why measured times cannot be trusted, with the numbers behind it.

    "beyond": `tau` tokens per pass, the greatest possible speed-up. "uneven": `mean_s` and `median_s` of the target
    alone's passes. "too_good": the `expected` speed-up. "others": `turns` of other users between the timed steps.
    """

    reason: Literal["beyond", "uneven", "too_good", "others"]
    numbers: Mapping[str, float]


def beyond(speed_up: float, tau: float) -> Doubt | None:
    """A speed-up above `tau`, the tokens per target pass, is impossible; None otherwise."""
    return None if speed_up <= SLACK * tau else Doubt("beyond", {"tau": tau})


def uneven(seconds: Sequence[float]) -> Doubt | None:
    """Times of passes over one position each differ too much; None where they are even or few."""
    if len(seconds) < ENOUGH or (middle := median(seconds)) <= 0 or mean(seconds) <= UNEVEN * middle:
        return None
    return Doubt("uneven", {"mean_s": mean(seconds), "median_s": middle})


def too_good(measured: float, expected: float) -> Doubt | None:
    """A speed-up far above what its own α, c and v explain; None otherwise."""
    return None if measured <= TOO_GOOD * expected else Doubt("too_good", {"expected": expected})


def disturbed(others: int) -> Doubt | None:
    """Other users took `others` turns between the timed steps; None for 0."""
    return Doubt("others", {"turns": others}) if others else None
