"""Lanes of a comparison as a piece of page: a table with denominators, and a strip for each lane.

A strip has a cell for every token of the output, in the colour and with the mark of its fate, and a seam where a step
begins: at temperature 0 all strips stand for the same text, so one sees where each strategy saves a pass. Colours and
marks are the palette's. Pure: (table, traces) → HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from specviz.core.records import Fate, StepRecord, TokenRecord
from specviz.core.words import say
from specviz.metrics.comparison import Fastest, Gain, alone_gain, fastest
from specviz.metrics.trust import Doubt, beyond
from specviz.traces.trace import Trace
from specviz.views.amounts import amount, of
from specviz.views.doubts import doubted
from specviz.views.elements import Column, column, meanings, table
from specviz.views.markup import GAP, NOTHING, Html, joined, tag
from specviz.views.palette import FATES, LETTERS, word

COLUMNS = (
    "speed_up",
    "tokens_per_s",
    "acceptance_rate",
    "drafted_share",
    "mean_draft_length",
    "block_efficiency",
    "cost_ratio",
    "verify_ratio",
    "same",
)
"""Figures of `metrics.comparison.table` that the table shows, in order."""
MOST_NAMED = 3
"""Others that may be as fast and are named."""


def columns(names: Iterable[str]) -> list[Column]:
    """Headings of figures, with what they mean."""
    return [column(f"columns.{name}") for name in names]


def gain(name: str, row: Mapping[Any, Any]) -> Gain:
    """The speed-up of a row of `metrics.comparison.table`."""
    return Gain(name, number(row, "speed_up"), number(row, "speed_up_low"), number(row, "speed_up_high"))


def reason(first: Fastest | None, doubt: Doubt | None = None) -> str:
    """Why it is not certain which is the fastest, in a sentence; nothing where it is. `doubt`: of its speed-up."""
    if first is None or doubt:
        return doubted(doubt) if first else ""
    if first.doubt != "near":
        return say("columns.few_steps") if first.doubt else ""
    names = ", ".join(first.rivals[:MOST_NAMED])
    more = len(first.rivals) - MOST_NAMED
    return say("columns.near_more", names=names, more=more) if more > 0 else say("columns.near", names=names)


def marked(name: object, why: str) -> Html:
    """The name of the fastest with a word beside it; `why`: the `reason` why that is not certain."""
    word_ = tag("b", say("columns.fastest_unsure"), title=why) if why else tag("b", say("columns.fastest"))
    return joined([name, " ", word_])


def html(
    found: pd.DataFrame, traces: Mapping[str, Trace], alone: str, heading: str, ended: bool = True, going: bool = False
) -> Html:
    """Table and strips. `found`: as `metrics.comparison.table` makes it; `traces` in the same order of lanes.

    `ended`: all lanes have come to their end; only then one of them is called the fastest. `going`: it is about to be
    drawn anew, so there is nothing to unfold that would fold again by itself.
    """
    if found.empty:
        return NOTHING
    heads, lanes = columns(["strategy", *COLUMNS]), found.to_dict("records")
    first = fastest([_gain(lane, alone) for lane in lanes]) if ended else None
    why = reason(first, _beyond(lanes[first.at]) if first else None)
    if first and why:
        heading += " " + say("columns.unsure", name=lanes[first.at]["lane"], why=why)
    rows = [[lane["lane"], *(cell(lane, name) for name in COLUMNS)] for lane in lanes]
    if first:
        rows[first.at][0] = marked(rows[first.at][0], why)
    return tag(
        "div",
        tag("p", heading, cls="sv-compare-says"),
        table(say("studies.compared"), heads, rows, marked=first.at if first else None, on_hover=True),
        NOTHING if going else meanings([*heads, *columns(["fastest"])]),
        tag(
            "div",
            *(strip(name, trace, alone) for name, trace in traces.items()),
            cls="sv-strips",
            tabindex=0,
            role="region",
            aria_label=say("studies.strips"),
        ),
        cls="sv-comparison",
    )


def _gain(lane: Mapping[Any, Any], alone: str) -> Gain:
    name = str(lane["lane"])
    return alone_gain(name) if name == alone and number(lane, "speed_up") is not None else gain(name, lane)


def cell(row: Mapping[Any, Any], name: str) -> Html:
    """A figure of `metrics.comparison.table` with its denominator, and its interval where it has one; a gap for NA."""
    value, small = figure(row, name)
    doubt = _beyond(row) if name == "speed_up" and not pd.isna(row[name]) else None
    sign = [" ", tag("b", "⚠", title=doubted(doubt))] if doubt else []
    return joined([value, *sign, *([" ", tag("small", f"({small})")] if small else [])])


def figure(row: Mapping[Any, Any], name: str) -> tuple[str, str]:
    """The same as two texts: the figure, and what it is over with its interval, or nothing."""
    value = row[name]
    if pd.isna(value):
        return GAP, ""
    if name == "same":
        return say("columns.yes" if value else "columns.no"), ""
    over = {
        "acceptance_rate": lambda: of(row["accepted"], row["tested"]),
        "drafted_share": lambda: say("amounts.of_whole", whole=row["drafted"]),
        "mean_draft_length": lambda: say("amounts.in", part=row["drafted"], whole=row["target_passes"]),
        "block_efficiency": lambda: say("amounts.in", part=row["tokens"], whole=row["target_passes"]),
    }.get(name, str)()
    form = ".1f" if name.endswith("tokens_per_s") else ".2f"
    small = "; ".join(part for part in (over, interval(row, name)) if part)
    return f"{value:{form}}{'×' if name == 'speed_up' else ''}", small


def _beyond(row: Mapping[Any, Any]) -> Doubt | None:
    """Why the speed-up of this row is impossible; None where it is possible."""
    gain_, tau = number(row, "speed_up"), number(row, "block_efficiency")
    return None if gain_ is None or tau is None else beyond(gain_, tau)


def interval(row: Mapping[Any, Any], name: str) -> str:
    """The ends of a figure's interval, nothing where it has none."""
    low, high = number(row, f"{name}_low"), number(row, f"{name}_high")
    form = ".1f" if name.endswith("tokens_per_s") else ".2f"
    return "" if low is None or high is None else f"{low:{form}} … {high:{form}}"


