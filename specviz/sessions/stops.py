r"""Stop strings as lines of a text, for boxes and endpoints, and back.

One stop string a line. Within it ``\n`` is a line break and ``\\`` a backslash, so ``\\nabla`` is the command of LaTeX; any
other backslash stands for itself. Only ends of lines separate: U+2028, U+0085 and a form feed may be part of a stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MEANT = {r"\n": "\n", r"\\": "\\"}


def split_lines(text: str) -> list[str]:
    """The lines of a text that hold something."""
    return [line for line in re.split(r"\r\n|\n|\r", text) if line]


def read_stops(text: str | Iterable[str] | None) -> tuple[str, ...]:
    """Stop strings from a text; those of a list are taken as they are."""
    if text is None or isinstance(text, str):
        return tuple(re.sub(r"\\[n\\]", lambda m: _MEANT[m.group()], line) for line in split_lines(text or ""))
    return tuple(text)


def write_stops(stops: Iterable[str]) -> str:
    """Inverse of `read_stops`."""
    return "\n".join(stop.replace("\\", r"\\").replace("\n", r"\n") for stop in stops)
