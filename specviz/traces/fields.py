"""Single fields of a saved trace: each has a kind and a range, and one sentence says what is wrong with it.

Example: ``whole({"k": -1}, "k")`` raises ``TraceError("k must be a whole number from 0 to 2147483648, but it is -1; open
another file.")``. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from specviz.core.settings import SettingsError, SpecvizError, shown, whole_characters
from specviz.core.words import sentence

DAY_S = 86_400.0
"""Longest time of one phase that is believed: more would only stretch every axis."""
SLACK = 1e-4
"""How far above 1 rounding may carry a probability."""
MOST = 2**31
"""Above every token id, position and count."""
FINITE = 1e18
"""Above every logit, cost, knob and count of parameters."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class TraceError(SpecvizError, ValueError):
    """A trace file that cannot be read; the sentence says why."""


@contextmanager
def at(where: str) -> Iterator[None]:
    """Put `where` in the file before the sentence of an error raised inside. Raises TraceError."""
    try:
        yield
    except TraceError as error:
        raise TraceError(sentence("errors.trace_at", place=where, what=error.sentence)) from error
    except SettingsError as error:
        raise TraceError(sentence("errors.trace_at_impossible", place=where, what=error.sentence)) from error


def number(raw: Mapping[str, Any], name: str, low: float, high: float) -> float:
    """The field as a float from `low` to `high`."""
    value = raw[name]
    # bool is an int to Python, and NaN fails both comparisons
    if type(value) not in (float, int) or not low <= value <= high:
        raise TraceError(must("number", name, value, low=f"{low:g}", high=f"{high:g}"))
    return float(value)


def whole(raw: Mapping[str, Any], name: str, low: int = 0, high: int = MOST) -> int:
    """The field as an int from `low` to `high`."""
    value = raw[name]
    if type(value) is not int or not low <= value <= high:
        raise TraceError(must("whole", name, value, low=low, high=high))
    return value


def text(raw: Mapping[str, Any], name: str) -> str:
    """The field as a text."""
    if not isinstance(value := raw[name], str):
        raise TraceError(must("text", name, value))
    return value


def items(raw: Mapping[str, Any], name: str) -> list[Any]:
    """The field as a list."""
    if not isinstance(value := raw[name], list):
        raise TraceError(must("list", name, value))
    return value


def table(value: Any, name: str) -> dict[str, Any]:
    """`value` as a table."""
    if not isinstance(value, dict):
        raise TraceError(must("table", name, value))
    return value


def ids(raw: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """The field as token ids."""
    return tuple(whole({name: value}, name) for value in items(raw, name))


def texts(raw: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The field as texts."""
    return tuple(text({name: value}, name) for value in items(raw, name))


def times(raw: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """The field as seconds of single steps."""
    return tuple(number({name: value}, name, 0, DAY_S) for value in items(raw, name))


def check_characters(source: str, data: Any) -> None:
    """Raise TraceError where a text anywhere in `data` holds half a character. `source`: the file it was read from."""
    if not _HALF.search(source):  # whole pairs of halves are searched, too, but seldom written
        return
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            whole_characters(value, f"the text {ascii(value)[:40]} in this trace", TraceError)


def prob(raw: Mapping[str, Any], name: str) -> float:
    """The field as a probability."""
    value = raw[name]
    if type(value) not in (float, int) or not 0 <= value <= 1 + SLACK:
        raise TraceError(must("probability", name, value))
    return float(value)


def prob_or_none(raw: Mapping[str, Any], name: str) -> float | None:
    """The field as a probability, or None where it is null or left out."""
    return None if raw.get(name) is None else prob(raw, name)


def must(what: str, name: str, value: Any, **limits: object) -> str:
    """The sentence about a field that must be a number, a list …, or that is out of its range."""
    return sentence(f"errors.must_{what}", name=name, given=shown(value), **limits)
