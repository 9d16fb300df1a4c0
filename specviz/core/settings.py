"""What a visitor can set, checked once, frozen.

Knows nothing of models: whether a strategy or rule exists and fits a pair is asked of its table
(`drafting.STRATEGIES`, `drafting.LENGTHS`, `verification.RULES`) by the engine. Standard library only.

Example: ``RunSettings(k=2.5)`` raises ``SettingsError("K must be a whole number from 0 to 32; you gave 2.5.")``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from specviz.core.words import say, sentence, spoken

MAX_K = 32
MAX_NEW_TOKENS = 8192
MAX_STOPS = 8
MAX_STOP_CHARS = 200


class SpecvizError(Exception):
    """An error meant to be read by the person at the screen: one sentence that says what to do next.

    Example: ``SpecvizError(sentence("sessions.play_first"))`` reads in the language that is spoken where it is shown, also
    if another thread raised it. A plain text is shown as it is.
    """

    def __str__(self) -> str:
        return str(spoken(self.args[0])) if len(self.args) == 1 else super().__str__()

    @property
    def sentence(self) -> str:
        """The text for later: a `Sentence` of the catalogue where one was given."""
        return self.args[0] if len(self.args) == 1 and isinstance(self.args[0], str) else str(self)


class SettingsError(SpecvizError, ValueError):
    """A setting is out of its range or of the wrong kind."""


NO_DRAFT = "none"
"""The strategy that proposes nothing: every step is one target pass for one token."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that a person can turn: its range is enforced here and drawn by the page from the same line.

    `label`, `help`: plain English, or sentences of the catalogue (`knob`), which the page shows in its own language.
    """

    label: str
    default: float
    low: float
    high: float
    step: float
    help: str
    whole: bool = False

    def check(self, value: Any, name: str | None = None) -> int | float:
        """Return `value` as a number within the range, or raise SettingsError saying what is allowed."""
        low, high = (f"{end:,}" if isinstance(end, int) else f"{end:,g}" for end in (self.low, self.high))
        words = {"name": name or spoken(self.label), "low": low, "high": high, "given": shown(value)}
        allowed = say("settings.whole_number" if self.whole else "settings.number", **words)
        # bool is an int to Python, but True is not a speculation length to anybody
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SettingsError(allowed)
        if not self.low <= value <= self.high:  # NaN and infinity fail, too
            raise SettingsError(allowed)
        if self.whole and value != int(value):
            raise SettingsError(allowed)
        return int(value) if self.whole else float(value)


def knob(
    name: str, default: float, low: float, high: float, step: float, whole: bool = False, **fields: object
) -> Knob:
    """A knob whose label and help are in the catalogue, as "settings.NAME_label" and "settings.NAME_help"."""
    label, help_ = sentence(f"settings.{name}_label"), sentence(f"settings.{name}_help", **fields)
    return Knob(label, default, low, high, step, help_, whole)


KNOBS: Mapping[str, Knob] = MappingProxyType(
    {
        "k": knob("k", 4, 0, MAX_K, 1, whole=True),
        "temperature": knob("temperature", 1.0, 0, 100, 0.05),
        "top_k": knob("top_k", 0, 0, 1_000_000, 1, whole=True),
        "top_p": knob("top_p", 1.0, 0, 1, 0.01),
        "repetition_penalty": knob("repetition_penalty", 1.0, 0.1, 10, 0.05),
        "max_new_tokens": knob("max_new_tokens", 64, 1, MAX_NEW_TOKENS, 1, whole=True),
        "seed": knob("seed", 1, 0, 2**63 - 1, 1, whole=True),
    }
)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """All settings of a run. Every step records the settings that it was made under.

    `draft_length`: what decides how far each step drafts; `k` is its K, first K or largest K. `stop`: strings that end
    the run; the text is cut before them. `options`: the own knobs of a strategy, a draft length or a rule by name.
    Raises SettingsError (a ValueError) for any value out of range.
    """

    strategy: str = "sampling"
    k: int = 4
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    rule: str = "speculative sampling"
    max_new_tokens: int = 64
    stop: tuple[str, ...] = ()
    seed: int = 1
    chat: bool = False
    options: Mapping[str, float] = field(default_factory=dict)
    draft_length: str = "fixed"

    def __post_init__(self) -> None:
        for name, knob in KNOBS.items():
            object.__setattr__(self, name, knob.check(getattr(self, name)))
        for name in ("strategy", "rule", "draft_length"):
            if not isinstance(getattr(self, name), str):
                raise SettingsError(say("settings.not_in_menu", name=name, given=shown(getattr(self, name))))
            whole_characters(getattr(self, name), say(f"settings.what_{name}"), SettingsError)
        if not isinstance(self.chat, bool):
            raise SettingsError(say("settings.chat_kind", given=shown(self.chat)))
        object.__setattr__(self, "stop", _stops(self.stop))
        if not isinstance(self.options, Mapping):
            raise SettingsError(say("settings.options_kind", given=shown(self.options)))
        for name in self.options:
            whole_characters(str(name), say("settings.what_option"), SettingsError)
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __reduce__(self) -> tuple[Any, ...]:
        # a read-only table cannot be pickled or copied, and records must be able to cross to another process
        return RunSettings.from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"stop": list(self.stop), "options": dict(self.options)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunSettings:
        """Inverse of `to_dict`; a field it does not know is an error, not ignored."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise SettingsError(say("settings.unknown", name=repr(unknown[0]), known=", ".join(sorted(known))))
        return cls(**data)


def options_of(items: Iterable[str]) -> dict[str, Any]:
    """`RunSettings.options` from texts like "width=3"; the knob reports what is no number."""
    options: dict[str, Any] = {}
    for item in filter(str.strip, items):
        name, _, value = item.partition("=")
        options[name.strip()] = number_of(value.strip())
    return options


def number_of(text: str) -> int | float | str:
    """A text as the number that it is, or as it stands, so that the sentence about it is that of its knob."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _stops(stop: Any) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else stop
    if not isinstance(stops, (tuple, list)) or not all(isinstance(s, str) for s in stops):
        raise SettingsError(say("settings.stop_kind"))
    stops = tuple(whole_characters(s, say("settings.what_stop"), SettingsError) for s in stops if s)
    if len(stops) > MAX_STOPS or any(len(s) > MAX_STOP_CHARS for s in stops):
        raise SettingsError(say("settings.stop_many", stops=MAX_STOPS, chars=MAX_STOP_CHARS))
    return stops


def whole_characters(text: str, what: str, error: type[SpecvizError] = SpecvizError) -> str:
    """`text` itself; raises `error` where it holds half a character, which can be neither shown nor saved."""
    half = next((i for i, char in enumerate(text) if "\ud800" <= char <= "\udfff"), None)
    if half is not None:
        raise error(say("settings.half_character", number=half + 1, what=what))
    return text


def shown(value: Any) -> str:
    """A value in a sentence about it: never long, and a whole number without its point."""
    if value is None:
        return say("settings.nothing")
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    text = f"{value:.0f}" if whole else repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
