"""A link carries where the controls stand; whatever stands in an address is checked before any control takes it.

Knows names, ranges and tables; no Gradio. What is missing stays as it was, a number beyond its slider stands at the
slider's end, what is wrong is left out, and both are told.

Example: ``read("?k=8&chat=x")`` is ``({"k": 8}, ["chat must be 1 or 0; you gave 'x'."])``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from specviz.core.runtime import DTYPES
from specviz.core.settings import KNOBS, RunSettings, SettingsError
from specviz.core.words import say, sentence, spoken
from specviz.decoding.knobs import own_knobs
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.models.catalogue import MODELS, PAIRS
from specviz.sessions.control_values import DRAWN
from specviz.sessions.drive import SPEEDS
from specviz.sessions.pair_choice import DEFAULT_TARGET
from specviz.sessions.stops import read_stops
from specviz.verification import RULES

MAX_PROMPT = 20_000
"""Characters of a prompt that a link or a recording may bring along."""
MAX_LINK = 2000
"""Characters of a link that the page makes; longer ones are cut by some programs."""
MOST_NAMED = 5
"""Unknown settings that are named in a sentence."""
# the address of a recording, the page's language and what it shows, Gradio's own, the hub's, and those of campaigns and counters
_OF_OTHERS = re.compile(r"trace|lang|bare|__\w+|view|deep_link|footer|logs|embed|utm\w*|ref|source|[a-z]{0,3}clid")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

TABLES: Mapping[str, Any] = {
    "strategy": STRATEGIES,
    "draft_length": LENGTHS,
    "rule": RULES,
    "speed": SPEEDS,
    "dtype": ("auto", *DTYPES),
}


OMITTED: dict[str, Any] = {
    "strategy": "sampling",
    "draft_length": "fixed",
    "k": 4,
    "temperature": 0.7,
    "max_new_tokens": 96,
    "seed": 1,
    "chat": True,
}
"""What a link means that leaves these out, for ever: where the controls of the first version started. The controls may
start elsewhere by now, and a link made then must open what it opened then."""
ALWAYS = "strategy"
"""Written into every link, so that no link is an address without settings, which opens the page as it starts now."""


class Note(str):
    """A sentence about something that was taken as it stands."""


def read(query: str) -> tuple[dict[str, Any], list[str]]:
    """Values for controls, and a sentence for each that was invalid or changed, and for models that nobody knows yet.

    Parameters of Gradio, of the host and of those who count visitors are left alone.
    """
    try:
        pairs = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}, [say("files.link_too_many")]
    values, invalid = check(pairs)
    if unknown := [_short(name) for name in pairs if not (_known(name) or _OF_OTHERS.fullmatch(name))]:
        named, more = ", ".join(unknown[:MOST_NAMED]), len(unknown) - MOST_NAMED
        words = (
            say("files.link_unknown_more", names=named, n=more) if more > 0 else say("files.link_unknown", names=named)
        )
        invalid.append(words)
    asked = dict.fromkeys(values.get(name, "") for name in ("target", "draft"))
    for model in asked:
        if model and model != DEFAULT_TARGET and model not in MODELS and model not in PAIRS:
            invalid.append(Note(say("files.link_model", name=model)))
    return values, invalid


def check(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The same for values that are numbers and truths already, as a recording brings them; unknown names are left out."""
    values: dict[str, Any] = {}
    invalid: list[str] = []
    for name, value in raw.items():
        try:
            if name in KNOBS or name in own_knobs():
                values[name], changed = _number(name, value)
                invalid += [changed] if changed else []
            elif name in TABLES:
                values[name] = _entry(name, value)
            elif name in _OTHERS:
                values[name] = _OTHERS[name](value)
        except SettingsError as error:
            invalid.append(str(error))
    return values, invalid


def told(invalid: list[str]) -> str:
    """What a visitor reads about the invalid ones, notes last; a `Note` itself where there is nothing else."""
    notes = [sentence for sentence in invalid if isinstance(sentence, Note)]
    wrong = [sentence for sentence in invalid if not isinstance(sentence, Note)]
    if len(wrong) == 1:
        wrong = [say("files.link_wrong", what=wrong[0])]
    elif wrong:
        # of several, what each should have been is enough
        short = [sentence.partition("; ")[0].rstrip(".") + "." for sentence in wrong]
        wrong = [say("files.link_wrong_many", n=len(wrong)), *short]
    words = " ".join([*wrong, *notes])
    return words if wrong else Note(words)


def _known(name: str) -> bool:
    return name in KNOBS or name in own_knobs() or name in TABLES or name in _OTHERS


def _number(name: str, value: Any) -> tuple[float | None, str]:
    """The number, and a sentence where it was brought to the end of its slider."""
    if name == "seed" and value in (None, ""):
        return None, ""  # a fresh one for each run
    asked, knob = value, KNOBS.get(name) or own_knobs()[name]
    knob = replace(knob, high=min(knob.high, DRAWN.get(name, knob.high)))  # no slider reaches further than it is drawn
    if isinstance(value, str):
        with suppress(ValueError):  # what is no number is reported by the knob
            value = int(value) if re.fullmatch(r"[+-]?\d{1,19}", value) else float(value)
    beyond = isinstance(value, (int, float)) and math.isfinite(value) and not knob.low <= value <= knob.high
    if name == "seed" or not beyond:  # a seed stands for nothing but itself
        try:
            return knob.check(value), ""
        except SettingsError:
            return knob.check(asked), ""  # a text is invalid as well, and told back as it was written
    near = knob.check(knob.low if value < knob.low else knob.high)
    ends = {"low": f"{knob.low:g}", "high": f"{knob.high:g}", "near": f"{near:g}", "given": _cut(str(asked))}
    return near, say("files.link_beyond", name=spoken(knob.label), **ends)


def _entry(name: str, value: Any) -> str:
    if isinstance(value, str) and value in TABLES[name]:
        return value
    kind, known = say(f"controls.{name}"), ", ".join(TABLES[name])
    raise SettingsError(sentence("files.link_entry", kind=kind, given=_short(value), known=known))


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in (*_YES, *_NO):
        return str(value).lower() in _YES
    raise SettingsError(sentence("files.link_chat", given=_short(value)))


def _model(value: Any) -> str:
    value = str(value).strip()
    # never a folder of this machine: a link is written by somebody else
    if value in ("", DEFAULT_TARGET) or value in MODELS or value in PAIRS or _HUB_ID.fullmatch(value):
        return value
    raise SettingsError(sentence("files.link_hub_id", given=_short(value)))


def _target(value: Any) -> str:
    return _model(value) or DEFAULT_TARGET


def _prompt(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_PROMPT:
        raise SettingsError(sentence("files.link_prompt", most=f"{MAX_PROMPT:,}"))
    return value


def _stop(value: Any) -> str:
    text = str(value)
    RunSettings(stop=read_stops(text))
    return text


def _short(value: Any) -> str:
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


_OTHERS: Mapping[str, Any] = {
    "chat": _truth,
    "target": _target,
    "draft": _model,
    "prompt": _prompt,
    "stop": _stop,
}
RUN_SETTINGS = tuple(name for name in (*KNOBS, *own_knobs(), *TABLES, *_OTHERS) if name != "speed")
"""Names in an address that say how a run is made."""
