"""The catalogues are complete and equal in shape, and every key that the code names is in them."""

import re
from string import Formatter

import pytest

from specviz.core.assets import ASSETS
from specviz.core.words import DEFAULT, catalogue, language, languages, say, speaking

SOURCES = [*(ASSETS.parent / "specviz").rglob("*.py"), *ASSETS.rglob("*.js")]
NAMED = re.compile(r"""\bsay\(\s*["']([a-z_]+\.[A-Za-z0-9_]+)["']""")


def forms(code):
    """ "section.name" → its sentences."""
    return {
        f"{section}.{name}": {"": entry} if isinstance(entry, str) else entry
        for section, entries in catalogue(code).items()
        for name, entry in entries.items()
    }


def fields(sentence):
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


@pytest.mark.parametrize("code", [code for code in languages() if code != DEFAULT])
def test_no_key_is_missing_and_no_field_is_lost(code):
    ours, theirs = forms(DEFAULT), forms(code)
    assert theirs.keys() == ours.keys()
    for key, entry in ours.items():
        assert theirs[key].keys() == entry.keys(), key
        for form, sentence in entry.items():
            assert fields(theirs[key][form]) == fields(sentence), key
            assert all(re.fullmatch(r"[a-z_]+", field) for field in fields(sentence)), (
                "plain fields: JavaScript fills them"
            )


def test_every_key_that_the_code_names_is_there():
    named = {key for path in SOURCES for key in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert named <= forms(DEFAULT).keys()


def test_fields_and_plural_forms_are_filled():
    assert [say("counts.tokens", n=n) for n in (0, 1, 2)] == ["0 tokens", "1 token", "2 tokens"]
    with pytest.raises(KeyError):
        say("counts.nothing")
    with pytest.raises(KeyError):
        say("counts.tokens")


def test_a_language_holds_inside_its_block_and_an_unknown_one_means_the_default():
    with speaking("de"):
        assert language() == "de" and say("counts.tokens", n=1) == "1 Token"
    with speaking("xx"):
        assert language() == DEFAULT
    assert language() == DEFAULT
