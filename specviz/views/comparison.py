"""Lanes of a comparison as a piece of page: a table with denominators, and a strip for each lane.

A strip has a cell for every token of the output, in the colour and with the mark of its fate, and a seam where a step
begins: at temperature 0 all strips stand for the same text, so one sees where each strategy saves a pass. Colours and
marks are the palette's. Pure: (table, traces) → HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from specviz.core.plural import counted
from specviz.core.records import Fate, StepRecord, TokenRecord
from specviz.metrics.comparison import Fastest, Gain, alone_gain, fastest
from specviz.metrics.trust import beyond
from specviz.traces.trace import Trace
from specviz.views import study
from specviz.views.markup import GAP, NOTHING, Html, joined, tag
from specviz.views.palette import FATES, LETTERS, TARGET_WORD
from specviz.views.study import headings, meanings, scrolled

STRATEGY = ("strategy", "What drafts. The target alone drafts nothing: it makes a pass for every token.")
COLUMNS: Mapping[str, tuple[str, str]] = {
    "speed_up": (
        "speed-up",
        "Tokens/s ÷ tokens/s of the target alone, which took turns with it. ⚠: more than the tokens a pass allow, so the "
        "machine was busy with something else: measure again.",
    ),
    "tokens_per_s": ("tokens/s", "Tokens of the output ÷ seconds of drafting, verifying and what lies between."),
    "acceptance_rate": (
        "acceptance rate α",
        "Accepted places ÷ tested places: of what the target looked at, how much it kept.",
    ),
    "drafted_share": (
        "of drafted",
        "Accepted ÷ all drafted tokens, untested ones included; falls with K although the models are unchanged.",
    ),
    "mean_draft_length": (
        "drafted a pass",
        "Drafted tokens ÷ passes of the target; a high α with few drafted is no feat.",
    ),
    "block_efficiency": ("tokens a pass τ", "Tokens of the output ÷ passes of the target."),
    "cost_ratio": ("draft cost c", "Median time of one draft pass ÷ median time of a target pass over one place."),
    "verify_ratio": (
        "verify cost v",
        "Median time of the passes over a draft, of whatever length ÷ median time of a target pass over one place.",
    ),
    "same": (
        "same text",
        "Whether the output is the target's own, token by token; compared at temperature 0 under a rule that keeps the "
        "distribution. In bfloat16 near-ties may part them; the race of a comparison shows where, and by how much.",
    ),
}
MARKS = (
    "fastest",
    "The greatest speed-up here; that of the target alone is 1. Not surely: by the 95 % intervals another may be as fast, "
    "or there were too few steps for intervals.",
)


def gain(name: str, row: Mapping[Any, Any]) -> Gain:
    """The speed-up of a row of `metrics.comparison.table`."""
    return Gain(name, number(row, "speed_up"), number(row, "speed_up_low"), number(row, "speed_up_high"))


def mark(first: Fastest) -> Html:
    """The word beside the name of the fastest."""
    if not first.doubt:
        return tag("b", "fastest")
    return tag("b", "fastest, not surely", title=first.doubt)


def html(
    found: pd.DataFrame, traces: Mapping[str, Trace], alone: str, heading: str, ended: bool = True, going: bool = False
) -> Html:
    """Table and strips. `found`: as `metrics.comparison.table` makes it; `traces` in the same order of lanes.

    `ended`: all lanes have come to their end; only then one of them is called the fastest. `going`: it is about to be
    drawn anew, so there is nothing to unfold that would fold again by itself.
    """
    if found.empty:
        return NOTHING
    columns, lanes = [STRATEGY, *COLUMNS.values()], found.to_dict("records")
    gains = [_gain(lane, alone) for lane in lanes]
    first = fastest(gains) if ended else None
    if first and (reason := _beyond(lanes[first.at])):
        first = first._replace(doubt=reason)
    doubt = f" Fastest, not surely: {gains[first.at].name}. {first.doubt}" if first and first.doubt else ""
    rows = [
        row(lane["lane"], [cell(lane, name) for name in COLUMNS], mark(first) if first and first.at == at else None)
        for at, lane in enumerate(lanes)
    ]
    strips = [strip(name, trace, alone) for name, trace in traces.items()]
    return tag(
        "div",
        tag("p", heading + doubt, cls="sv-compare-says"),
        scrolled("Strategies compared", headings(columns), rows),
        NOTHING if going else meanings([*columns, MARKS]),
        tag("div", *strips, cls="sv-strips", tabindex=0, role="region", aria_label="Fate of each token, by strategy"),
        cls="sv-comparison",
    )


def _gain(lane: Mapping[Any, Any], alone: str) -> Gain:
    name = str(lane["lane"])
    return alone_gain(name) if name == alone and number(lane, "speed_up") is not None else gain(name, lane)


def row(name: object, cells: Iterable[object], marked: Html | None = None) -> Html:
    """A line of a table of lanes; `marked`: the `mark` of the fastest."""
    return study.row(joined([name, " ", marked]) if marked else name, cells, bool(marked))


def cell(row: Mapping[Any, Any], name: str) -> Html:
    """A figure of `metrics.comparison.table` with its denominator, and its interval where it has one; a gap for NA."""
    value, small = figure(row, name)
    doubt = _beyond(row) if name == "speed_up" and not pd.isna(row[name]) else ""
    sign = [" ", tag("b", "⚠", title=doubt)] if doubt else []
    return joined([value, *sign, *([" ", tag("small", f"({small})")] if small else [])])


def figure(row: Mapping[Any, Any], name: str) -> tuple[str, str]:
    """The same as two texts: the figure, and what it is over with its interval, or nothing."""
    value = row[name]
    if pd.isna(value):
        return GAP, ""
    if name == "same":
        return "✓ yes" if value else "✗ no", ""
    over = {
        "acceptance_rate": f"{row['accepted']} of {row['tested']}",
        "drafted_share": f"of {row['drafted']}",
        "mean_draft_length": f"{row['drafted']} in {row['target_passes']}",
        "block_efficiency": f"{row['tokens']} in {row['target_passes']}",
    }.get(name, "")
    form = ".1f" if name.endswith("tokens_per_s") else ".2f"
    small = "; ".join(part for part in (over, interval(row, name)) if part)
    return f"{value:{form}}{'×' if name == 'speed_up' else ''}", small


def _beyond(row: Mapping[Any, Any]) -> str:
    """Why the speed-up of this row cannot be, nothing where it can."""
    gain_, tau = number(row, "speed_up"), number(row, "block_efficiency")
    return "" if gain_ is None or tau is None else beyond(gain_, tau)


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
    passes, tokens = len(trace.steps), len(trace.output_ids)
    says = f"{name}: {counted(tokens, 'token')} in {counted(passes, 'pass', 'passes')} of the target"
    counts = ", ".join(
        f"{n} {FATES[fate].word if name != alone else TARGET_WORD}" for fate in Fate if (n := _emitted(trace, fate))
    )
    cells = [cell for step in trace.steps for cell in _cells(step)]
    return joined(
        [
            tag("div", name, " ", tag("small", counted(passes, "pass", "passes")), cls="sv-strip-name"),
            tag("div", *cells, cls="sv-strip", translate="no", role="img", aria_label=f"{says}: {counts}"),
        ]
    )


def _cells(step: StepRecord) -> list[Html]:
    return [
        tag(
            "i",
            FATES[token.fate].mark if step.tokens else "·",
            cls=f"sv-{LETTERS[token.fate]}{' sv-seam' if place == 0 else ''}",
            title=_says(step, token),
        )
        for place, token in enumerate(_path(step))
    ]


def _path(step: StepRecord) -> list[TokenRecord]:
    """The tokens of a step that are in the output, in order."""
    kept = [token for token in step.tokens if token.fate is Fate.ACCEPTED]
    return kept + ([step.extra] if step.extra is not None else [])


def _says(step: StepRecord, token: TokenRecord) -> str:
    word = FATES[token.fate].word if step.tokens else TARGET_WORD
    return f"step {step.index + 1}: {token.text!r} {word}"


def _emitted(trace: Trace, fate: Fate) -> int:
    return sum(token.fate is fate for step in trace.steps for token in _path(step))
