"""What theory expects of speculative decoding, before and after measuring: Leviathan et al. (arXiv 2211.17192, section 3).

α: chance that a tested token is accepted; c: a draft pass ÷ a target pass; v(K): a target pass over K + 1 positions ÷ over
one (the paper takes 1: "verification is free"). Standard library only, plain numbers in and out.

Example: ``speed_up(0.8, 5, 0)`` is 3.69, ``best_k(0.7, 0.1)`` is 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specviz.core.costs import VerifyCost
from specviz.core.settings import MAX_K, SettingsError
from specviz.core.words import say

Short = Sequence[tuple[int, float]]
"""Drafts that end early whatever K is: pairs of (length, share of all steps). ``((0, 0.3),)``: in 30 % of the steps a
look-up found nothing."""


def free(k: int) -> float:
    """The textbook's v: a pass over K + 1 positions costs what one over a single position costs."""
    return 1.0


def expected_tokens(alpha: float, k: int) -> float:
    """(1 − α^(K+1)) / (1 − α): tokens a step, its own one included, for independent tests (equation 1)."""
    _check(alpha, k)
    return k + 1.0 if alpha == 1 else (1 - alpha ** (k + 1)) / (1 - alpha)


def expected_by_position(acceptance: Sequence[float]) -> float:
    """1 + Σ_i Π_{j ≤ i} a_j: tokens a step where position i has its own chance `acceptance[i]`, given all before it."""
    reached, tokens = 1.0, 1.0
    for chance in acceptance:
        reached *= chance
        tokens += reached
    return tokens


def tokens_a_step(alpha: float, k: int, short: Short = ()) -> float:
    """`expected_tokens` where some drafts end early. Example: ``tokens_a_step(1, 4, ((0, 0.5),))`` is (5 + 1) / 2."""
    return sum(share * expected_tokens(alpha, length) for length, share in _lengths(k, short))


def cost_of_step(k: int, c: float, v: VerifyCost = free, short: Short = ()) -> float:
    """K·c + v(K), in target passes over one position, where some drafts end early."""
    return sum(share * (length * c + v(length)) for length, share in _lengths(k, short))


def speed_up(alpha: float, k: int, c: float, v: VerifyCost = free, short: Short = ()) -> float:
    """Tokens a second ÷ those of the target alone (theorem 3.8; with v = 1 the paper's own formula). K = 0 gives 1."""
    _check(alpha, k, c)
    return tokens_a_step(alpha, k, short) / cost_of_step(k, c, v, short)


def operations(alpha: float, k: int, c_ops: float) -> float:
    """Arithmetic operations ÷ those of the target alone (theorem 3.11); `c_ops`: the cost ratio in operations."""
    _check(alpha, k, c_ops)
    return (k * c_ops + k + 1) / expected_tokens(alpha, k)


def best_k(alpha: float, c: float, v: VerifyCost = free, most: int = MAX_K, short: Short = ()) -> int:
    """The K from 0 to `most` with the greatest speed-up; the smallest of equals. 0: no K helps."""
    best = 0
    for k in range(1, most + 1):
        if speed_up(alpha, k, c, v, short) > speed_up(alpha, best, c, v, short) + 1e-12:
            best = k
    return best


def break_even_alpha(c: float, v: VerifyCost = free, most: int = MAX_K, short: Short = ()) -> float | None:
    """The acceptance rate above which some K from 1 to `most` helps; None where none helps even at α = 1.

    With v = 1 it is c. Some K helps exactly when max over K of Σ_{i=1…K} αⁱ − K·c − (v(K) − 1) is above 0.
    """

    def helps(alpha: float) -> bool:
        return any(tokens_a_step(alpha, k, short) - cost_of_step(k, c, v, short) > 0 for k in range(1, most + 1))

    low, high = 0.0, 1.0
    if not helps(high):
        return None
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if helps(middle) else (middle, high)
    return high


