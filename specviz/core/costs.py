"""v(K), what a target pass over K + 1 positions costs, as a function of measured points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specviz.core.settings import SettingsError
from specviz.core.words import sentence

VerifyCost = Callable[[int], float]
"""v(K), 1 for K = 0."""


def interpolated(points: Sequence[tuple[int, float]]) -> VerifyCost:
    """v(K) from measured (positions, ratio) pairs, the first at one position; straight lines between, the last slope beyond.

    Raises SettingsError without a point.
    """
    if not points:
        raise SettingsError(sentence("errors.costs_none"))
    known = sorted(points)

    def v(k: int) -> float:
        positions = k + 1
        if len(known) == 1 or positions <= known[0][0]:
            return known[0][1]
        at = next((i for i, (n, _) in enumerate(known) if n >= positions), len(known) - 1)
        (n0, r0), (n1, r1) = known[at - 1], known[at]
        return r0 + (r1 - r0) * (positions - n0) / (n1 - n0)

    return v
