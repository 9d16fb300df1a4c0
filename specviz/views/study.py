"""What all studies below the run are drawn with: tables whose headers explain themselves, tokens, figures, gaps.

Pure: plain values in, HTML out, everything escaped here. Colours are the palette's variables, the layout is in
`assets/studies.css`. Example: ``table("Costs", [("c", "draft ÷ target")], [["0.12"]])``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from specviz.trace import Fate, Trace
from specviz.verification import is_lossless, lossy
from specviz.views.glyphs import shown
from specviz.views.palette import FATES, LETTERS

BADGES = {"lossless": "exact", "lossy": "⚠ changes the output", "wrong": "⚠ wrong on purpose"}
"""What a rule claims, in words."""
GAP = "–"
"""Stands where nothing was measured or there is nothing to divide by."""


class Html(str):
    """A piece of page whose text is escaped already; all other strings are escaped where they are put in."""


def html(value: object) -> str:
    """`value` as a piece of page; None is a gap."""
    if value is None:
        return GAP
    return value if isinstance(value, Html) else escape(str(value))


def room(*parts: Html) -> Html:
    """A whole study: the palette's variables hold inside."""
    return Html(f'<div class="sv-comparison sv-study">{"".join(parts)}</div>')


def part(title: str, *inside: Html) -> Html:
    """A section with its heading."""
    return Html(f'<section class="sv-part"><h3>{escape(title)}</h3>{"".join(inside)}</section>')


def says(text: object) -> Html:
    """A paragraph."""
    return Html(f"<p>{html(text)}</p>")


def folded(title: str, *inside: Html) -> Html:
    """Out of sight until asked for."""
    return Html(f"<details><summary>{escape(title)}</summary>{''.join(inside)}</details>")


def badge(kind: str) -> Html:
    """`kind`: a key of `BADGES`."""
    return Html(f'<span class="sv-lo-badge sv-lo-{kind}">{escape(BADGES[kind])}</span>')


def rule_named(rule: str) -> str:
    """A rule in a sentence: one that changes the output is never named without saying so."""
    return rule if is_lossless(rule) else f"{rule} ({BADGES['lossy'].removeprefix('⚠ ')})"


def changed(trace: Trace) -> Html:
    """The badge of a run whose output is no longer the target's own, with the rules; nothing for any other."""
    rules = lossy(trace.steps)
    if not rules:
        return Html("")
    steps = sum(bool(step.tokens) and step.settings.rule in rules for step in trace.steps)
    return says(
        Html(
            f"{badge('lossy')} {html(' and '.join(rules))} decided in "
            f"{steps} of {counted(len(trace.steps), 'step')}: more may be accepted, and sooner, than a rule that keeps the "
            "target's distribution would."
        )
    )


def table(label: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]], kind: str = "") -> Html:
    """`columns`: name and a short sentence that stands below it. The first cell of a row is its header.

    `kind`: "low" keeps to a part of the window's height and scrolls, "wide" and "told" have sentences in their first
    column. What scrolls can be reached with the keyboard, so it has a label.
    """
    head = "".join(
        f'<th scope="col">{escape(name)}{f"<small>{escape(about)}</small>" if about else ""}</th>'
        for name, about in columns
    )
    body = "".join(
        f'<tr><th scope="row">{html(first)}</th>{"".join(f"<td>{html(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    return Html(
        f'<div class="sv-compare-scroll{f" sv-{kind}" if kind else ""}" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="sv-compare"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def headings(columns: Iterable[tuple[str, str]]) -> Html:
    """Cells of a table's head: each name, and for those who point at it what the column means. See `meanings`."""
    return Html("".join(f'<th scope="col" title="{escape(about)}">{escape(name)}</th>' for name, about in columns))


def meanings(columns: Iterable[tuple[str, str]]) -> Html:
    """What stands in the titles of `headings`, for keys and fingers too: unfolded below the table."""
    entries = "".join(f"<dt>{escape(name)}</dt><dd>{escape(about)}</dd>" for name, about in columns)
    return Html(f'<details class="sv-meanings"><summary>What the columns mean</summary><dl>{entries}</dl></details>')


def token(text: str, fate: Fate) -> Html:
    """A token in the look of its fate, word included for those who cannot see the look."""
    look = FATES[fate]
    return Html(
        f'<span class="sv-chip sv-{LETTERS[fate]}" translate="no" title="{look.word}">{escape(shown(text)) or "⟨no text⟩"}'
        f'<span class="sv-sr"> {look.word}</span></span>'
    )


def number(value: float | None, form: str = ".2f", unit: str = "") -> str:
    """A figure or a gap."""
    return GAP if value is None else format(value, form) + unit


def share(part_: float, whole: float) -> str:
    """A percentage or a gap: nothing of nothing is not 0 %."""
    return f"{part_ / whole:.0%}" if whole else GAP


def ms(seconds: float) -> str:
    """Milliseconds, as many digits as say something."""
    return f"{1000 * seconds:,.{0 if seconds >= 0.1 else 1}f} ms"


def counted(n: int, one: str, many: str = "") -> str:
    """``counted(1, "pass", "passes")`` is "1 pass"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
