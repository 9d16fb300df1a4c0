"""Texts of the page's scripts: all from the catalogue, and no entry of it for nothing."""

from __future__ import annotations

import re

import pytest

from specviz.core.words import catalogue, languages
from specviz.views.page_files import SCRIPTS
from tests.views import js

TEXT = "\n".join(code.decode() for code in SCRIPTS.values())
CODE = "\n".join(line for line in TEXT.splitlines() if not line.lstrip().startswith(("//", "/*", "*")))
MADE = r"'view\.([a-z_]+_)'"
"""How a key begins whose end is a code: a state, a fate, a phase."""
LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
PROSE = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")
NO_PROSE = (
    "sv-",  # classes
    "no words for ",  # mistakes in the code
    "no plotly in its file",
    "no file of plotly",
    "its logits are not numbers",  # codes of the records
    "end of match",
)


@pytest.mark.parametrize("language", languages())
def test_every_key_of_the_scripts_is_in_the_catalogue(language):
    known = catalogue(language)["view"]
    asked = set(re.findall(r"'view\.([a-z0-9_]+[a-z0-9])'", CODE))
    assert len(asked) > 200 and asked <= set(known)


def test_every_entry_is_used():
    made, named = tuple(re.findall(MADE, CODE)), set(re.findall(r"'(?:view\.)?([a-z0-9_]+)'", CODE))
    unused = [key for key in catalogue()["view"] if key not in named and not key.startswith(made)]
    # what the loader says where no script came
    assert unused == ["scripts_failed"]


def test_scripts_hold_no_sentences_of_their_own():
    csv = SCRIPTS["csv.js"].decode()  # the columns of a file are a format
    texts = [text for line in CODE.splitlines() for text in LITERAL.findall(line.split(" // ")[0])]
    prose = [text for text in texts if PROSE.search(text) and text not in csv]
    found = [text for text in prose if not any(part in text for part in NO_PROSE)]
    assert found == []


def test_the_scripts_fill_fields_and_choose_plural_forms_as_python_does():
    said = js.run(
        ["say.js"],
        "[say('view.steps', { n: 1 }), say('view.steps', { n: 3 }), say('view.part_of', { part: 1, whole: '{n}' })]",
    )
    assert said == ["1 step", "3 steps", "1 of {n}"]
    assert (
        js.run(["say.js"], "(() => { try { say('view.steps', {}); } catch (e) { return e.message; } })()")
        == "view.steps needs n"
    )
