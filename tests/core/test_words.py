"""The catalogues are complete and equal in shape, and every key that the code names is in them."""

import re
from string import Formatter

import pytest

from specviz.core.assets import ASSETS
from specviz.core.settings import KNOBS, Knob, RunSettings, SettingsError
from specviz.core.words import DEFAULT, Sentence, catalogue, language, languages, say, sentence, speaking, spoken
from specviz.decoding.knobs import own_knobs
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.experiments.position_replay import WRONG
from specviz.verification import RULES

SOURCES = [*(ASSETS.parent / "specviz").rglob("*.py"), *ASSETS.rglob("*.js")]
NAMED = re.compile(r"""\b(?:say|sentence)\(\s*["']([a-z_]+\.[A-Za-z0-9_]+)["']""")


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
        for form, text in entry.items():
            assert fields(theirs[key][form]) == fields(text), key
            assert all(re.fullmatch(r"[a-z_]+", field) for field in fields(text)), "plain fields: JavaScript fills them"


def test_every_key_that_the_code_names_is_there():
    named = {key for path in SOURCES for key in NAMED.findall(path.read_text(encoding="utf-8")) if key[-1] != "_"}
    assert named <= forms(DEFAULT).keys()


def test_fields_and_plural_forms_are_filled():
    assert [say("view.steps", n=n) for n in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
    with pytest.raises(KeyError):
        say("view.nothing")
    with pytest.raises(KeyError):
        say("view.steps")


def test_a_language_holds_inside_its_block_and_an_unknown_one_means_the_default():
    with speaking("de"):
        assert language() == "de" and say("view.steps", n=1) == "1 Schritt"
    with speaking("xx"):
        assert language() == DEFAULT
    assert language() == DEFAULT


def test_a_sentence_is_english_to_programs_and_spoken_to_readers():
    told = sentence("view.steps", n=2)
    with speaking("de"):
        late = sentence("view.steps", n=2)
        assert (spoken(told), spoken(late), spoken("2 steps")) == ("2 Schritte", "2 Schritte", "2 steps")
    assert told == late == spoken(told) == "2 steps"
    assert {told: 1}["2 steps"] == 1


def test_entries_and_knobs_have_their_words_in_the_catalogue_and_no_word_is_left_over():
    entries = [entry.help for table in (STRATEGIES, LENGTHS, RULES) for entry in table.values()] + list(WRONG.values())
    assert all(isinstance(text, Sentence) for text in entries)
    assert {text.key for text in entries} == {f"help.{name}" for name in catalogue()["help"]}
    knobs = KNOBS | own_knobs()
    keys = {text.key for knob in knobs.values() for text in (knob.label, knob.help)}
    declared = {f"settings.{name}" for name in catalogue()["settings"] if name.endswith(("_label", "_help"))}
    assert keys == declared == {f"settings.{name}_{part}" for name in knobs for part in ("label", "help")}


def test_a_setting_out_of_range_is_said_in_the_language_of_the_page():
    own = Knob("own words", 1, 0, 2, 1, "Somebody's knob.", whole=True)
    for code, words in (
        ("en", "K must be a whole number from 0 to 32; you gave 99."),
        ("de", "K muss eine ganze Zahl"),
    ):
        with speaking(code), pytest.raises(SettingsError, match=words):
            RunSettings(k=99)
    with speaking("de"), pytest.raises(SettingsError, match="own words muss eine ganze Zahl von 0 bis 2 sein"):
        own.check(7)
