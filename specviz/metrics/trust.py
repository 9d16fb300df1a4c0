"""Whether a measured speed-up can be believed: what no quiet machine could have given is told as that.

Standard library only. Example: 2.79× at τ = 1.55 cannot be, since a step takes at least a pass of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median

SLACK = 1.02
"""A speed-up may lie this far above what is possible before it is called impossible: the noise of a quiet machine."""
UNEVEN = 1.25
"""Mean ÷ median of a run of passes, of which all do the same work, above which something else used the machine."""
TOO_GOOD = 1.1
"""Measured ÷ expected above this is no gain but a target alone that was timed on a busier machine."""
ENOUGH = 8
"""Fewer passes have no middle to speak of."""
BUSIER = "the machine was busier while the target alone was timed. Measure the target alone again."


def beyond(speed_up: float, tau: float) -> str:
    """Why a speed-up above the tokens a target pass cannot be; nothing where it can. `tau`: tokens a pass."""
    if speed_up <= SLACK * tau:
        return ""
    return f"{tau:.2f} tokens a pass allow {tau:.2f}× at most, so {BUSIER}"


def uneven(seconds: Sequence[float]) -> str:
    """What speaks against times of passes over one place each, nothing where they are even or few."""
    if len(seconds) < ENOUGH or (middle := median(seconds)) <= 0 or mean(seconds) <= UNEVEN * middle:
        return ""
    return (
        f"A pass of the target alone took {1000 * mean(seconds):,.0f} ms on average, but {1000 * middle:,.0f} ms in the "
        "middle: something else used the machine meanwhile. Measure the target alone again when it is quiet."
    )


def too_good(measured: float, expected: float) -> str:
    """Why a speed-up far above what its own α, c and v explain cannot be; nothing where it can."""
    if measured <= TOO_GOOD * expected:
        return ""
    return f"By α at each place, c and v no more than {expected:.2f}× was to be expected: {BUSIER}"


def disturbed(others: int) -> str:
    """What speaks against times between which others took turns; nothing where nobody did. `others`: their turns."""
    if not others:
        return ""
    turns = "1 step of others" if others == 1 else f"{others:,} steps of others"
    return (
        f"Between the steps that were timed came {turns}, and what comes between slows the next. Measure again alone."
    )
