"""What a token looks like on a chip: every character visible, nothing mistaken for nothing.

Only for looking at: text to copy comes from the whole id list, never from here. The standard library's categories decide
what is invisible, and `_IGNORABLE` adds the letters, symbols and marks that show nothing.

Example: ``shown(" the\\n")`` is "·the⏎", ``shown("a\\u200b")`` is "a⟨U+200B⟩", ``breaks("x\\n\\n")`` is 2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

SPACE, NEWLINE, TAB, ELLIPSIS = "·", "⏎", "→", "…"
MAX_SHOWN = 40
JOINED = "‿"
"""On the chip of a token that only goes on with the character begun before it."""
_BYTES = re.compile("⟨([0-9A-F]{2}(?: [0-9A-F]{2})*)⟩")
_MARKS = {" ": SPACE, "\n": NEWLINE, "\t": TAB}
_INVISIBLE = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs")
# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, the same in 14.0 and 17.0: `unicodedata` does not
# have this property. First and last of each range; then the braille blank, a symbol without a dot.
_IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F),
    (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
_EMPTY = frozenset(chr(code) for first, last in (*_IGNORABLE, (0x2800, 0x2800)) for code in range(first, last + 1))
_EMOJI_STYLE = "\ufe0f"
"""Asks for the coloured form of the symbol before it, where it changes what is seen."""


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Visible form of a token's text, cut to `limit` characters; empty text stays empty (the caller names the id)."""
    pieces: list[str] = []
    length = 0
    for index, char in enumerate(text):
        piece = _visible(char, text[index - 1] if index else "")
        # whole pieces only: half a ⟨U+200B⟩ would be read as text
        if length + len(piece) > limit - (index < len(text) - 1):
            return "".join(pieces) + ELLIPSIS
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def named(text: str, token_id: int) -> str:
    """`shown(text)`, or ⟨id 15⟩ for a token that shows nothing."""
    return shown(text) or f"⟨id {token_id}⟩"


def together(texts: Sequence[str]) -> list[str]:
    """Texts of tokens in a row (`TextCodec.show`): a character that only several of them make stands on the first.

    Example: ``together(["⟨F0 9F⟩", "⟨99 82⟩", " a"])`` is ["🙂", "‿", " a"]; bytes that make nothing stay bytes.
    """
    found, at = list(texts), 0
    while at < len(texts):
        end = at
        while end < len(texts) and _BYTES.search(texts[end]):
            end += 1
        if end - at > 1:
            found[at:end] = _joined(texts[at:end])
        at = max(end, at + 1)
    return found


def _joined(texts: Sequence[str]) -> list[str]:
    raw = [_raw(text) for text in texts]
    owner = [index for index, data in enumerate(raw) for _ in data]
    pieces: list[list[str]] = [[] for _ in texts]
    byte = 0
    for char in b"".join(raw).decode("utf-8", errors="surrogateescape"):
        broken = "\udc80" <= char <= "\udcff"
        size = 1 if broken else len(char.encode())
        mine = pieces[owner[byte]]
        if broken and mine and mine[-1].startswith("\udc80"):
            mine[-1] += f" {ord(char) - 0xDC00:02X}"
        else:
            mine.append(f"\udc80{ord(char) - 0xDC00:02X}" if broken else char)
        for index in dict.fromkeys(owner[byte : byte + size]):
            if index != owner[byte]:
                pieces[index].append(JOINED)
        byte += size
    return ["".join(f"⟨{p[1:]}⟩" if p.startswith("\udc80") else p for p in mine) for mine in pieces]


def _raw(text: str) -> bytes:
    """The bytes that a token's text stands for."""
    return b"".join(
        bytes.fromhex(piece) if index % 2 else piece.encode() for index, piece in enumerate(_BYTES.split(text))
    )


def breaks(text: str) -> int:
    """Number of line breaks the token makes in the text."""
    return text.count("\n")


def _visible(char: str, before: str) -> str:
    """`char` as it is shown after the character `before`, "" at the start."""
    if char in _MARKS:
        return _MARKS[char]
    if char in _MARKS.values():
        return f"⟨{char}⟩"  # the character itself, not our mark for another
    kind = unicodedata.category(char)
    if char == _EMOJI_STYLE and before and before not in _EMPTY and unicodedata.category(before) == "So":
        return char
    if kind in _INVISIBLE or char in _EMPTY:
        return f"⟨U+{ord(char):04X}⟩"
    if not before and kind in ("Mn", "Me", "Mc"):
        return "◌" + char  # a combining mark alone would sit on the chip's edge
    return char
