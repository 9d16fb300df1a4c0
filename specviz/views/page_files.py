"""The files that every page with the views is made of: scripts, style sheets, and the words that the scripts use.

Knows nothing of servers and of plotly: the served page and an exported one both take them from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from specviz.core.assets import ASSETS
from specviz.core.words import catalogue, language
from specviz.views import palette
from specviz.views.markup import Html, joined, sheet

SCRIPTS: Mapping[str, bytes] = MappingProxyType(
    {path.relative_to(ASSETS).as_posix(): path.read_bytes() for path in sorted(ASSETS.rglob("*.js"))}
)
"""Name → text in UTF-8 of each module. Read once: what is served is what `page.SCRIPTS_AT` names."""
STYLES = ("style.css", "card.css", "runs.css", "compare.css", "studies.css", "lossless.css", "race.css", "sweep.css")
MEDIA = {"forced.css": "(forced-colors: active)", "print.css": "print", "bare.css": "all"}
"""Sheets of their own: what colours a visitor's system forces must not take away, the page on paper, and bare pages."""
SPOKEN = ("page", "view", "amounts")
"""Sections of the catalogue that the scripts use."""


def spoken() -> dict[str, Any]:
    """Those sections in the language of the moment, and its code, as `assets/config.js` takes them."""
    return {"language": language(), "words": {section: catalogue(language())[section] for section in SPOKEN}}


def sheets() -> list[tuple[str, str]]:
    """Medium and text of each of those sheets."""
    return [(media, (ASSETS / name).read_text(encoding="utf-8")) for name, media in MEDIA.items()]


def head() -> Html:
    """Style sheets outside the page's own: Gradio's loader would keep them from what stands outside its own column."""
    return joined(sheet(text, media) for media, text in sheets())


def css(styles: tuple[str, ...] = STYLES) -> str:
    """Colours from the palette, then the layout."""
    return "\n".join([palette.css(), *((ASSETS / name).read_text(encoding="utf-8") for name in styles)])
