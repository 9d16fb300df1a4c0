"""A run as one frozen object, and the JSON it is saved as.

A live run is a trace that still grows; a recording is one read from a file. Reading checks everything: a file that says
one thing and shows another is invalid, and a sentence says why. Standard library only.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from typing import Any

from specviz.core.records import (
    ROOT,
    BaselineRecord,
    Candidate,
    Costs,
    Difference,
    Fate,
    PositionRecord,
    StepRecord,
    StopReason,
    TokenRecord,
)
from specviz.core.settings import RunSettings, SettingsError
from specviz.core.words import sentence
from specviz.traces import fields as trace_fields
from specviz.traces import reading as trace_reading
from specviz.traces.checks import check
from specviz.traces.fields import TraceError, at, table
from specviz.traces.thinning import LEVELS, thinned

SCHEMA = 2
"""2: a step may ask for another K than that of its settings, and the costs it was chosen by are kept. 1 is read, too."""
MAX_TRACE_CHARS = 100_000_000
"""Above what the longest allowed run writes; the page's limit in bytes is the same (`assets/runs.js`)."""
MOST_WRITTEN = 80_000_000
"""Characters of a trace that is written: less than is read, since a character may take several bytes."""
BEGINNING = '{"prompt":'
"""How `Trace.to_json` begins: a file that begins so and cannot be read was a trace before it was cut."""
NO_TRACE = sentence("errors.no_trace")
DAMAGED = sentence("errors.trace_damaged")
log = logging.getLogger("specviz")

