"""All randomness of a run: numbers in [0, 1) that are a function of (seed, output position, purpose, sibling).

No generator, no state, no order of calls: the number a student sees is the number that was used, two strategies meet
the same coin at the same position of the output, and nobody else's run can disturb it. Standard library only.

Example: ``coin(1, 0, "accept")`` is the same float on every machine, for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Literal

Purpose = Literal["draft", "accept", "emit"]
Coins = Callable[[int, Purpose, int], float]
"""``coins(position, purpose, sibling)``: position counts output tokens from 0."""


def coin(seed: int, position: int, purpose: Purpose, sibling: int = 0) -> float:
    """Uniform in [0, 1) with 53 random bits (all that a float between 0 and 1 can hold evenly).

    "draft": which token the drafter draws; "accept": whether the rule keeps it; "emit": the correction or bonus.
    """
    digest = blake2b(f"{seed}/{position}/{purpose}/{sibling}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / (1 << 53)


def coins_of(seed: int) -> Coins:
    """The coins of one run."""
    return partial(coin, seed)
