"""A run as one frozen object, and the JSON it is saved as.

A live run is a trace that still grows; a recording is one read from a file. Reading checks everything: a file that says
one thing and shows another is refused with a sentence. Standard library only.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from specviz.records import (
    ROOT,
    STOPS,
    BaselineRecord,
    Candidate,
    Costs,
    Difference,
    Fate,
    PlaceRecord,
    StepRecord,
    StopReason,
    TokenRecord,
)
from specviz.settings import KNOBS, RunSettings, SettingsError, SpecvizError

SCHEMA = 2
"""2: a step may ask for another K than that of its settings, and the costs it was chosen by are kept. 1 is read, too."""
MAX_TRACE_CHARS = 20_000_000
BEGINNING = '{"prompt":'
"""How `Trace.to_json` begins: a file that begins so and cannot be read was a trace before it was cut."""
NO_TRACE = "This file is not a specviz trace; choose one that was saved with Save run."
DAMAGED = "This specviz trace is cut short or damaged; copy or save it once more."
log = logging.getLogger("specviz")

__all__ = [
    "ROOT",
    "BaselineRecord",
    "Candidate",
    "Costs",
    "Difference",
    "Fate",
    "PlaceRecord",
    "StepRecord",
    "StopReason",
    "TokenRecord",
    "Trace",
    "TraceError",
    "step_from_dict",
    "step_to_dict",
]


class TraceError(SpecvizError, ValueError):
    """A trace file that cannot be read; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole run. `pair` says what ran where: target, draft, dtype, device, threads, cache mode, versions.

    `output_ids` includes the end token, `text` does not; `text` is decoded from the whole id list and cut before a
    stop string. `costs`: the frozen c and v that the draft length "cost-aware" chose by, under the name of what was
    measured (`calibration.kept_under`); given to another run of the same seed and settings, they make the same run.
    `others`: turns that other visitors took between these steps, which makes their times less sure.
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
    costs: Mapping[str, Costs] = field(default_factory=dict)
    others: int = 0

    @property
    def output_ids(self) -> tuple[int, ...]:
        """All ids emitted, in order."""
        return tuple(token_id for step in self.steps for token_id in step.emitted_ids)

    def to_json(self) -> str:
        """Strict JSON (no NaN). Settings are written once per change."""
        data = {name: getattr(self, name) for name in ("prompt", "prompt_ids", "text", "stop", "prefill_s", "others")}
        data |= {"schema": SCHEMA, "pair": dict(self.pair), "prompt_texts": self.prompt_texts}
        data["baseline"] = None if self.baseline is None else asdict(self.baseline)
        data["costs"] = {name: asdict(costs) for name, costs in self.costs.items()}
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
            data = _object(text)
            if data["schema"] not in (1, SCHEMA):
                raise TraceError(
                    f"This trace was saved by another version of specviz, in schema {str(data['schema'])[:20]}; this one "
                    f"reads up to {SCHEMA}."
                )
            old = data["schema"] == 1
            steps: list[StepRecord] = []
            for raw in data["steps"]:
                raw = {**raw, "asked": None} if old else raw
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
                costs={} if old else {str(name): _costs(raw) for name, raw in data["costs"].items()},
                others=int(data.get("others", 0)),  # not counted before
            )
        except TraceError:
            raise
        except SettingsError as error:
            raise TraceError(f"This trace holds what cannot be: {error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.info("a trace could not be read: %s: %s", type(error).__name__, error)
            raise TraceError(DAMAGED) from error
        _check(trace)
        return trace


def _object(text: str) -> dict[str, Any]:
    """What a trace's text holds. Raises TraceError where it never was one, or was cut."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except TraceError:  # a constant that is no number: a ValueError, too
        raise
    except (ValueError, RecursionError) as error:
        log.info("a file is no JSON: %s: %s", type(error).__name__, error)
        raise TraceError(DAMAGED if text.lstrip().startswith(BEGINNING) else NO_TRACE) from error
    if not isinstance(data, dict) or "schema" not in data:
        raise TraceError(NO_TRACE)
    return data


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
        asked=None if raw["asked"] is None else int(KNOBS["k"].check(raw["asked"])),
        target_positions=int(raw["target_positions"]),
        places=tuple(_place(p) for p in raw["places"]),
        **{name: float(raw[name]) for name in _STEP_TIMES},
    )


_STEP_SCALARS = ("index", "start", "emitted_ids", "stop", "draft_stop", "asked", "target_positions")
_STEP_TIMES = ("draft_s", "verify_s", "other_s", "catch_up_s", "record_s")


def _rounded(data: dict[str, Any]) -> dict[str, Any]:
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in data.items()}


def _token(raw: Mapping[str, Any]) -> TokenRecord:
    return TokenRecord(**{**raw, "fate": Fate(raw["fate"]), "token_id": int(raw["token_id"]), "text": str(raw["text"])})


def _place(raw: Mapping[str, Any]) -> PlaceRecord:
    return PlaceRecord(**{**raw, "candidates": tuple(Candidate(**c) for c in raw["candidates"])})


def _costs(raw: Mapping[str, Any]) -> Costs:
    return Costs(float(raw["cost_ratio"]), tuple((int(places), float(v)) for places, v in raw["verify_cost"]))


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
    raise TraceError(f"This file holds {name} for a number, which specviz never writes; choose another.")


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
