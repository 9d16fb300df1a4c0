"""The one file that knows what the five fates look like, and the few other colours of the charts.

Not a style sheet: `assets/style.css` says how chips are laid out and takes every colour from the variables made here.
A fate has a colour, a line under it, a word (`word`) and a mark, so that it survives greyscale and colour blindness.

Example: ``FATES[Fate.REJECTED].mark`` is "✗", its wire letter "r", its underline dashed and its text struck.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from specviz.core.records import Fate
from specviz.core.words import say


@dataclass(frozen=True, slots=True)
class Shade:
    """One theme's colours of one fate: chip, text on it, line under it (and mark in a chart)."""

    background: str
    ink: str
    line: str


@dataclass(frozen=True, slots=True)
class Look:
    """How one fate is told apart, beside its `word`. `underline` is a CSS border style; `letter` stands for the fate on
    the wire."""

    letter: str
    mark: str
    underline: str
    struck: bool
    light: Shade
    dark: Shade


FATES: Mapping[Fate, Look] = MappingProxyType(
    {
        Fate.ACCEPTED: Look(
            "a",
            "✓",
            "solid",
            False,
            Shade("#c3ead0", "#10291b", "#176b3c"),
            Shade("#15402a", "#d5f5e1", "#56c98a"),
        ),
        Fate.REJECTED: Look(
            "r",
            "✗",
            "dashed",
            True,
            Shade("#f9cfcf", "#3d1212", "#b3261e"),
            Shade("#542022", "#ffdcda", "#ff8a80"),
        ),
        Fate.UNTESTED: Look(
            "u",
            "—",
            "dotted",
            False,
            Shade("#e6e8ec", "#2b323b", "#5b6673"),
            Shade("#2e353f", "#dde3ea", "#98a4b3"),
        ),
        Fate.RESAMPLED: Look(
            "s",
            "↻",
            "double",
            False,
            Shade("#ffe39a", "#33260a", "#8a5a00"),
            Shade("#4d3a0c", "#ffedbd", "#e9b949"),
        ),
        Fate.BONUS: Look(
            "b",
            "+",
            "dotted",
            False,
            Shade("#c4dcff", "#0e2242", "#1b55ad"),
            Shade("#1b3a66", "#dbe9ff", "#7fb2ff"),
        ),
    }
)
"""With K = 0 every token is a bonus and the page labels it with the target's own word ("fates.target")."""

ROLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "draft": ("#8a63d2", "#b79cf2"),
        "target": ("#0b7a75", "#4cc4b8"),
        "other": ("#7b8696", "#93a0b1"),
        "alone": ("#1f2937", "#e5e7eb"),
        "run": ("#176b3c", "#56c98a"),
        "step": ("#626d7a", "#98a4b3"),
        "residual": ("#b7791f", "#e9b949"),
    }
)
"""Light and dark colour of everything that is not a fate: the two models, the target alone, a running figure."""

SERIES: tuple[tuple[str, str], ...] = (
    ("#1b55ad", "#7fb2ff"),
    ("#a14a00", "#f0a860"),
    ("#6b3fa0", "#c3a5f5"),
    ("#0b6e69", "#4cc4b8"),
    ("#8a1c5c", "#f08cc0"),
    ("#4b5563", "#cbd5e1"),
)
"""Light and dark colours of lines that stand for strategies; a line also has a symbol and a dash of its own."""
BELOW, EVEN, ABOVE = "#f0b27a", "#f3f4f6", "#86cbbf"
"""Slower than the target alone, as fast, faster: light in both themes, under dark text (`ON_SCALE`)."""
ON_SCALE = "#111827"

THEMES = (("", "light"), (".dark ", "dark"))
LETTERS: Mapping[Fate, str] = MappingProxyType({fate: look.letter for fate, look in FATES.items()})


def word(fate: Fate) -> str:
    """The name of a fate, in the language of the moment."""
    return say(f"fates.{fate.value}")


def css() -> str:
    """The variables `--sv-<fate>-bg|ink|line|under` and `--sv-<role>`, light and dark, for `assets/style.css`."""
    blocks = []
    # one selector a rule: of a list Gradio's loader keeps the theme for the first only
    for selector, theme in (
        (f"{dark}{room}", theme) for dark, theme in THEMES for room in (".sv-root", ".sv-comparison")
    ):
        lines = []
        for fate, look in FATES.items():
            shade: Shade = getattr(look, theme)
            lines += [
                f"--sv-{fate.value}-{part}:{value};"
                for part, value in (("bg", shade.background), ("ink", shade.ink), ("line", shade.line))
            ]
            lines.append(f"--sv-{fate.value}-under:{look.underline};")
        lines += [f"--sv-{role}:{pair[theme == 'dark']};" for role, pair in ROLES.items()]
        blocks.append(selector + "{" + "".join(lines) + "}")
    return "\n".join(blocks)


def plain() -> dict[str, Any]:
    """The same as plain data, by wire letter, for the browser; words in the language of the moment.

    `name` of a fate is the same in every language.
    """
    return {
        "fates": {
            look.letter: asdict(look)
            | {"name": fate.value, "word": word(fate), "says": say(f"fates.{fate.value}_about")}
            for fate, look in FATES.items()
        },
        "target": {"word": say("fates.target"), "says": say("fates.target_about")},
        "roles": {role: list(pair) for role, pair in ROLES.items()},
    }


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two ``#rrggbb`` colours after WCAG 2, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