def most_tokens(alpha: float) -> float:
    """1 / (1 − α): tokens a target pass that no K exceeds."""
    _check(alpha, 0)
    return math.inf if alpha == 1 else 1 / (1 - alpha)


def oracle_speed_up(alpha: float, c: float) -> float:
    """1 / (1 − α + α·c): the speed-up of a drafter that knew where to stop (section 3.6)."""
    _check(alpha, 0, c)
    cost = 1 - alpha + alpha * c
    return math.inf if cost == 0 else 1 / cost


@dataclass(frozen=True, slots=True)
class Breakdown:
    """From the textbook's speed-up to the measured one, each factor a cause; their product is measured ÷ textbook.

    `textbook`: formula with α and c, verification free, tests independent. `missing`: what drafts take that end early or
    are not there (nothing found, an end token, no room). `verification`: what v(K) takes of that. `dependence`: acceptance by
    position instead of one α (above 1 where acceptance comes in runs). `overhead`: all else (the loop, the mean K not being
    K, noise).
    """

    textbook: float
    missing: float
    verification: float
    dependence: float
    overhead: float
    measured: float


def breakdown(
    alpha: float, by_position: Sequence[float], k: int, c: float, v: VerifyCost, measured: float, short: Short = ()
) -> Breakdown:
    """Explain a measured speed-up at one K. `by_position`: conditional acceptance of positions 1 … K."""
    textbook, with_short = speed_up(alpha, k, c), speed_up(alpha, k, c, short=short)
    with_v = speed_up(alpha, k, c, v, short)
    tokens = sum(share * expected_by_position(list(by_position)[:length]) for length, share in _lengths(k, short))
    with_positions = tokens / cost_of_step(k, c, v, short)
    return Breakdown(
        textbook,
        with_short / textbook,
        with_v / with_short,
        with_positions / with_v,
        measured / with_positions,
        measured,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether some K helps. "best": K = `best` gives `gain` times the target alone. "too_dear": a step costs more than
    its tokens gain even at α = 1. "below_break_even": α lies below `break_even`."""

    code: Literal["best", "too_dear", "below_break_even"]
    best: int = 0
    gain: float = 1.0
    break_even: float | None = None


def verdict(alpha: float, c: float, v: VerifyCost = free, most: int = MAX_K, short: Short = ()) -> Verdict:
    """The best K, or why no K can help."""
    best, needed = best_k(alpha, c, v, most, short), break_even_alpha(c, v, most, short)
    if best:
        return Verdict("best", best, speed_up(alpha, best, c, v, short), needed)
    return Verdict("too_dear" if needed is None else "below_break_even", break_even=needed)


@dataclass(frozen=True, slots=True)
class Theory:
    """The formula with one run's values. Example: ``Theory(0.7, 0.1).gain(4)`` is 1.98."""

    alpha: float
    c: float
    v: VerifyCost = free
    short: Short = ()

    def gain(self, k: int) -> float:
        """Speed-up to expect at this K."""
        return speed_up(self.alpha, k, self.c, self.v, self.short)

    def best(self) -> int:
        """The K that promises most, 0 where none promises anything."""
        return best_k(self.alpha, self.c, self.v, short=self.short)

    def verdict(self) -> Verdict:
        """The best K, or why no K can help."""
        return verdict(self.alpha, self.c, self.v, short=self.short)


def ended_early(short: Short) -> float:
    """Share of the steps whose draft ended early."""
    return sum(share for _, share in short)


def _lengths(k: int, short: Short) -> list[tuple[int, float]]:
    """(draft length, share of the steps) at this K."""
    return [(k, 1 - ended_early(short)), *((min(k, length), share) for length, share in short)]


def _check(alpha: float, k: int, c: float = 0.0) -> None:
    if not 0 <= alpha <= 1:
        raise SettingsError(say("findings.alpha_invalid", alpha=f"{alpha:g}"))
    if k < 0 or not c >= 0:
        raise SettingsError(say("findings.cost_invalid", k=k, c=f"{c:g}"))
