"""A sweep as pictures and as a table: speed-up by strategy and K, with intervals. Pure: (table of a sweep) → figures, HTML.

Every picture says in words what it shows, and the table holds all of it with denominators. Gaps stay gaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from specviz.core.words import say
from specviz.metrics.comparison import Fastest, alone_gain, fastest
from specviz.views import comparison
from specviz.views.amounts import amount, of
from specviz.views.comparison import columns, gain, interval, marked, number, reason
from specviz.views.elements import meanings, table
from specviz.views.markup import GAP, NOTHING, Html, joined, tag
from specviz.views.markup import html as html_of
from specviz.views.palette import ABOVE, BELOW, EVEN, ON_SCALE, ROLES, SERIES

DASHES, SYMBOLS = ("solid", "dash", "dot", "dashdot", "longdash"), ("circle", "square", "diamond", "triangle-up", "x")
COLUMNS = (
    "speed_up",
    "tokens_per_s",
    "alone_tokens_per_s",
    "acceptance_rate",
    "block_efficiency",
    "cost_ratio",
    "verify_ratio",
    "drafted_share",
    "same",
)
"""Figures of a sweep's table, in order; most are those of a comparison."""
ALONE = -1
"""Stands for the target alone, which is no row of the table, among the indices of the rows."""


def progress(done: int, wanted: int, share: float, line: str, going: bool = False) -> Html:
    """The line "12 of 40: greedy, K = 4, “Story”" over a bar. `share`: of all, 0 … 1. What comes to rest is announced."""
    role = None if going else "status"
    told = f"{of(done, wanted)}: {line}" if line else of(done, wanted)
    says = tag("p", told if wanted else line, cls="sv-sweep-line", role=role)
    if not wanted:
        return says if line else NOTHING
    bar = tag(
        "div",
        tag("div", style=f"width: {100 * share:.1f}%"),
        cls="sv-sweep-bar",
        role="progressbar",
        aria_label=say("sweep.progress"),
        aria_valuemin=0,
        aria_valuemax=100,
        aria_valuenow=f"{100 * share:.0f}",
    )
    return joined([says, bar])


def pictures(found: pd.DataFrame) -> list[dict[str, Any]]:
    """Heat map and curves as plain data for `assets/sweep.js`: {name, says, figure}; nothing where nothing is measured."""
    if found.empty:
        return []
    return [
        {"name": say("sweep.map_title"), "says": _says(found), "figure": plain(heat_map(found))},
        {"name": say("sweep.curves_title"), "says": _says(found), "figure": plain(curves(found))},
    ]


def plain(figure: go.Figure) -> dict[str, Any]:
    """A figure as JSON can hold it."""
    return {part: value for part, value in figure.to_plotly_json().items() if part in ("data", "layout")}


def heat_map(found: pd.DataFrame) -> go.Figure:
    """Strategy × K, coloured by speed-up around 1; the number stands in the cell, its interval in the note."""
    names, ks = _series(found), sorted(set(found["k"]))
    cells = {(name, k): line for name, lines in names.items() for k, line in lines.items()}
    values = [[number(cells.get((name, k)), "speed_up") for k in ks] for name in names]
    known = [value for line in values for value in line if value is not None]
    reach = max([0.25, *(abs(value - 1) for value in known)])
    figure = go.Figure(layout={"template": go.layout.Template()})
    figure.add_heatmap(
        x=[str(k) for k in ks],
        y=[html_of(name) for name in names],  # plotly takes labels for markup, too
        z=values,
        text=[[GAP if v is None else f"{v:.2f}×" for v in line] for line in values],
        customdata=[[_note(cells.get((name, k))) for k in ks] for name in names],
        texttemplate="%{text}",
        textfont={"color": ON_SCALE, "size": 13},
        hovertemplate="%{y}, K = %{x}<br>%{customdata}<extra></extra>",
        zmin=1 - reach,
        zmid=1,
        zmax=1 + reach,
        colorscale=[[0, BELOW], [0.5, EVEN], [1, ABOVE]],
        colorbar={"title": {"text": say("sweep.colour_bar")}, "thickness": 12, "outlinewidth": 0, "nticks": 5},
        xgap=2,
        ygap=2,
        hoverongaps=False,
    )
    _dress(figure, "K", "", 96 + 44 * len(names))
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def curves(found: pd.DataFrame) -> go.Figure:
    """Speed-up over K, a line a strategy in its band; the target alone is the line at 1."""
    figure = go.Figure(layout={"template": go.layout.Template()})
    ks = sorted(set(found["k"]))
    for at, (name, lines) in enumerate(_series(found).items()):
        colour, known = SERIES[at % len(SERIES)], [(k, line) for k, line in lines.items() if number(line, "speed_up")]
        banded = [(k, number(line, "speed_up_low"), number(line, "speed_up_high")) for k, line in known]
        band = [(k, low, high) for k, low, high in banded if low is not None and high is not None]
        figure.add_scatter(
            x=[k for k, _, _ in band] + [k for k, _, _ in reversed(band)],
            y=[high for _, _, high in band] + [low for _, low, _ in reversed(band)],
            mode="lines",
            line={"width": 0},
            fill="toself",
            meta={"colours": list(colour), "band": True},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            name=html_of(name),
            x=[k for k, _ in known],
            y=[number(line, "speed_up") for _, line in known],
            customdata=[_note(line) for _, line in known],
            mode="lines+markers",
            line={"width": 2, "dash": DASHES[at % len(DASHES)]},
            marker={"size": 8, "symbol": SYMBOLS[at % len(SYMBOLS)]},
            meta={"colours": list(colour)},
            hovertemplate=joined([name, ", K = %{x}", tag("br"), "%{customdata}"]) + "<extra></extra>",
        )
    figure.add_scatter(
        name=say("figures.alone"),
        x=[min(ks), max(ks)],
        y=[1, 1],
        mode="lines",
        line={"width": 2, "dash": "dash"},
        meta={"colours": list(ROLES["alone"])},
        hoverinfo="skip",
    )
    _dress(figure, "K", say("sweep.speed_up_axis"), 300)
    figure.update_xaxes(tickvals=ks, showgrid=False)
    figure.update_yaxes(rangemode="tozero")
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return figure


