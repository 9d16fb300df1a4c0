"""The records that a run is made of: a token, a position, a step, and the target alone beside them. They cannot draw.

Frozen and plain, so that a picture, a chart or a lecture can be made of them and nothing can be done to them. Standard
library only.

Example, K = 3, second token rejected: `tokens` carry the fates [accepted, rejected, untested], `extra` is the resampled
token, `emitted_ids` are the accepted one and the resampled one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from specviz.core.settings import RunSettings, SettingsError
from specviz.core.words import sentence


class StopReason(StrEnum):
    """Why a run ended."""

    EOS = "eos"
    LENGTH = "length"
    STOP_STRING = "stop string"
    CONTEXT = "context"


class DraftEnd(StrEnum):
    """Why drafting ended in a step."""

    K = "k"
    """As many tokens as asked for."""
    ROOM = "room"
    """The token limit or the context limit is near."""
    END_TOKEN = "end token"
    CONFIDENCE = "confidence"
    """The drafter was unsure of its last token."""
    NO_MATCH = "no match"
    """A lookup found nothing."""
    END_OF_MATCH = "end of match"
    """A lookup found fewer tokens than asked for."""
    DRAFT_CONTEXT = "draft context"
    """The draft model's own context is full."""
    NOTHING_READ = "nothing read"
    """The target has not processed the text yet whose hidden states the drafter needs."""
    FAILED = "draft failed: its logits are not numbers"
    NONE = "none"
    """No draft was asked for."""


ROOT = -1
"""Parent of a token drafted straight after the text so far."""


def path_to(parents: Sequence[int], node: int) -> list[int]:
    """Indices from the root's child down to `node` in a draft whose tokens name their parents; empty for the root."""
    way: list[int] = []
    while node != ROOT:
        way.append(node)
        node = parents[node]
    return way[::-1]


class Fate(StrEnum):
    """What became of a token. See the README's glossary; colours and marks are in `views.palette` alone."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNTESTED = "untested"
    RESAMPLED = "resampled"
    BONUS = "bonus"


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """One token, drafted or emitted by the target.

    Probabilities: `draft_prob` q(x) is of the distribution that the token was really drawn from (1 for a point mass);
    `target_prob` p(x) is the target's after temperature and filters, at the token's own position after its parent. The
    target pass computes it for every drafted token, so untested tokens have it, too; it is None in old files only.
    `accept_prob` is what the rule made of the two; `coin` is the uniform number that it was compared with (accepted when
    coin < accept_prob). Both are None for an untested token: ask `fate`, not `target_prob`, what was tested.
    `drafter_prob` and `verifier_prob` are the two models' own softmax (temperature 1, no filter), for the screen only;
    `drafter_prob` is None where no model is behind the draft. `parent`: index in `StepRecord.tokens`, -1 for the root.
    For `extra`: `coin` is the number that drew it, `target_prob` the target's probability of it.
    """

    token_id: int
    text: str
    fate: Fate
    parent: int = ROOT
    draft_prob: float | None = None
    drafter_prob: float | None = None
    target_prob: float | None = None
    verifier_prob: float | None = None
    accept_prob: float | None = None
    coin: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token either model thought likely at one position. `draft_prob`, `target_prob` as the rule saw them (after
    temperature and filters) when it tried the first of the drafted siblings; later siblings may be of other
    distributions, see their own `TokenRecord`. `drafter_prob`, `verifier_prob` the models' own softmax."""

    token_id: int
    text: str
    draft_prob: float | None
    target_prob: float
    drafter_prob: float | None
    verifier_prob: float


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """The two distributions at one position that the walk visited.

    `node`: index of the token whose continuation this is, -1 for the root. `overlap` β = Σ min(target, draft), exact
    over the whole vocabulary, with the distribution that the first sibling was drawn from: the chance that speculative
    sampling accepts the first. None where nothing was drafted (a bonus position). Tails: mass not in `candidates`.
    `accept_prob`: where several siblings were drafted, the chance that the rule takes one of these very tokens; None
    elsewhere, since the one token's own `accept_prob` says it.
    """

    node: int
    overlap: float | None
    candidates: tuple[Candidate, ...]
    draft_tail: float | None
    target_tail: float
    accept_prob: float | None = None


