"""Nothing is invisible on a chip, and no mark can be mistaken for text."""

import pytest

from specviz.models.text import _bytes_shown
from specviz.views.glyphs import breaks, named, shown, together
from tests.views import js


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("the", "the"),
        (" the", "·the"),
        ("    ", "····"),
        ("a b ", "a·b·"),
        ("\n", "⏎"),
        ("\t", "→"),
        ("\r\n", "⟨U+000D⟩⏎"),
        ("\u200b", "⟨U+200B⟩"),
        ("\u00a0x", "⟨U+00A0⟩x"),
        ("\u3164", "⟨U+3164⟩"),
        ("\u2800\u2800", "⟨U+2800⟩⟨U+2800⟩"),
        ("\uffa0\u115f", "⟨U+FFA0⟩⟨U+115F⟩"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("❤\ufe0f\U000e0141", "❤\ufe0f⟨U+E0141⟩"),
        ("\u2800\ufe0f", "⟨U+2800⟩⟨U+FE0F⟩"),
        ("\u202e", "⟨U+202E⟩"),
        ("\x00", "⟨U+0000⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("·", "⟨·⟩"),
        ("你好", "你好"),
        (" שלום", "·שלום"),
        ("<|im_end|>", "<|im_end|>"),
        ("", ""),
    ],
)
def test_visible_form(text, seen):
    assert shown(text) == seen


def test_a_long_token_is_cut_and_says_so():
    assert shown("x" * 40) == "x" * 40
    assert shown("x" * 41) == "x" * 39 + "…"
    assert len(shown("y" * 2000)) == 40


def test_a_mark_is_never_cut_in_half():
    assert shown("x" * 37 + "\u200b" + "x") == "x" * 37 + "…"


def test_a_token_without_text_is_named_by_its_id():
    assert named("", 15) == "⟨id 15⟩"
    assert named("a", 15) == "a"


def test_breaks_counts_newlines():
    assert [breaks(t) for t in ("", "a\n", "\n\n", "\r\n")] == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("texts", "seen"),
    [
        (["⟨F0 9F⟩", "⟨99 82⟩", " a"], ["🙂", "‿", " a"]),
        (["x", " ⟨E6⟩", "⟨97⟩", "⟨A5⟩", "⟨E6⟩", "⟨9C AC⟩!"], ["x", " 日", "‿", "‿", "本", "‿!"]),
        (["⟨D7⟩", "⟨A9⟩", "⟨D7⟩", "⟨9C⟩"], ["ש", "‿", "ל", "‿"]),
        (["⟨E6⟩", "a", "⟨97⟩"], ["⟨E6⟩", "a", "⟨97⟩"]),  # not in a row
        (["⟨E6 97⟩", "⟨41⟩", "⟨FF⟩"], ["⟨E6 97⟩", "A", "⟨FF⟩"]),
        (["⟨E4 BD⟩", "⟨A0⟩⟨E5⟩", "⟨A5 BD⟩"], ["你", "‿好", "‿"]),
        (["⟨id 15⟩", "the", ""], ["⟨id 15⟩", "the", ""]),
        ([], []),
    ],
)
def test_characters_made_by_several_tokens_stand_on_the_first(texts, seen):
    assert together(texts) == seen


def test_any_text_cut_anywhere_is_read_whole_again():
    text = "aé 日本🙂שלום\n"
    data = text.encode()
    for cut in range(1, len(data)):
        for other in range(cut + 1, len(data)):
            parts = [_bytes_shown(part) for part in (data[:cut], data[cut:other], data[other:])]
            found = together(parts)
            # only what no neighbour in the row completes stays bytes
            assert "".join(found).replace("‿", "") == text or any("⟨" not in part for part in parts)


def test_what_unicode_calls_ignorable_is_never_shown_as_itself():
    found = js.run(
        [],
        "[...Array(0x110000).keys()].filter((c) => /^\\p{Default_Ignorable_Code_Point}$/u.test(String.fromCodePoint(c)))",
    )
    assert len(found) > 4000
    for code in found:
        assert shown("a" + chr(code)) == f"a⟨U+{code:04X}⟩"
