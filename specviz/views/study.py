"""What all studies below the run are drawn with: tables whose headers explain themselves, tokens, figures, gaps.

Pure: plain values in, HTML out (`markup.tag`). Colours are the palette's variables, the layout is in
`assets/studies.css`. Example: ``table("Costs", [("c", "draft ÷ target")], [["0.12"]])``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specviz.core.plural import counted
from specviz.core.records import Fate
from specviz.traces.trace import Trace
from specviz.verification import is_lossless, lossy
from specviz.views.glyphs import shown
from specviz.views.markup import GAP, NOTHING, Html, joined, tag
from specviz.views.palette import FATES, LETTERS

BADGES = {"lossless": "exact", "lossy": "⚠ changes the output", "wrong": "⚠ wrong on purpose"}
"""What a rule claims, in words."""


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
    """Out of sight until asked for."""
    return tag("details", tag("summary", title), *inside)


def badge(kind: str) -> Html:
    """`kind`: a key of `BADGES`."""
    return tag("span", BADGES[kind], cls=f"sv-lo-badge sv-lo-{kind}")


def rule_named(rule: str) -> str:
    """A rule in a sentence: one that changes the output is never named without saying so."""
    return rule if is_lossless(rule) else f"{rule} ({BADGES['lossy'].removeprefix('⚠ ')})"


def changed(trace: Trace) -> Html:
    """The badge of a run whose output is no longer the target's own, with the rules; nothing for any other."""
    rules = lossy(trace.steps)
    if not rules:
        return NOTHING
    steps = sum(bool(step.tokens) and step.settings.rule in rules for step in trace.steps)
    return says(
        badge("lossy"),
        f" {' and '.join(rules)} decided in {steps} of {counted(len(trace.steps), 'step')}: more may be accepted, and sooner, "
        "than a rule that keeps the target's distribution would.",
    )


def table(label: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]], kind: str = "") -> Html:
    """`columns`: name and a short sentence that stands below it. The first cell of a row is its header.

    `kind`: "low" keeps to a part of the window's height and scrolls, "wide" and "told" have sentences in their first
    column.
    """
    head = [tag("th", name, *([tag("small", about)] if about else []), scope="col") for name, about in columns]
    return scrolled(label, head, [row(first, rest) for first, *rest in rows], f" sv-{kind}" if kind else "")


def row(first: object, cells: Iterable[object], marked: bool = False) -> Html:
    """A line of a table whose `first` cell is its header; `marked` as the fastest."""
    body = [tag("td", cell) for cell in cells]
    return tag("tr", tag("th", first, scope="row"), *body, cls="sv-fastest" if marked else None)


def scrolled(label: str, head: Iterable[Html], rows: Iterable[Html], around: str = "", kind: str = "") -> Html:
    """A table of made cells and rows. What scrolls can be reached with the keyboard, so it has a label.

    `around`, `kind`: further classes of what scrolls and of the table, each after a space.
    """
    inner = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows), cls=f"sv-compare{kind}")
    return tag("div", inner, cls=f"sv-compare-scroll{around}", tabindex=0, role="region", aria_label=label)


def headings(columns: Iterable[tuple[str, str]]) -> list[Html]:
    """Cells of a table's head: each name, and for those who point at it what the column means. See `meanings`."""
    return [tag("th", name, scope="col", title=about) for name, about in columns]


def meanings(columns: Iterable[tuple[str, str]]) -> Html:
    """What stands in the titles of `headings`, for keys and fingers too: unfolded below the table."""
    entries = [piece for name, about in columns for piece in (tag("dt", name), tag("dd", about))]
    return tag("details", tag("summary", "What the columns mean"), tag("dl", *entries), cls="sv-meanings")


def token(text: str, fate: Fate) -> Html:
    """A token in the look of its fate, word included for those who cannot see the look."""
    word = FATES[fate].word
    heard = tag("span", f" {word}", cls="sv-sr")
    return tag("span", shown(text) or "⟨no text⟩", heard, cls=f"sv-chip sv-{LETTERS[fate]}", translate="no", title=word)


def named(name: str, about: str) -> Html:
    """A name with a short sentence below it, for the first cell of a row."""
    return joined([name, tag("small", about)])


def number(value: float | None, form: str = ".2f", unit: str = "") -> str:
    """A figure or a gap."""
    return GAP if value is None else format(value, form) + unit


def share(part_: float, whole: float) -> str:
    """A percentage or a gap: nothing of nothing is not 0 %."""
    return f"{part_ / whole:.0%}" if whole else GAP


def ms(seconds: float) -> str:
    """Milliseconds, as many digits as say something."""
    return f"{1000 * seconds:,.{0 if seconds >= 0.1 else 1}f} ms"