PlaceRecord = PositionRecord
"""The name that it had in version 0.1."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What drafting and verifying cost, in target passes over one position; measured once and frozen for a run.

    `cost_ratio` c: drafting one position. `verify_cost` v: pairs of (positions, cost of one pass over them), from (1, 1.0) on
    by rising positions (`core.costs.interpolated` makes a function of them).
    The textbook's costs are ``Costs(c)``: v = 1 however many positions. Raises SettingsError.
    """

    cost_ratio: float
    verify_cost: tuple[tuple[int, float], ...] = ((1, 1.0),)

    def __post_init__(self) -> None:
        positions, ratios = [n for n, _ in self.verify_cost], [v for _, v in self.verify_cost]
        numbers = all(math.isfinite(x) for x in (self.cost_ratio, *ratios))
        if not numbers or self.cost_ratio < 0 or min(ratios, default=0) <= 0:
            raise SettingsError(sentence("errors.costs_numbers"))
        if positions != sorted(set(positions)) or positions[0] != 1:
            raise SettingsError(sentence("errors.costs_rising"))


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One draft → one target pass → verify → emit. Times in seconds, device-synchronised, nothing of the screen inside.

    `asked`: K of this step as the policy chose it (`drafting.length`); None, as in old files, is that of the settings.
    `draft_stop`: why drafting ended, a `DraftEnd`; files of other versions may hold other words.
    `target_positions`: positions the target computed in this pass.
    `catch_up_s`: reading text into a cache that had not seen it (first step, change of strategy); not decoding time.
    `record_s`: making this record; not part of `other_s`.
    """

    index: int
    start: int
    settings: RunSettings
    tokens: tuple[TokenRecord, ...]
    extra: TokenRecord | None
    emitted_ids: tuple[int, ...]
    stop: StopReason | None
    draft_stop: str
    target_positions: int
    draft_s: float
    verify_s: float
    other_s: float
    catch_up_s: float = 0.0
    record_s: float = 0.0
    positions: tuple[PositionRecord, ...] = ()
    asked: int | None = None

    @property
    def k(self) -> int:
        """The speculation length asked for; fewer may have been drafted, see `draft_stop`."""
        return self.settings.k if self.asked is None else self.asked

    @property
    def places(self) -> tuple[PositionRecord, ...]:
        """`positions` under the name that they had in version 0.1."""
        return self.positions

    @property
    def strategy(self) -> str:
        """Name in `drafting.STRATEGIES`."""
        return self.settings.strategy

    @property
    def step_s(self) -> float:
        """Decoding time of the step: draft + verify + other."""
        return self.draft_s + self.verify_s + self.other_s

    @property
    def depth(self) -> int:
        """Length of the longest branch that was drafted, 0 where nothing was; of a chain the number of its tokens."""
        depth = {ROOT: 0}
        for node, token in enumerate(self.tokens):
            depth[node] = depth[token.parent] + 1
        return max(depth.values())

    def count(self, fate: Fate) -> int:
        """Number of drafted tokens with this fate."""
        return sum(token.fate is fate for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Difference:
    """First position where the run and the target alone part at temperature 0, with the target's own two logits there."""

    position: int
    run_id: int
    run_text: str
    alone_id: int
    alone_text: str
    run_logit: float
    alone_logit: float

    @property
    def place(self) -> int:
        """`position` under the name that it had in version 0.1."""
        return self.position

    @property
    def margin(self) -> float:
        """How far apart the two logits are; 0 is a perfect tie."""
        return abs(self.alone_logit - self.run_logit)


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """The target alone on the same prompt and settings, in the same process, warmed up, prefill kept out.

    `step_s`: seconds of each token. `identical`: whether the outputs agree over the shorter of the two; None above
    temperature 0 (two fair draws need not agree) or where the run changed its settings midway. `tie_bound`: a margin
    below this is called a near-tie of this dtype. `others`: turns that others took meanwhile; 0: the machine was ours.
    """

    output_ids: tuple[int, ...]
    step_s: tuple[float, ...]
    identical: bool | None = None
    compared: int = 0
    difference: Difference | None = None
    tie_bound: float = 0.0
    others: int = 0

    @property
    def tokens_per_s(self) -> float | None:
        """None where nothing was measured."""
        return len(self.step_s) / sum(self.step_s) if sum(self.step_s) > 0 else None
