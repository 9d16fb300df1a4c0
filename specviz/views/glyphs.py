"""What a token looks like on a chip: every character visible, nothing mistaken for nothing.

Only for looking at: text to copy comes from the whole id list, never from here. The standard library's character
tables decide what is invisible, so no list of odd characters is kept.

Example: ``shown(" the\\n")`` is "·the⏎", ``shown("a\\u200b")`` is "a⟨U+200B⟩", ``breaks("x\\n\\n")`` is 2.
"""

from __future__ import annotations

import unicodedata

SPACE, NEWLINE, TAB, ELLIPSIS = "·", "⏎", "→", "…"
MAX_SHOWN = 40
_MARKS = {" ": SPACE, "\n": NEWLINE, "\t": TAB}
_INVISIBLE = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs")


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Visible form of a token's text, cut to `limit` characters; empty text stays empty (the caller names the id)."""
    pieces: list[str] = []
    length = 0
    for place, char in enumerate(text):
        piece = _visible(char, first=place == 0)
        # whole pieces only: half a ⟨U+200B⟩ would be read as text
        if length + len(piece) > limit - (place < len(text) - 1):
            return "".join(pieces) + ELLIPSIS
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def named(text: str, token_id: int) -> str:
    """`shown(text)`, or ⟨id 15⟩ for a token that shows nothing."""
    return shown(text) or f"⟨id {token_id}⟩"


def breaks(text: str) -> int:
    """Number of line breaks the token makes in the text."""
    return text.count("\n")


def _visible(char: str, first: bool) -> str:
    if char in _MARKS:
        return _MARKS[char]
    if char in _MARKS.values():
        return f"⟨{char}⟩"  # the character itself, not our mark for another
    kind = unicodedata.category(char)
    if kind in _INVISIBLE:
        return f"⟨U+{ord(char):04X}⟩"
    if first and kind in ("Mn", "Me", "Mc"):
        return "◌" + char  # a combining mark alone would sit on the chip's edge
    return char