def number(row: Mapping[Any, Any] | None, name: str) -> float | None:
    """A figure of a row, None where there is no such row, column or value."""
    return None if row is None or name not in row or pd.isna(row[name]) else float(row[name])


def strip(name: str, trace: Trace, alone: str) -> Html:
    """One lane's output, a cell a token."""
    passes = amount("passes", len(trace.steps))
    counts = ", ".join(
        f"{n} {word(fate) if name != alone else say('fates.target')}" for fate in Fate if (n := _emitted(trace, fate))
    )
    label = say("studies.strip", name=name, tokens=amount("tokens", len(trace.output_ids)), passes=passes, fates=counts)
    cells = [cell for step in trace.steps for cell in _cells(step)]
    return joined(
        [
            tag("div", name, " ", tag("small", passes), cls="sv-strip-name"),
            tag("div", *cells, cls="sv-strip", translate="no", role="img", aria_label=label),
        ]
    )


def _cells(step: StepRecord) -> list[Html]:
    return [
        tag(
            "i",
            FATES[token.fate].mark if step.tokens else "·",
            cls=f"sv-{LETTERS[token.fate]}{' sv-seam' if index == 0 else ''}",
            title=_says(step, token),
        )
        for index, token in enumerate(_path(step))
    ]


def _path(step: StepRecord) -> list[TokenRecord]:
    """The tokens of a step that are in the output, in order."""
    kept = [token for token in step.tokens if token.fate is Fate.ACCEPTED]
    return kept + ([step.extra] if step.extra is not None else [])


def _says(step: StepRecord, token: TokenRecord) -> str:
    fate = word(token.fate) if step.tokens else say("fates.target")
    return say("studies.strip_token", step=step.index + 1, token=repr(token.text), fate=fate)


def _emitted(trace: Trace, fate: Fate) -> int:
    return sum(token.fate is fate for step in trace.steps for token in _path(step))
