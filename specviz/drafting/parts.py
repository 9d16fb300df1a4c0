"""Parts that drafters are made of: a drafter of one function, what it reads with, and what it asks at each token."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.sampling import one_hot, shape
from specviz.core.settings import RunSettings
from specviz.drafting.base import Drafter, Readers
from specviz.drafting.length import LENGTHS

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel

Propose = Callable[[Sequence[int], int, RunSettings, Coins, int], Draft]
"""``propose(ids, k, settings, coins, start)``, see `Drafter.propose`."""


class Reader(Protocol):
    """What a drafter reads with: a `CachedModel`, or anything that answers like one."""

    loaded: LoadedModel
    columns: int

    def behind(self, ids: Sequence[int]) -> int:
        """How many positions have not been read yet."""
        ...

    def catch_up(self, ids: Sequence[int]) -> object:
        """Read them."""
        ...

    def logits(self, ids: Sequence[int], last: int = 1) -> Tensor:
        """[last, columns], after each of the last ids."""
        ...

    def tree_logits(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int], last: int | None = None
    ) -> Tensor:
        """[1 + nodes or last, columns], after the text and each node of a tree."""
        ...


@dataclass(frozen=True, slots=True)
class SimpleDrafter:
    """A `Drafter` made of its `propose`. `reader`: the model that it reads with, None where it needs none."""

    propose: Propose
    reader: Reader | None = None
    about: str = ""

    def adopt(self, settings: RunSettings) -> None:
        """Nothing to do: no knob decides what it reads with."""

    def behind(self, ids: Sequence[int]) -> bool:
        """After a full acceptance one extra position is read along with the first draft; more is catching up."""
        reader = self.reader
        return reader is not None and len(ids) <= reader.loaded.context and reader.behind(ids) > 1

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read the text so far into the model's cache."""
        if self.reader is not None:
            self.reader.catch_up(ids)


def on_draft_model(propose_with: Callable[[Reader, Collection[int]], Propose]) -> Callable[[Readers], Drafter]:
    """`Strategy.start` over the run's own cache of the pair's draft model.

    `propose_with(reader, end_ids)` gives the drafter's `propose`.
    """

    def start(readers: Readers) -> Drafter:
        assert readers.draft is not None
        return SimpleDrafter(propose_with(readers.draft, end_ids_of(readers)), readers.draft)

    return start


def on_text(find: Callable[[Sequence[int], int, RunSettings], Sequence[int]]) -> Callable[[Readers], Drafter]:
    """`Strategy.start` without a model: ``find(ids, k, settings)`` gives up to `k` > 0 token ids to propose after `ids`."""

    def start(readers: Readers) -> Drafter:
        def propose(ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
            return point_masses(find(ids, k, settings) if k else (), k, readers)

        return SimpleDrafter(propose)

    return start


def point_masses(token_ids: Sequence[int], k: int, readers: Readers) -> Draft:
    """A chain of at most `k` tokens that were chosen, not drawn, up to the target's first end token.

    Fewer than `k` tokens: the draft ends with the match that they were copied from.
    """
    end_ids = readers.target.loaded.eos_ids
    found = tuple(token_ids[:k])
    end = next((here for here, token in enumerate(found) if token in end_ids), None)
    if not k:
        stop = DraftEnd.NONE
    elif not found:
        stop = DraftEnd.NO_MATCH
    elif end is not None:
        found, stop = found[: end + 1], DraftEnd.END_TOKEN
    else:
        stop = DraftEnd.K if len(found) == k else DraftEnd.END_OF_MATCH
    probs = tuple(one_hot(token, readers.target.columns) for token in found)
    return Draft(found, tuple(range(-1, len(found) - 1)), probs, None, stop)


def goes_on(own_logits: Tensor, token: int, settings: RunSettings) -> bool:
    """Whether drafting goes on after `token`, which is kept either way (see `length`).

    `own_logits` [vocabulary]: the drafter's raw logits there; its own probability is their softmax.
    """
    return not LENGTHS[settings.draft_length].ends_after(partial(own_prob, own_logits, token), settings)


def own_prob(own_logits: Tensor, token: int) -> float:
    """The drafter's own probability of `token`: temperature 1, no filter."""
    return float((own_logits[token] - own_logits.logsumexp(-1)).exp())


def end_ids_of(readers: Readers) -> frozenset[int]:
    """An end token of either model ends a draft; only the target's end tokens end the run."""
    own = readers.draft.loaded.eos_ids if readers.draft else frozenset()
    return frozenset(readers.target.loaded.eos_ids) | frozenset(own)


def shaped(logits: Tensor, history: Sequence[int], settings: RunSettings) -> Tensor:
    """One row of logits [vocabulary] through the run's filters."""
    return shape(logits[None], [history], settings)[0]
