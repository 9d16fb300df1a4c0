"""Nothing is invisible on a chip, and no mark can be mistaken for text."""

import pytest

from specviz.views.glyphs import breaks, named, shown


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
