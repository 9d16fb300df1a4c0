"""What a strategy is, and the loop that all drafters with a model share.

A strategy is a line in `STRATEGIES`: it declares its knobs, says whether it fits a pair, and starts a drafter for a run.
A drafter proposes; it never learns the outcome from anybody, the next text that it is shown tells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.sampling import shape
from specviz.core.settings import Knob, RunSettings
from specviz.drafting.length import LENGTHS
from specviz.models.cached import CachedModel

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
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
        """Take over knobs that decide what it reads with, before anything is timed."""
        ...

    def behind(self, ids: Sequence[int]) -> bool:
        """Whether it has more to read than a step's worth before it can draft."""
        ...

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read the text so far; timed apart from drafting."""
        ...

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """At most `k` tokens deep after `ids`; `start` is the output position of the first, which keys its coins."""
        ...


class Strategy(Protocol):
    """An entry of the strategy menu. `deterministic`: its drafts are point masses, nothing is drawn."""

    help: str
    needs_draft_model: bool
    deterministic: bool
    knobs: Mapping[str, Knob]

    def fits(self, pair: Pair) -> str | None:
        """None, or the reason why this pair cannot use it."""
        ...

    def objection(self, pair: Pair, settings: RunSettings) -> str | None:
        """None, or what is wrong with its knobs for this pair, though they are in their range."""
        ...

    def ready(self, pair: Pair) -> bool:
        """Whether all that it drafts with is in memory; where not, `prepare` comes first."""
        ...

    def prepare(self, pair: Pair, progress: Progress | None = None) -> None:
        """Load or make what is missing (see `models.companions`): slow, from any thread, never in a timed phase.

        Raises SpecvizError, one sentence.
        """
        ...

    def nodes(self, k: int, settings: RunSettings) -> int:
        """Most tokens that a draft `k` > 0 deep holds; they are what its verification costs."""
        ...

    def start(self, readers: Readers) -> Drafter:
        """A drafter for one run."""
        ...


class ChainStrategy:
    """Common part of strategies that propose one token after another."""

    def nodes(self, k: int, settings: RunSettings) -> int:
        """One a place."""
        return k


class AlwaysReady:
    """Common part of strategies that need nothing beside the pair, and whose knobs suit every pair."""

    def objection(self, pair: Pair, settings: RunSettings) -> str | None:
        """Nothing to object to."""
        return None

    def ready(self, pair: Pair) -> bool:
        """Nothing is missing."""
        return True

    def prepare(self, pair: Pair, progress: Progress | None = None) -> None:
        """Nothing to load."""


class WithoutModel(ChainStrategy, AlwaysReady):
    """Common part of drafters that read nothing."""

    needs_draft_model = False
    deterministic = True
    knobs: Mapping[str, Knob] = {}
    about = ""

    def fits(self, pair: Pair) -> str | None:
        """Fits every pair."""
        return None

    def adopt(self, settings: RunSettings) -> None:
        """It reads with nothing."""

    def behind(self, ids: Sequence[int]) -> bool:
        """Never: it keeps no cache."""
        return False

    def catch_up(self, ids: Sequence[int]) -> None:
        """Nothing to read."""


class WithModel(ChainStrategy, AlwaysReady):
    """Common part of strategies that draft with the pair's draft model."""

    needs_draft_model = True
    knobs: Mapping[str, Knob] = {}

    def fits(self, pair: Pair) -> str | None:
        """The pair must have a draft model."""
        if pair.draft is None:
            return "this pair has no draft model; load one, or draft with prompt lookup"
        return None


class Reader(Protocol):
    """What a drafter reads with: a `CachedModel`, or anything that answers like one."""

    loaded: LoadedModel
    columns: int

    def behind(self, ids: Sequence[int]) -> int:
        """How many places have not been read yet."""
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


class ModelDrafter:
    """Common part of drafters that read with a model."""

    @property
    def about(self) -> str:
        """Empty: the trace names the pair's draft model anyway."""
        return ""

    def __init__(self, reader: Reader, end_ids: Collection[int]) -> None:
        self.reader = reader
        self.end_ids = end_ids

    def adopt(self, settings: RunSettings) -> None:
        """It reads with the same model whatever the knobs say."""

    def behind(self, ids: Sequence[int]) -> bool:
        """After a full acceptance one extra place is read along with the first draft; more is catching up."""
        return len(ids) <= self.reader.loaded.context and self.reader.behind(ids) > 1

    def catch_up(self, ids: Sequence[int]) -> None:
        """Read the text so far into the draft model's cache."""
        self.reader.catch_up(ids)


class ChainDrafter(ModelDrafter):
    """Drafts one token after another with a model. Subclasses say how a token is picked from the logits."""

    def pick(self, logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
        """The token, and the distribution [vocabulary] that it was really drawn from."""
        raise NotImplementedError

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A chain of up to `k` tokens, shorter after an end token or at the end of the draft model's own context."""
        text = list(ids)
        tokens: list[int] = []
        probs: list[Tensor] = []
        own: list[Tensor] = []
        stop = DraftEnd.K if k else DraftEnd.NONE
        while len(tokens) < k:
            if len(text) > self.reader.loaded.context:
                stop = DraftEnd.DRAFT_CONTEXT
                break
            logits = self.reader.logits(text)[0].cpu()
            token, drawn_from = self.pick(logits, text, settings, coins(start + len(tokens), "draft", 0))
            text.append(token)
            tokens.append(token)
            probs.append(drawn_from)
            own.append(logits)
            # kept although it ends the draft: dropping a token because of what it is would change q
            if token in self.end_ids:
                stop = DraftEnd.END_TOKEN
                break
            if len(tokens) < k and not goes_on(logits, token, settings):
                stop = DraftEnd.CONFIDENCE
                break
        return Draft(tuple(tokens), tuple(range(-1, len(tokens) - 1)), tuple(probs), tuple(own), stop)


def goes_on(own_logits: Tensor, token: int, settings: RunSettings) -> bool:
    """Whether drafting goes on after `token`, which is kept either way (see `length`).

    `own_logits` [vocabulary]: the drafter's raw logits there; its own probability is their softmax.
    """
    return not LENGTHS[settings.draft_length].ends_after(partial(own_prob, own_logits, token), settings)


def own_prob(own_logits: Tensor, token: int) -> float:
    """What the drafter itself gives `token`: temperature 1, no filter."""
    return float((own_logits[token] - own_logits.logsumexp(-1)).exp())


def end_ids_of(readers: Readers) -> frozenset[int]:
    """A drafted end token of either model ends the draft; only the target's end the run."""
    own = readers.draft.loaded.eos_ids if readers.draft else frozenset()
    return frozenset(readers.target.loaded.eos_ids) | frozenset(own)


def shaped(logits: Tensor, history: Sequence[int], settings: RunSettings) -> Tensor:
    """One row of logits [vocabulary] through the run's filters."""
    return shape(logits[None], [history], settings)[0]
