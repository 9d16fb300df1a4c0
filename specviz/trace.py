"""A run as plain frozen records: all that a picture, a chart or a lecture needs, and nothing that can draw.

A live run is a trace that still grows; a recording is one read from a file. Standard library only.

Example, K = 3, second token rejected: `tokens` carry the fates [accepted, rejected, untested], `extra` is the resampled
token, `emitted_ids` are the accepted one and the resampled one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from specviz.settings import RunSettings, SpecvizError

SCHEMA = 1
MAX_TRACE_CHARS = 20_000_000

StopReason = Literal["eos", "length", "stop string", "context"]
STOPS: tuple[str, ...] = ("eos", "length", "stop string", "context")
ROOT = -1
"""Parent of a token drafted straight after the text so far."""


class TraceError(SpecvizError, ValueError):
    """A trace file that cannot be read; the sentence says why."""


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
    `target_prob` p(x) is the target's after temperature and filters; `accept_prob` is what the rule made of the two;
    `coin` is the uniform number it was held against (accepted when coin < accept_prob). None: never tested.
    `drafter_prob` and `verifier_prob` are the two models' own softmax (temperature 1, no filter), for the screen only;
    None where there is no model behind the draft. `parent`: index in `StepRecord.tokens`, -1 for the root.
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
    """A token either model thought likely at one place. `draft_prob`, `target_prob` as the rule saw them (after
    temperature and filters); `drafter_prob`, `verifier_prob` the models' own softmax."""

    token_id: int
    text: str
    draft_prob: float | None
    target_prob: float
    drafter_prob: float | None
    verifier_prob: float


@dataclass(frozen=True, slots=True)
class PlaceRecord:
    """The two distributions at one place that the walk visited.

    `node`: index of the token whose continuation this is, -1 for the root. `overlap` β = Σ min(target, draft), exact
    over the whole vocabulary; None where nothing was drafted (a bonus place). Tails: mass not in `candidates`.
    """

    node: int
    overlap: float | None
    candidates: tuple[Candidate, ...]
    draft_tail: float | None
    target_tail: float


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One draft → one target pass → verify → emit. Times in seconds, device-synchronised, nothing of the screen inside.

    `draft_stop`: why drafting ended: "k" (as many as asked), "room" (length or context limit near), "end token",
    "no match" (n-gram), "none" (no drafting asked). `target_positions`: places the target computed in this pass.
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
    places: tuple[PlaceRecord, ...] = ()

    @property
    def k(self) -> int:
        """The speculation length asked for; fewer may have been drafted, see `draft_stop`."""
        return self.settings.k

    @property
    def strategy(self) -> str:
        """Name in `drafting.STRATEGIES`."""
        return self.settings.strategy

    @property
    def step_s(self) -> float:
        """Decoding time of the step: draft + verify + other."""
        return self.draft_s + self.verify_s + self.other_s

    def count(self, fate: Fate) -> int:
        """Number of drafted tokens with this fate."""
        return sum(token.fate is fate for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Difference:
    """First place where the run and the target alone part at temperature 0, with the target's own two logits there."""

    place: int
    run_id: int
    run_text: str
    alone_id: int
    alone_text: str
    run_logit: float
    alone_logit: float

    @property
    def margin(self) -> float:
        """How far apart the two logits are; 0 is a perfect tie."""
        return abs(self.alone_logit - self.run_logit)


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """The target alone on the same prompt and settings, in the same process, warmed up, prefill kept out.

    `step_s`: seconds of each token. `identical`: whether the outputs agree over the shorter of the two; None above
    temperature 0 (two fair draws need not agree) or where the run changed its settings midway. `tie_bound`: a margin
    below this is called a near-tie of this dtype.
    """

    output_ids: tuple[int, ...]
    step_s: tuple[float, ...]
    identical: bool | None = None
    compared: int = 0
    difference: Difference | None = None
    tie_bound: float = 0.0

    @property
    def tokens_per_s(self) -> float | None:
        """None where nothing was measured."""
        return len(self.step_s) / sum(self.step_s) if sum(self.step_s) > 0 else None


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole run. `pair` says what ran where: target, draft, dtype, device, threads, cache mode, versions.

    `output_ids` includes the end token, `text` does not; `text` is decoded from the whole id list and cut before a
    stop string.
    """

    prompt: str
    prompt_ids: tuple[int, ...]
    steps: tuple[StepRecord, ...]
    text: str
    stop: StopReason | None
    pair: Mapping[str, Any]
    prefill_s: float = 0.0
    prompt_texts: tuple[str, ...] = ()
    baseline: BaselineRecord | None = None

    @property
    def output_ids(self) -> tuple[int, ...]:
        """All ids emitted, in order."""
        return tuple(token_id for step in self.steps for token_id in step.emitted_ids)

    def to_json(self) -> str:
        """Strict JSON (no NaN). Settings are written once per change."""
        data = {name: getattr(self, name) for name in ("prompt", "prompt_ids", "text", "stop", "prefill_s")}
        data |= {"schema": SCHEMA, "pair": dict(self.pair), "prompt_texts": self.prompt_texts}
        data["baseline"] = None if self.baseline is None else asdict(self.baseline)
        data["steps"] = steps = []
        before: RunSettings | None = None
        for step in self.steps:
            steps.append(step_to_dict(step, with_settings=step.settings != before))
            before = step.settings
        return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Inverse of `to_json`. Raises TraceError with one sentence for anything else."""
        if len(text) > MAX_TRACE_CHARS:
            raise TraceError(f"This trace is larger than {MAX_TRACE_CHARS // 1_000_000} MB; record a shorter run.")
        try:
            data = json.loads(text, parse_constant=_refuse_constant)
            if not isinstance(data, dict) or data.get("schema") != SCHEMA:
                raise TraceError(f"Not a specviz trace of schema {SCHEMA}; save it again with this version.")
            steps: list[StepRecord] = []
            for raw in data["steps"]:
                steps.append(step_from_dict(raw, steps[-1].settings if steps else None))
            trace = cls(
                prompt=str(data["prompt"]),
                prompt_ids=tuple(map(int, data["prompt_ids"])),
                steps=tuple(steps),
                text=str(data["text"]),
                stop=_stop(data["stop"]),
                pair=dict(data["pair"]),
                prefill_s=float(data["prefill_s"]),
                prompt_texts=tuple(map(str, data["prompt_texts"])),
                baseline=_baseline(data["baseline"]),
            )
        except TraceError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise TraceError(f"This file is not a complete specviz trace ({type(error).__name__}: {error}).") from error
        _check(trace)
        return trace


def step_to_dict(step: StepRecord, with_settings: bool = True) -> dict[str, Any]:
    """Plain data of one step, probabilities to six significant digits (the full float is used for deciding)."""
    data = {name: getattr(step, name) for name in _STEP_SCALARS}
    for name in _STEP_TIMES:
        data[name] = round(getattr(step, name), 7)
    data["tokens"] = [_rounded(asdict(token)) for token in step.tokens]
    data["extra"] = None if step.extra is None else _rounded(asdict(step.extra))
    data["places"] = [
        _rounded(asdict(place)) | {"candidates": [_rounded(asdict(c)) for c in place.candidates]}
        for place in step.places
    ]
    if with_settings:
        data["settings"] = step.settings.to_dict()
    return data


def step_from_dict(raw: Mapping[str, Any], settings: RunSettings | None) -> StepRecord:
    """Inverse of `step_to_dict`; `settings` is what holds where the step does not carry its own."""
    if "settings" in raw:
        settings = RunSettings.from_dict(raw["settings"])
    if settings is None:
        raise TraceError("The first step of this trace carries no settings.")
    return StepRecord(
        settings=settings,
        tokens=tuple(_token(t) for t in raw["tokens"]),
        extra=None if raw["extra"] is None else _token(raw["extra"]),
        emitted_ids=tuple(map(int, raw["emitted_ids"])),
        stop=_stop(raw["stop"]),
        index=int(raw["index"]),
        start=int(raw["start"]),
        draft_stop=str(raw["draft_stop"]),
        target_positions=int(raw["target_positions"]),
        places=tuple(_place(p) for p in raw["places"]),
        **{name: float(raw[name]) for name in _STEP_TIMES},
    )


_STEP_SCALARS = ("index", "start", "emitted_ids", "stop", "draft_stop", "target_positions")
_STEP_TIMES = ("draft_s", "verify_s", "other_s", "catch_up_s", "record_s")


def _rounded(data: dict[str, Any]) -> dict[str, Any]:
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in data.items()}


