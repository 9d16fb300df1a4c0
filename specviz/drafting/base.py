"""What a strategy and a drafter are.

A strategy is an entry of `STRATEGIES`: it declares its knobs, says whether it fits a pair, and starts a drafter for a run.
A drafter proposes tokens. The outcome of a step reaches it only through the next text that it is given.

`parts` has what drafters are usually made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.settings import Knob, RunSettings
from specviz.core.words import say
from specviz.models.cached import CachedModel

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.models.where import Progress


@dataclass(frozen=True, slots=True)
class Readers:
    """The models of one run, each with its own cache; None where the pair has no draft model."""

    target: CachedModel
    draft: CachedModel | None


class Drafter(Protocol):
    """Proposes tokens for one run."""

    @property
    def about(self) -> str:
        """What it drafts with where that is not the pair's draft model: a few words for the trace, else empty."""
        ...

    def adopt(self, settings: RunSettings) -> None:
        """Take over knobs that decide which model it reads with, before anything is timed."""
        ...

    def behind(self, ids: Sequence[int]) -> bool:
        """Whether it has more to read than a step's worth before it can draft."""
        ...

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read the text so far; timed apart from drafting."""
        ...

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int, /) -> Draft:
        """At most `k` tokens deep after `ids`; `start` is the output position of the first, which keys its coins."""
        ...


def any_pair(pair: Pair) -> str | None:
    """Fits every pair."""
    return None


def has_draft_model(pair: Pair) -> str | None:
    """Fits pairs with a draft model."""
    if pair.draft is None:
        return say("drafting.no_draft_model")
    return None


def no_objection(pair: Pair, settings: RunSettings) -> str | None:
    """Knobs in their range suit every pair."""
    return None


def always_ready(pair: Pair) -> bool:
    """Nothing is needed beside the pair."""
    return True


def nothing_to_prepare(pair: Pair, progress: Progress | None = None) -> None:
    """Nothing is needed beside the pair."""


def one_a_position(k: int, settings: RunSettings) -> int:
    """A chain: one token at each position."""
    return k


class Prepare(Protocol):
    """Loads or makes what a strategy drafts with; reports its progress where `progress` is given."""

    def __call__(self, pair: Pair, progress: Progress | None = None, /) -> None:
        """Raises SpecvizError, one sentence."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """An entry of the strategy menu: one line of help, knobs, and functions. Only `help` and `start` have no default.

    `start(readers)`: a drafter for one run.
    `help`: plain text, or a `sentence` of the catalogue, which the page shows in its own language.
    `needs_draft_model`: it drafts with the pair's draft model, so that by default it fits only pairs that have one.
    `deterministic`: its drafts are point masses, nothing is drawn.
    `knobs`: by the names that they have in `RunSettings.options`.
    `fits(pair)`: None, or the reason why this pair cannot use it.
    `objection(pair, settings)`: None, or what is wrong with its knobs for this pair, though they are in their range.
    `ready(pair)`: whether all that it drafts with is in memory; where not, `prepare` comes first.
    `prepare(pair, progress)`: load or make what is missing (see `models.companions`). Slow; called from any thread, never
    in a timed phase.
    `nodes(k, settings)`: most tokens of a draft `k` > 0 deep; the cost of verification depends on them.
    """

    help: str
    start: Callable[[Readers], Drafter]
    needs_draft_model: bool = False
    deterministic: bool = False
    knobs: Mapping[str, Knob] = field(default_factory=dict)
    fits: Callable[[Pair], str | None] = any_pair
    objection: Callable[[Pair, RunSettings], str | None] = no_objection
    ready: Callable[[Pair], bool] = always_ready
    prepare: Prepare = nothing_to_prepare
    nodes: Callable[[int, RunSettings], int] = one_a_position

    def __post_init__(self) -> None:
        if self.needs_draft_model and self.fits is any_pair:
            object.__setattr__(self, "fits", has_draft_model)
