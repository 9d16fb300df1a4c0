"""What a token looks like on a chip: every character visible, nothing mistaken for nothing.

Only for looking at: text to copy comes from the whole id list, never from here. The standard library's character
tables decide what is invisible, so no list of odd characters is kept.

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
    owner = [place for place, data in enumerate(raw) for _ in data]
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
        for place in dict.fromkeys(owner[byte : byte + size]):
            if place != owner[byte]:
                pieces[place].append(JOINED)
        byte += size
    return ["".join(f"⟨{p[1:]}⟩" if p.startswith("\udc80") else p for p in mine) for mine in pieces]


def _raw(text: str) -> bytes:
    """The bytes that a token's text stands for."""
    return b"".join(
        bytes.fromhex(piece) if place % 2 else piece.encode() for place, piece in enumerate(_BYTES.split(text))
    )


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
