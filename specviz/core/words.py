"""All text that people read, from one catalogue per language: ``say("view.steps", n=3)`` is "3 steps".

A catalogue is `assets/words/LANGUAGE.json`: sections of names, each with a sentence or with plural forms. Fields stand in
braces and are filled with plain text. Python and the page's scripts read the same file. A new language is one new file.
Figures are formatted by the caller, alike in all languages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import TypeVar

from specviz.core.assets import ASSETS

FOLDER = ASSETS / "words"
DEFAULT = "en"
_LANGUAGE: ContextVar[str] = ContextVar("language", default=DEFAULT)

Made = TypeVar("Made")
Entry = str | Mapping[str, str]
"""A sentence, or its forms: "one" for n = 1, "other" for every other n."""


@cache
def languages() -> list[str]:
    """Codes of all catalogues, the default first."""
    return sorted((path.stem for path in FOLDER.glob("*.json")), key=lambda code: (code != DEFAULT, code))


@cache
def catalogue(language: str = DEFAULT) -> Mapping[str, Mapping[str, Entry]]:
    """Section → name → entry. Raises KeyError for a language without a file."""
    if language not in languages():
        raise KeyError(language)
    return json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))


def names() -> dict[str, str]:
    """Code of each language → its name in itself."""
    return {code: str(catalogue(code)["page"]["language"]) for code in languages()}


def language() -> str:
    """The code of the language that `say` speaks here and now."""
    return _LANGUAGE.get()


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Let `say` speak that language inside the block; an unknown code means the default."""
    token = _LANGUAGE.set(code if code in languages() else DEFAULT)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def once_per_language(make: Callable[[str], Made]) -> Callable[[str], Made]:
    """`make` with its answers kept, one for each argument and each language that was spoken."""

    @cache
    def made(code: str, name: str) -> Made:
        with speaking(code):
            return make(name)

    @wraps(make)
    def kept(name: str) -> Made:
        return made(language(), name)

    return kept


class Sentence(str):
    """A text for readers of several languages: English to programs, in the language of the page to a reader (`spoken`).

    Declarations are sentences, and so is what a thread reports to several visitors.
    Example: ``Strategy(help=sentence("help.greedy"), …)``; the page shows ``spoken(STRATEGIES["greedy"].help)``.
    """

    key: str
    fields: Mapping[str, object]


def sentence(key: str, /, **fields: object) -> Sentence:
    """An entry of the catalogue for what is written once and read in any language."""
    with speaking(DEFAULT):
        made = Sentence(say(key, **fields))
    made.key, made.fields = key, fields
    return made


def spoken(text: str) -> str:
    """A `sentence` in the language of the page; a plain text, which is in no catalogue, as it is."""
    return say(text.key, **text.fields) if isinstance(text, Sentence) else text


def say(key: str, /, **fields: object) -> str:
    """The entry named "section.name" with its fields filled in; `n` chooses the plural form.

    A field may itself be a `sentence`; it is spoken in the same language. Raises KeyError for an unknown key or a missing
    field: both are mistakes in the code.
    """
    section, name = key.split(".", 1)
    entry = catalogue(_LANGUAGE.get())[section][name]
    if not isinstance(entry, str):
        entry = entry["one" if fields["n"] == 1 else "other"]
    return entry.format_map(
        {name: spoken(value) if isinstance(value, Sentence) else value for name, value in fields.items()}
    )
