"""The plain data of a saved trace as records, field by field. Raises TraceError, one sentence, for what is no trace.

Whether the records agree with each other is asked in `trace_checks`. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
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
from specviz.core.settings import KNOBS, RunSettings, shown
from specviz.core.words import sentence
from specviz.traces.fields import (
    DAY_S,
    FINITE,
    TraceError,
    at,
    ids,
    items,
    must,
    number,
    prob,
    prob_or_none,
    table,
    text,
    texts,
    times,
    whole,
)


def stop_reason(raw: Mapping[str, Any]) -> StopReason | None:
    """The field "stop"."""
    value = raw["stop"]
    if value is None:
        return None
    if not isinstance(value, str) or value not in set(StopReason):
        raise TraceError(sentence("errors.trace_stop", given=shown(value), known=", ".join(StopReason)))
    return StopReason(value)


def step(raw: Mapping[str, Any], settings: RunSettings | None) -> StepRecord:
    """One step; `settings` is what holds where the step does not carry its own."""
    raw = table(raw, "a step")
    if "settings" in raw:
        settings = _settings(raw["settings"])
    if settings is None:
        raise TraceError(sentence("errors.trace_settings"))
    made = {name: number(raw, name, 0, DAY_S) for name in STEP_TIMES}
    return StepRecord(
        settings=settings,
        tokens=tuple(_numbered("drafted token", _token, items(raw, "tokens"))),
        extra=None if raw["extra"] is None else _token(raw["extra"]),
        emitted_ids=ids(raw, "emitted_ids"),
        stop=stop_reason(raw),
        index=whole(raw, "index"),
        start=whole(raw, "start"),
        draft_stop=text(raw, "draft_stop"),
        asked=None if raw["asked"] is None else int(KNOBS["k"].check(raw["asked"])),
        target_positions=whole(raw, "target_positions"),
        positions=tuple(_numbered("position", _position, items(raw, "places"))),
        **made,
    )


STEP_TIMES = ("draft_s", "verify_s", "other_s", "catch_up_s", "record_s")


def costs(raw: Any) -> Costs:
    """Costs of one strategy. Raises SettingsError for what no costs can be."""
    _known(raw := table(raw, "costs"), Costs)
    pairs = [pair if isinstance(pair, list) and len(pair) == 2 else [None, None] for pair in items(raw, "verify_cost")]
    ratios = tuple((whole({"places": n}, "places"), number({"v": v}, "v", -FINITE, FINITE)) for n, v in pairs)
    return Costs(number(raw, "cost_ratio", -FINITE, FINITE), ratios)


def baseline(raw: Any) -> BaselineRecord | None:
    """The target alone, where it was measured."""
    if raw is None:
        return None
    with at("The baseline of this trace"):
        _known(raw := table(raw, "baseline"), BaselineRecord)
        if (identical := raw["identical"]) is not None and not isinstance(identical, bool):
            raise TraceError(must("truth", "identical", identical))
        return BaselineRecord(
            output_ids=ids(raw, "output_ids"),
            step_s=times(raw, "step_s"),
            identical=identical,
            compared=whole(raw, "compared"),
            difference=None if raw["difference"] is None else _difference(raw["difference"]),
            tie_bound=number(raw, "tie_bound", 0, FINITE),
            others=whole(raw, "others") if "others" in raw else 0,  # not counted before
        )


_WORDS = ("target", "target_source", "draft", "dtype", "draft_dtype", "device", "cache", "instead")


def pair(raw: Any) -> dict[str, Any]:
    """What ran where. What is shown must be text; fields that only another version knows may be anything flat."""
    raw = table(raw, "pair")
    for name in _WORDS:
        if raw.get(name) is not None:
            text(raw, name)
    texts({"notes": [], **raw}, "notes")
    for name, value in table(raw.get("drafted_with", {}), "drafted_with").items():
        text({name: value}, name)
    for name, value in raw.items():
        inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
        for part in inner:
            if isinstance(part, (dict, list)):
                raise TraceError(must("plain", f"pair: {name}", value))
            if type(part) in (int, float):
                number({name: part}, name, -FINITE, FINITE)
    return raw


def _settings(raw: Any) -> RunSettings:
    settings = RunSettings.from_dict(table(raw, "settings"))
    for name in settings.options:
        number(settings.options, name, -FINITE, FINITE)
    return settings


def _token(raw: Any) -> TokenRecord:
    _known(raw, TokenRecord)
    return TokenRecord(
        token_id=whole(raw, "token_id"),
        text=text(raw, "text"),
        fate=_fate(raw["fate"]),
        parent=whole(raw, "parent", ROOT) if "parent" in raw else ROOT,
        draft_prob=prob_or_none(raw, "draft_prob"),
        drafter_prob=prob_or_none(raw, "drafter_prob"),
        target_prob=prob_or_none(raw, "target_prob"),
        verifier_prob=prob_or_none(raw, "verifier_prob"),
        accept_prob=prob_or_none(raw, "accept_prob"),
        coin=prob_or_none(raw, "coin"),
    )


_FATES = tuple(Fate)


def _fate(value: Any) -> Fate:
    if value not in _FATES:
        raise TraceError(must("one_of", "fate", value, known=", ".join(Fate)))
    return Fate(value)


def _position(raw: Any) -> PositionRecord:
    _known(raw, PositionRecord)
    return PositionRecord(
        node=whole(raw, "node", ROOT),
        overlap=prob_or_none(raw, "overlap"),
        candidates=tuple(_numbered("candidate", _candidate, items(raw, "candidates"))),
        draft_tail=prob_or_none(raw, "draft_tail"),
        target_tail=prob(raw, "target_tail"),
        accept_prob=prob_or_none(raw, "accept_prob"),
    )


def _candidate(raw: Any) -> Candidate:
    _known(raw, Candidate)
    return Candidate(
        token_id=whole(raw, "token_id"),
        text=text(raw, "text"),
        draft_prob=prob_or_none(raw, "draft_prob"),
        target_prob=prob(raw, "target_prob"),
        drafter_prob=prob_or_none(raw, "drafter_prob"),
        verifier_prob=prob(raw, "verifier_prob"),
    )


def _difference(raw: Any) -> Difference:
    _known(raw, Difference)
    return Difference(
        position=whole(raw, "place"),
        run_id=whole(raw, "run_id"),
        run_text=text(raw, "run_text"),
        alone_id=whole(raw, "alone_id"),
        alone_text=text(raw, "alone_text"),
        run_logit=number(raw, "run_logit", -FINITE, FINITE),
        alone_logit=number(raw, "alone_logit", -FINITE, FINITE),
    )


def _numbered(kind: str, read: Callable[[Any], Any], raws: list[Any]) -> Iterator[Any]:
    for count, raw in enumerate(raws, start=1):
        try:
            made = read(raw)
        except TraceError as error:
            raise TraceError(sentence("errors.trace_at", place=f"{kind} {count}", what=error.sentence)) from error
        yield made


_DIFFERENCE = frozenset(f.name for f in fields(Difference)) - {"position"} | {"place"}  # as files name it
_NAMES: dict[type, tuple[frozenset[str], frozenset[str]]] = {
    kind: (frozenset(f.name for f in fields(kind) if f.default is MISSING), frozenset(f.name for f in fields(kind)))
    for kind in (TokenRecord, Candidate, PositionRecord, BaselineRecord, Costs)
}
_NAMES[Difference] = (_DIFFERENCE, _DIFFERENCE)


def _known(raw: Any, kind: type) -> None:
    """Raise KeyError, which a damaged file is told by, where a field is missing or unknown."""
    needed, known = _NAMES[kind]
    if not needed <= table(raw, kind.__name__).keys() <= known:
        raise KeyError(f"{kind.__name__} with the fields {sorted(raw)}")
