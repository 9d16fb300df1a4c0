"""The one place where text becomes HTML: a builder of elements that escapes every text put into it.

All strings of traces, links, models and files are plain text. Only an `Html` is markup, and only `tag` and `joined` make
one, so a string that nobody escaped shows as it was written.

Example: ``tag("p", "a < b", tag("b", "!"), cls="note")`` is ``<p class="note">a &lt; b<b>!</b></p>``.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

GAP = "–"
"""Stands where nothing was measured or there is nothing to divide by."""
_VOID = ("br", "meta")


class Html(str):
    """A piece of page whose text is escaped already; adding or formatting strings gives a plain `str` again."""

    __slots__ = ()


NOTHING = Html("")


def html(value: object) -> Html:
    """`value` as a piece of page: an `Html` as it is, None as a gap, all else as text."""
    if isinstance(value, Html):
        return value
    return Html(GAP if value is None else escape(str(value)))


def tag(name: str, /, *inside: object, **attributes: object) -> Html:
    """An element of HTML or SVG. `attributes`: ``cls`` is class, ``_`` stands for ``-``; one that is None is left out."""
    given = "".join(f' {_attribute(key)}="{escape(str(x))}"' for key, x in attributes.items() if x is not None)
    return Html(f"<{name}{given}>" if name in _VOID else f"<{name}{given}>{joined(inside)}</{name}>")


def joined(parts: Iterable[object]) -> Html:
    """Several pieces in a row."""
    return Html("".join(map(html, parts)))


def sheet(css: str, media: str) -> Html:
    """A style sheet of the project's own for one medium. HTML reads no escapes in it, so it must not hold a closing tag."""
    if "</" in css:
        raise ValueError("A style sheet must not contain a closing tag.")
    return Html(f'<style media="{escape(media)}">{css}</style>')


def data(name: str, json: str) -> Html:
    """Data for a script of the document. `json` must not hold a character that ends or changes the element (`wire.pack`)."""
    if "<" in json:
        raise ValueError("Data in the document must not contain <.")
    return Html(f'<script type="application/json" id="{escape(name)}">{json}</script>')


def inline_script(script: str) -> Html:
    """A script of the project's own in the document. HTML reads no escapes in it, so it must not hold a closing tag."""
    if "</" in script:
        raise ValueError("A script in the document must not contain a closing tag.")
    return Html(f"<script>{script}</script>")


def _attribute(key: str) -> str:
    return "class" if key == "cls" else key.replace("_", "-")
