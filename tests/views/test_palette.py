"""Colours are readable in both themes and no fate is told by colour alone."""

import pytest

from specviz.core.records import Fate
from specviz.core.words import speaking
from specviz.views import palette

SHADES = [(fate, theme, getattr(look, theme)) for fate, look in palette.FATES.items() for theme in ("light", "dark")]
PAGES = {"light": "#ffffff", "dark": "#1f2937"}


def test_contrast_of_black_on_white_is_21():
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert palette.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize(("fate", "theme", "shade"), SHADES)
def test_text_on_a_chip_and_its_line_are_readable(fate, theme, shade):
    assert palette.contrast(shade.background, shade.ink) >= 7
    assert palette.contrast(shade.background, shade.line) >= 4.5
    assert palette.contrast(PAGES[theme], shade.line) >= 4.5


@pytest.mark.parametrize("role", palette.ROLES)
def test_chart_colours_stand_out_from_both_pages(role):
    light, dark = palette.ROLES[role]
    assert palette.contrast(light, PAGES["light"]) >= 3
    assert palette.contrast(dark, PAGES["dark"]) >= 3


def test_every_fate_has_a_word_a_mark_and_a_letter_of_its_own():
    assert set(palette.FATES) == set(Fate)
    told = palette.plain()["fates"].values()
    for name in ("letter", "name", "word", "mark", "says"):
        assert len({look[name] for look in told}) == len(Fate)
    assert "".join(palette.LETTERS.values()) == "arusb"


def test_fates_differ_without_colour():
    # underline, strike and mark together; the page adds the + of a bonus in front of its text
    signs = {
        (look.underline, look.struck, look.mark if fate is Fate.BONUS else "") for fate, look in palette.FATES.items()
    }
    assert len(signs) == len(Fate)


def test_css_names_every_variable_in_both_themes():
    css = palette.css()
    assert css.count("--sv-accepted-bg:") == 4 and css.count("--sv-draft:") == 4
    assert ".dark .sv-root{" in css and ".dark .sv-comparison{" in css


def test_words_follow_the_language_but_names_and_variables_do_not():
    english, css = palette.plain()["fates"], palette.css()
    with speaking("de"):
        german = palette.plain()["fates"]
        assert palette.css() == css
    assert all(german[letter]["name"] == english[letter]["name"] for letter in english)
    assert german["r"]["word"] == "abgelehnt" and english["r"]["word"] == "rejected"
