"""Is the output really unchanged? A recorded position made ready to be replayed, and what counts say about a distribution.

A position is cut to the tokens that were recorded there and one symbol for all others. On that smaller vocabulary a rule is
again a rule of its own, with the target and the draft summed up in the same way: what is lossless is lossless there too,
and nothing outside has to be guessed. Numpy only; the rules themselves are replayed in `verification.replay`.

Example: 100,000 fair draws of twenty tokens are about 0.005 away from their own distribution in total variation:
``chance(probs, 100_000)`` says by how much exactly, so that a distance can be held against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from specviz.core.records import PositionRecord, StepRecord, TokenRecord
from specviz.core.settings import SpecvizError
from specviz.core.words import say

OTHERS = "all others"
"""Name of the symbol that stands for every token that was not recorded; not shown as it is."""
ALARM = 1e-4
"""A p-value below it is called a difference; a right rule is wrongly accused once in ten thousand tests."""
RARE = 5.0
"""Outcomes expected less often are counted together: below it χ² has no χ² distribution."""
_NEAR = 1e-3  # saved probabilities have six digits, quotients of them a little less
Array = NDArray[np.float64]
Counts = NDArray[np.int64]


# ----------------------------------------------------------------------------------------------------------- the position


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """One verified position on the vocabulary of what was recorded there; all arrays are [symbols] and sum to 1.

    `texts`: the symbols, the last one `OTHERS` where anything lies outside. `draft`: what the first sibling was drawn
    from. `siblings`: symbols that were drafted, in the order of their trial. `drawn`: "chosen" (point masses), or how
    siblings after the first were drawn: "independently", or "without replacement". `own`: the drafter's own
    softmax; None where no model is behind the draft.
    """

    texts: tuple[str, ...]
    target: Array
    draft: Array
    siblings: tuple[int, ...]
    drawn: Literal["chosen", "independently", "without replacement"]
    own: Array | None
    tails: tuple[float, float]

    @property
    def certain(self) -> int | None:
        """The symbol that the target gives all its mass, as at temperature 0; None elsewhere."""
        likeliest = int(self.target.argmax())
        return likeliest if self.target[likeliest] > 1 - 1e-12 else None

    def source(self, rejected: tuple[int, ...]) -> Array | None:
        """What the sibling after those `rejected` comes from; None where there is no further sibling."""
        if len(rejected) >= len(self.siblings):
            return None
        if self.drawn == "chosen":
            return point(self.siblings[len(rejected)], len(self.texts))
        if self.drawn == "independently" or not rejected:
            return self.draft
        left = self.draft.copy()
        left[list(rejected)] = 0
        return left / left.sum() if left.sum() > 0 else None

    def only(self, symbol: int) -> Stand:
        """The same position, had this one symbol been chosen as the draft."""
        return replace(self, siblings=(symbol,), drawn="chosen", draft=point(symbol, len(self.texts)))


def stand(step: StepRecord, position: PositionRecord) -> Stand:
    """The position as the rule met it. Raises SpecvizError, a sentence, where nothing was drafted or too little recorded."""
    tokens = [token for token in step.tokens if token.parent == position.node]
    if not tokens or position.draft_tail is None:
        raise SpecvizError(say("lossless.not_drafted"))
    symbol = {c.token_id: i for i, c in enumerate(position.candidates)}
    target = [c.target_prob for c in position.candidates]
    draft = [c.draft_prob or 0.0 for c in position.candidates]
    own = [c.drafter_prob for c in position.candidates]
    tails = (position.target_tail, position.draft_tail)
    texts = [c.text for c in position.candidates]
    own_rest = max(0.0, 1 - sum(p for p in own if p is not None))
    if max(*tails, own_rest) > 1e-6:
        texts.append(OTHERS)
        target.append(tails[0])
        draft.append(tails[1])
        own.append(own_rest)
    known = None if None in own else _scaled([p or 0.0 for p in own])
    siblings = tuple(symbol[t.token_id] for t in tokens)
    made = Stand(tuple(texts), _scaled(target), _scaled(draft), siblings, "independently", known, tails)
    return replace(made, drawn=_drawn(made, tokens))


def _drawn(made: Stand, tokens: list[TokenRecord]) -> Literal["chosen", "independently", "without replacement"]:
    """Told from the probabilities that the siblings carry, so that a new strategy needs no line here."""
    carried = [token.draft_prob or 0.0 for token in tokens]
    if all(q == 1 for q in carried):
        return "chosen"
    if _close(carried, [made.draft[s] for s in made.siblings]):
        return "independently"
    # where the siblings before took nearly all, the rest is a difference of rounded numbers
    rest = [max(1e-12, 1 - b) for b in np.cumsum([0.0, *(made.draft[s] for s in made.siblings[:-1])])]
    if _close(carried, [made.draft[s] / r for s, r in zip(made.siblings, rest, strict=True)], [2e-6 / r for r in rest]):
        return "without replacement"
    raise SpecvizError(say("lossless.not_recorded"))


def _close(some: list[float], others: list[float], more: Sequence[float] = ()) -> bool:
    allowed = [_NEAR + n for n in more] or [_NEAR] * len(some)
    return all(abs(a - b) <= n * max(a, b) for a, b, n in zip(some, others, allowed, strict=True))


def _scaled(mass: list[float]) -> Array:
    values = np.array(mass, dtype=np.float64)
    scaled: Array = values / values.sum()
    return scaled


def point(symbol: int, size: int) -> Array:
    """All mass on one symbol: [size]."""
    mass = np.zeros(size)
    mass[symbol] = 1.0
    return mass


# ---------------------------------------------------------------------------------------------------------- the figures


@dataclass(frozen=True, slots=True)
class Chance:
    """Total variation distance of that many fair draws from their own distribution: its mean, exact, and a bound that
    it exceeds once in 20 times (simulated)."""

    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """Pearson's χ² with its degrees of freedom, and the chance that fair draws give as much or more.

    No degrees of freedom: one outcome holds all that could be told apart; p is then 1, or 0 for an impossible outcome.
    """

    value: float
    freedom: int
    p: float

    @property
    def differs(self) -> bool:
        """Whether chance is no explanation any more."""
        return self.p < ALARM


def total_variation(one: Array, other: Array) -> float:
    """½ Σ |one − other| of two distributions [symbols]: the mass that would have to be moved."""
    return float(np.abs(one - other).sum() / 2)


def chance(probs: Array, draws: int, most: float = 0.95, simulations: int = 2000, seed: int = 0) -> Chance:
    """What `draws` fair draws from `probs` [symbols] give for total variation; `most`: the quantile of the bound."""
    fair = np.random.default_rng(seed).multinomial(draws, probs, simulations) / draws
    apart = np.abs(fair - probs).sum(1) / 2
    return Chance(sum(mean_deviation(float(p), draws) for p in probs) / 2, float(np.quantile(apart, most)))


def mean_deviation(p: float, draws: int) -> float:
    """E|X/n − p| of n Bernoulli draws: 2·v·C(n, v)·p^v·(1 − p)^(n − v + 1)/n with v = ⌊n·p⌋ + 1 (De Moivre, 1730)."""
    if not 0 < p < 1:
        return 0.0
    v = math.floor(draws * p) + 1
    if v > draws:  # p so near to 1 that only X = n is on this side
        return 2 * (1 - p) * p**draws
    ways = math.lgamma(draws + 1) - math.lgamma(v + 1) - math.lgamma(draws - v + 1)
    log = ways + v * math.log(p) + (draws - v + 1) * math.log1p(-p)
    return 2 * v * math.exp(log) / draws


def chi_square(counts: Counts, probs: Array) -> ChiSquare:
    """Counts [symbols] against `probs` [symbols]; rare outcomes are counted together, impossible ones are a verdict."""
    if bool((counts[probs <= 0] > 0).any()):
        return ChiSquare(math.inf, 0, 0.0)
    expected, seen = probs * counts.sum(), counts.astype(np.float64)
    rare = expected < RARE
    expected = np.append(expected[~rare], expected[rare].sum())
    seen = np.append(seen[~rare], seen[rare].sum())
    if expected[-1] < RARE and len(expected) > 1:  # too rare even together: with the rarest of the others
        last = int(expected[:-1].argmin())
        expected[last] += expected[-1]
        seen[last] += seen[-1]
        expected, seen = expected[:-1], seen[:-1]
    if len(expected) < 2:
        return ChiSquare(0.0, 0, 1.0)
    value = float(((seen - expected) ** 2 / expected).sum())
    return ChiSquare(value, len(expected) - 1, chi_square_tail(value, len(expected) - 1))


def chi_square_tail(value: float, freedom: int) -> float:
    """Chance of a χ² of `freedom` ≥ 1 degrees of at least `value`: the finite sums of Abramowitz and Stegun, 26.4.4-5."""
    if value <= 0:
        return 1.0
    half, odd = value / 2, freedom % 2
    # terms of exp(−y)·Σ y^j/Γ(j + 1), over halves where the number of degrees is odd
    powers = np.arange(freedom // 2) + (0.5 if odd else 0.0)
    logs = [-half + j * math.log(half) - math.lgamma(j + 1) for j in powers]
    return min(1.0, (math.erfc(math.sqrt(half)) if odd else 0.0) + math.fsum(map(math.exp, logs)))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What was counted of one rule, against the distribution that it should have. `counts`, `probs`: [symbols]."""

    counts: Counts
    probs: Array
    chance: Chance

    @property
    def draws(self) -> int:
        """How many outcomes were counted."""
        return int(self.counts.sum())

    @property
    def distance(self) -> float:
        """Total variation of the counted shares from `probs`."""
        return total_variation(self.counts / self.counts.sum(), self.probs)

    @property
    def test(self) -> ChiSquare:
        """The χ² test of the counts."""
        return chi_square(self.counts, self.probs)
