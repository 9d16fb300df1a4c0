"""Every sentence that the code says or raises has its fields, in every language, wherever and whenever it is shown."""

import ast
import re
from string import Formatter

import pytest

from specviz.core.assets import ASSETS
from specviz.core.settings import SettingsError, SpecvizError
from specviz.core.words import Sentence, catalogue, languages, say, sentence, speaking
from specviz.traces.trace import TraceError

PACKAGE = ASSETS.parent / "specviz"
SECTIONS = ("sessions", "files", "recordings", "errors")


def calls():
    """(file and line, key, names of the fields or None) of each `say` and `sentence` whose key is written out."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            key = node.args[0]
            if node.func.id in ("say", "sentence") and isinstance(key, ast.Constant) and isinstance(key.value, str):
                named = [word.arg for word in node.keywords]
                yield f"{path.name}:{node.lineno}", key.value, None if None in named else set(named)


def fields(key):
    section, name = key.split(".", 1)
    entry = catalogue()[section][name]
    forms = [entry] if isinstance(entry, str) else list(entry.values())
    plural = set() if isinstance(entry, str) else {"n"}
    return plural | {field for form in forms for _, field, _, _ in Formatter().parse(form) if field is not None}


KEYS = [f"{section}.{name}" for section in SECTIONS for name in catalogue().get(section, ())]


def test_every_call_gives_its_sentence_all_fields():
    found = list(calls())
    assert len(found) > 100
    for where, key, given in found:
        if given is not None:
            assert fields(key) <= given, f"{where} gives {key} only {sorted(given)}"


def test_no_sentence_is_left_over():
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    written = {key for text in texts for key in re.findall(r'["\']([a-z]+\.[\w-]+)["\']', text)}
    made = {key for text in texts for key in re.findall(r'f"([a-z]+\.[\w-]*)\{', text)}  # the beginning of a key
    made |= {"recordings."}
    left = [key for key in KEYS if key not in written and not any(key.startswith(start) for start in made)]
    assert not left


@pytest.mark.parametrize("key", KEYS)
def test_an_error_is_read_in_the_language_in_which_it_is_shown(key):
    given = {name: 2 if name == "n" else f"<{name}>" for name in fields(key)}
    for kind in (SpecvizError, SettingsError, TraceError):
        error = kind(sentence(key, **given))
        shown = set()
        for code in languages():
            with speaking(code):
                assert str(error) == say(key, **given) and "{" not in str(error)
                assert all(str(value) in str(error) for name, value in given.items() if name != "n")
                shown.add(str(error))
        assert str(error) == error.sentence and isinstance(error.sentence, Sentence)
    assert len(shown) == len(languages()) or key in SAME


SAME = {
    "recordings.code_title",
    "recordings.beams_title",
    "sessions.changed_prompt",
    "sessions.changed_seed",
}
"""Words that are the same in both languages."""


def test_a_sentence_inside_a_sentence_is_said_in_the_same_language():
    inner = sentence("sessions.cost_unknown_pair")
    outer = SpecvizError(sentence("sessions.cost_other_pair", names=inner, kind="cpu"))
    assert "an unknown pair" in str(outer)
    with speaking("de"):
        assert "einem unbekannten Paar" in str(outer)


def test_an_error_with_a_plain_text_is_shown_as_it_is():
    assert str(SpecvizError("Plain.")) == SpecvizError("Plain.").sentence == "Plain."
    assert str(SpecvizError()) == "" and str(SpecvizError("a", 1)) == "('a', 1)"