__all__ = [
    "ROOT",
    "BaselineRecord",
    "Candidate",
    "Costs",
    "Difference",
    "Fate",
    "PositionRecord",
    "StepRecord",
    "StopReason",
    "TokenRecord",
    "Trace",
    "TraceError",
    "step_from_dict",
    "step_to_dict",
]


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
        """Strict JSON (no NaN). Settings are written once per change.

        A run whose record would be too large to open again leaves out what `trace_thinning` says, with a warning.
        Raises TraceError where even that is too large.
        """
        data = {name: getattr(self, name) for name in ("prompt", "prompt_ids", "text", "stop", "prefill_s", "others")}
        data |= {"schema": SCHEMA, "pair": dict(self.pair), "prompt_texts": self.prompt_texts}
        data["baseline"] = None if self.baseline is None else _baseline(self.baseline)
        data["costs"] = {name: asdict(costs) for name, costs in self.costs.items()}
        head, frame = _dumped(data), len(',"steps":[')
        for level in LEVELS:
            if (steps := _written(self.steps, level, MOST_WRITTEN - len(head) - frame)) is not None:
                if level:
                    log.warning("This run is so long that its saved trace keeps fewer probabilities.")
                return f'{head[:-1]},"steps":[{",".join(steps)}]}}'
        raise TraceError(sentence("errors.trace_unsaved", most=MOST_WRITTEN // 1_000_000))

    def _repr_html_(self) -> str:
        """The run itself where a notebook shows a value, in a saved notebook too."""
        # by name: the views stand above the traces, and only a notebook asks for this
        return str(import_module("specviz.export.frame").to_frame(self))

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Inverse of `to_json`. Raises TraceError with one sentence for anything else."""
        if len(text) > MAX_TRACE_CHARS:
            raise TraceError(sentence("errors.trace_large", most=MAX_TRACE_CHARS // 1_000_000))
        try:
            data = _object(text)
            trace_fields.check_characters(text, data)
            if data["schema"] not in (1, SCHEMA):
                raise TraceError(sentence("errors.trace_version", schema=str(data["schema"])[:20], known=SCHEMA))
            old = data["schema"] == 1
            trace = cls(
                prompt=trace_fields.text(data, "prompt"),
                prompt_ids=trace_fields.ids(data, "prompt_ids"),
                steps=_steps(trace_fields.items(data, "steps"), old),
                text=trace_fields.text(data, "text"),
                stop=trace_reading.stop_reason(data),
                pair=trace_reading.pair(data["pair"]),
                prefill_s=trace_fields.number(data, "prefill_s", 0, trace_fields.DAY_S),
                prompt_texts=trace_fields.texts(data, "prompt_texts"),
                baseline=trace_reading.baseline(data["baseline"]),
                costs={} if old else {n: trace_reading.costs(raw) for n, raw in table(data["costs"], "costs").items()},
                others=trace_fields.whole(data, "others") if "others" in data else 0,  # not counted before
            )
        except TraceError:
            raise
        except SettingsError as error:
            raise TraceError(sentence("errors.trace_impossible", what=error.sentence)) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.info("a trace could not be read: %s: %s", type(error).__name__, error)
            raise TraceError(DAMAGED) from error
        check(trace)
        return trace


def _object(text: str) -> dict[str, Any]:
    """What a trace's text holds. Raises TraceError where it never was one, or was cut."""
    try:
        data = json.loads(text, parse_constant=_invalid_constant)
    except TraceError:  # a constant that is no number: a ValueError, too
        raise
    except (ValueError, RecursionError) as error:
        log.info("a file is no JSON: %s: %s", type(error).__name__, error)
        raise TraceError(DAMAGED if text.lstrip().startswith(BEGINNING) else NO_TRACE) from error
    if not isinstance(data, dict) or "schema" not in data:
        raise TraceError(NO_TRACE)
    return data


def _dumped(data: Any) -> str:
    return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _written(steps: Sequence[StepRecord], level: int, room: int) -> list[str] | None:
    """Each step as JSON, or None where they take more than `room` characters."""
    written: list[str] = []
    before: RunSettings | None = None
    for step in steps:
        data = step_to_dict(thinned(step, level), with_settings=step.settings != before)
        if level:  # what a reader takes for None anyway
            data["tokens"] = [{k: v for k, v in token.items() if v is not None} for token in data["tokens"]]
        before = step.settings
        written.append(_dumped(data))
        room -= len(written[-1]) + 1
        if room < 0:
            return None
    return written


def step_to_dict(step: StepRecord, with_settings: bool = True) -> dict[str, Any]:
    """Plain data of one step, probabilities to six significant digits (the full float is used for deciding)."""
    data = {name: getattr(step, name) for name in _STEP_SCALARS}
    for name in trace_reading.STEP_TIMES:
        data[name] = round(getattr(step, name), 7)
    data["tokens"] = [_plain(token, _TOKEN) for token in step.tokens]
    data["extra"] = None if step.extra is None else _plain(step.extra, _TOKEN)
    data["places"] = [  # files keep the name of the field in version 0.1
        _plain(position, _POSITION) | {"candidates": [_plain(c, _CANDIDATE) for c in position.candidates]}
        for position in step.positions
    ]
    if with_settings:
        data["settings"] = step.settings.to_dict()
    return data


def step_from_dict(raw: Mapping[str, Any], settings: RunSettings | None) -> StepRecord:
    """Inverse of `step_to_dict`; `settings` is what holds where the step does not carry its own."""
    return trace_reading.step(raw, settings)


def _steps(raws: list[Any], old: bool) -> tuple[StepRecord, ...]:
    steps: list[StepRecord] = []
    for count in range(1, len(raws) + 1):
        raw, raws[count - 1] = raws[count - 1], None  # a long file is not held twice
        with at(f"Step {count} of this trace"):
            raw = {**table(raw, "a step"), "asked": None} if old else raw
            steps.append(trace_reading.step(raw, steps[-1].settings if steps else None))
    return tuple(steps)


_STEP_SCALARS = ("index", "start", "emitted_ids", "stop", "draft_stop", "asked", "target_positions")


_TOKEN, _POSITION, _CANDIDATE = (tuple(f.name for f in fields(k)) for k in (TokenRecord, PositionRecord, Candidate))


def _baseline(record: BaselineRecord) -> dict[str, Any]:
    data = asdict(record)
    if data["difference"] is not None:  # files keep the name of the field in version 0.1
        data["difference"]["place"] = data["difference"].pop("position")
    return data


def _plain(record: Any, names: Sequence[str]) -> dict[str, Any]:
    values = ((name, getattr(record, name)) for name in names)
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in values}


def _invalid_constant(name: str) -> float:
    raise TraceError(sentence("errors.trace_constant", name=name))