def _token(raw: Mapping[str, Any]) -> TokenRecord:
    return TokenRecord(**{**raw, "fate": Fate(raw["fate"]), "token_id": int(raw["token_id"]), "text": str(raw["text"])})


def _place(raw: Mapping[str, Any]) -> PlaceRecord:
    return PlaceRecord(**{**raw, "candidates": tuple(Candidate(**c) for c in raw["candidates"])})


def _baseline(raw: Mapping[str, Any] | None) -> BaselineRecord | None:
    if raw is None:
        return None
    difference = None if raw["difference"] is None else Difference(**raw["difference"])
    ids, times = tuple(map(int, raw["output_ids"])), tuple(map(float, raw["step_s"]))
    return BaselineRecord(**{**raw, "output_ids": ids, "step_s": times, "difference": difference})


def _stop(value: Any) -> StopReason | None:
    if value is not None and value not in STOPS:
        raise TraceError(f"Unknown stop reason {value!r}; known are {', '.join(STOPS)}.")
    return value


def _refuse_constant(name: str) -> float:
    raise TraceError(f"{name} is not JSON; this trace was not written by specviz.")


def _check(trace: Trace) -> None:
    """Counts must add up: a trace that says one thing and shows another is refused."""
    start = 0
    for place, step in enumerate(trace.steps):
        extra = () if step.extra is None else (step.extra.token_id,)
        numbers = [n for t in (*step.tokens, *([step.extra] if step.extra else [])) for n in _numbers(t)]
        if step.index != place or step.start != start:
            raise TraceError(f"Step {place} of this trace is out of order.")
        if len(step.emitted_ids) != step.count(Fate.ACCEPTED) + len(extra):
            raise TraceError(f"Step {place} of this trace emits another number of tokens than it accepts.")
        if not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
            raise TraceError(f"Step {place} of this trace holds a figure that is not a number.")
        if not all(ROOT <= token.parent < here for here, token in enumerate(step.tokens)):
            raise TraceError(f"Step {place} of this trace has a token whose parent comes later.")
        start += len(step.emitted_ids)


def _numbers(token: TokenRecord) -> list[Any]:
    figures = (token.draft_prob, token.drafter_prob, token.target_prob, token.verifier_prob)
    return [n for n in (*figures, token.accept_prob, token.coin) if n is not None]
