"""The elements that all studies below the run are made of: paragraphs, badges, tokens, and the one table builder.

Pure: plain values in, HTML out (`markup.tag`). Colours are the palette's variables, the layout is in
`assets/studies.css`. Example: ``table("Costs", [Column("c", "draft ÷ target")], [["greedy", "0.12"]])``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from specviz.core.records import Fate
from specviz.core.words import say
from specviz.traces.trace import Trace
from specviz.verification import is_lossless, lossy
from specviz.views.amounts import amount
from specviz.views.glyphs import shown
from specviz.views.markup import NOTHING, Html, joined, tag
from specviz.views.palette import LETTERS, word


def room(*parts: Html) -> Html:
    """A whole study: the palette's variables hold inside."""
    return tag("div", *parts, cls="sv-comparison sv-study")


def part(title: str, *inside: Html) -> Html:
    """A section with its heading."""
    return tag("section", tag("h3", title), *inside, cls="sv-part")


def says(*inside: object) -> Html:
    """A paragraph."""
    return tag("p", *inside)


def folded(title: str, *inside: Html) -> Html:
    """Hidden until opened."""
    return tag("details", tag("summary", title), *inside)


def badge(kind: str) -> Html:
    """What a rule claims. `kind`: "lossless", "lossy" or "wrong"."""
    text = say(f"studies.{kind}")
    return tag("span", text if kind == "lossless" else f"⚠ {text}", cls=f"sv-lo-badge sv-lo-{kind}")


def rule_named(rule: str) -> str:
    """A rule in a sentence: one that changes the output is never named without saying so."""
    return rule if is_lossless(rule) else f"{rule} ({say('studies.lossy')})"


def changed(trace: Trace) -> Html:
    """The badge of a run whose output no longer has the target's distribution, with the rules; nothing for any other."""
    rules = lossy(trace.steps)
    if not rules:
        return NOTHING
    steps = sum(bool(step.tokens) and step.settings.rule in rules for step in trace.steps)
    sentence = say("studies.changed", rules=", ".join(rules), part=steps, steps=amount("of_steps", len(trace.steps)))
    return says(badge("lossy"), f" {sentence}")


class Column(NamedTuple):
    """A column's heading and a short sentence about it."""

    name: str
    about: str = ""


def column(key: str, **fields: object) -> Column:
    """The column that the catalogue describes under `key` and `key` + "_about"."""
    return Column(say(key, **fields), say(f"{key}_about", **fields))


def table(
    label: str,
    columns: Iterable[Column],
    rows: Iterable[Sequence[object]],
    kind: str = "",
    marked: int | None = None,
    on_hover: bool = False,
) -> Html:
    """A table that scrolls, can be reached with the keyboard and therefore has a label.

    `rows`: cells of each row, of which the first is its header; `marked`: index of the fastest row. `kind`: "low" keeps to
    a part of the window's height, "wide" and "told" have sentences in their first column, "sweep-table" has its own style.
    `on_hover`: explain columns in their titles, not below their names; then add `meanings` for keys and fingers.
    """
    head = [
        tag("th", name, scope="col", title=about)
        if on_hover
        else tag("th", name, *([tag("small", about)] if about else []), scope="col")
        for name, about in columns
    ]
    body = [
        tag(
            "tr",
            tag("th", first, scope="row"),
            *(tag("td", cell) for cell in cells),
            cls="sv-fastest" if at == marked else None,
        )
        for at, (first, *cells) in enumerate(rows)
    ]
    inner = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), cls="sv-compare")
    around = f"sv-compare-scroll sv-{kind}" if kind else "sv-compare-scroll"
    return tag("div", inner, cls=around, tabindex=0, role="region", aria_label=label)


def meanings(columns: Iterable[Column]) -> Html:
    """The titles of a table's columns for keys and fingers: unfolded below the table."""
    entries = [piece for name, about in columns for piece in (tag("dt", name), tag("dd", about))]
    return tag("details", tag("summary", say("studies.meanings")), tag("dl", *entries), cls="sv-meanings")


def token(text: str, fate: Fate) -> Html:
    """A token in the look of its fate, word included for those who cannot see the look."""
    heard = tag("span", f" {word(fate)}", cls="sv-sr")
    seen = shown(text) or say("fates.no_text")
    return tag("span", seen, heard, cls=f"sv-chip sv-{LETTERS[fate]}", translate="no", title=word(fate))


def named(name: str, about: str) -> Html:
    """A name with a short sentence below it, for the first cell of a row."""
    return joined([name, tag("small", about)])