def _dress(figure: go.Figure, x: str, y: str, height: int) -> None:
    axis = {"zeroline": False, "fixedrange": True, "automargin": True}
    figure.update_layout(
        xaxis={**axis, "title": {"text": x, "standoff": 6}},
        yaxis={**axis, "title": {"text": y, "standoff": 6}},
        margin={"l": 48, "r": 8, "t": 24, "b": 40},
        height=height,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        dragmode=False,
        showlegend=False,
    )


def _series(found: pd.DataFrame) -> dict[str, dict[int, Mapping[str, Any]]]:
    """Rows by name and K. A name is the strategy, with the temperature where there are several."""
    several = found["temperature"].nunique() > 1
    names: dict[str, dict[int, Mapping[str, Any]]] = {}
    for line in found.to_dict("records"):
        name = line["strategy"] + (f", T = {line['temperature']:g}" if several else "")
        names.setdefault(name, {})[int(line["k"])] = {str(column): value for column, value in line.items()}
    return {name: dict(sorted(lines.items())) for name, lines in names.items()}


def _note(line: Mapping[str, Any] | None) -> Html | str:
    if line is None:
        return say("sweep.not_measured")
    value, small = comparison.figure(line, "acceptance_rate")
    alpha = f"α {value}" + (f" ({small})" if small else "")
    rates = say("sweep.rates", tau=_plain(line, "block_efficiency"), rate=_plain(line, "tokens_per_s"))
    return joined([_plain(line, "speed_up"), tag("br"), alpha, tag("br"), rates])


def _plain(line: Mapping[str, Any], column: str) -> str:
    value, ends = number(line, column), interval(line, column)
    sign = "×" if column == "speed_up" else ""
    return GAP if value is None else f"{value:.2f}{sign}" + (f" [{ends}]" if ends else "")


def _says(found: pd.DataFrame) -> str:
    """The picture in a sentence or two."""
    known = found[found["speed_up"].notna()]
    if known.empty:
        return say("sweep.nothing")
    best = known.loc[known["speed_up"].astype(float).idxmax()].to_dict()
    first = _fastest(known.to_dict("records"))
    choice = {"strategy": best["strategy"], "k": best["k"], "gain": _plain(best, "speed_up")}
    words = say("sweep.fastest_alone" if first and first.at == ALONE else "sweep.fastest_choice", **choice)
    why = reason(first)
    below, surely = int((known["speed_up"] < 1).sum()), int((known["speed_up_high"] < 1).sum())
    slower = say("sweep.slower", below=below, choices=amount("of_choices", len(known)), surely=surely)
    return f"{say('sweep.unsure', words=words, why=why) if why else say('sweep.fastest', words=words)} {slower}"


def _fastest(lines: Sequence[Mapping[Any, Any]]) -> Fastest | None:
    """Which of these lines, or the target alone."""
    several = len({line["temperature"] for line in lines}) > 1
    names = [
        say("sweep.choice", strategy=n["strategy"], k=n["k"]) + (f", T = {n['temperature']:g}" if several else "")
        for n in lines
    ]
    first = fastest([alone_gain(say("sweep.alone")), *(gain(*both) for both in zip(names, lines, strict=True))])
    return first and first._replace(at=first.at - 1)


# ---------------------------------------------------------------------------------------------------------------- table


def html(found: pd.DataFrame, note: str) -> Html:
    """All figures with denominators and 95 % intervals; `note` says what they were measured on."""
    if found.empty:
        return NOTHING
    several = found["temperature"].nunique() > 1
    heads = columns(["strategy", "most_k", *(["temperature"] if several else []), *COLUMNS, "prompts"])
    lines = found.to_dict("records")
    first = _fastest(lines)
    at = first.at if first and first.at != ALONE else None
    rows = [_row(line, several) for line in lines]
    if at is not None:
        rows[at][0] = marked(rows[at][0], reason(first))
    return tag(
        "div",
        tag("p", f"{_says(found)} {note}", cls="sv-compare-says"),
        table(say("sweep.table"), heads, rows, "sweep-table", marked=at, on_hover=True),
        meanings([*heads, *columns(["fastest"])]),
        cls="sv-comparison",
    )


def _row(line: Mapping[Any, Any], several: bool) -> list[object]:
    cells: list[object] = [line["strategy"], line["k"], *([f"{line['temperature']:g}"] if several else [])]
    cells += [comparison.cell(line, column) for column in COLUMNS]
    return [*cells, of(line["prompts"], line["prompts_wanted"])]


def csv(found: pd.DataFrame) -> str:
    """The table to take home, comma-separated; names and numbers only, gaps empty."""
    return "" if found.empty else str(found.to_csv(index=False, float_format="%.6g", lineterminator="\r\n"))


def json_lines(found: pd.DataFrame) -> str:
    """The same, one JSON object a line; gaps are null."""
    return "" if found.empty else str(found.to_json(orient="records", lines=True, force_ascii=False))
