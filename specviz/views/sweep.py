"""A sweep as pictures and as a table: speed-up by strategy and K, with intervals. Pure: (table of a sweep) → figures, HTML.

Every picture says in words what it shows, and the table holds all of it with denominators. Gaps stay gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from specviz.views import comparison
from specviz.views.comparison import interval, number
from specviz.views.palette import ABOVE, BELOW, EVEN, ON_SCALE, ROLES, SERIES

DASHES, SYMBOLS = ("solid", "dash", "dot", "dashdot", "longdash"), ("circle", "square", "diamond", "triangle-up", "x")
COLUMNS: Mapping[str, tuple[str, str]] = {
    "speed_up": ("speed-up", "Tokens/s ÷ tokens/s of the target alone."),
    "tokens_per_s": ("tokens/s", "Tokens of the output ÷ seconds of drafting, verifying and what lies between."),
    "alone_tokens_per_s": ("alone", "Tokens/s of the target alone, which took turns with this choice."),
    "acceptance_rate": ("acceptance rate α", "Accepted places ÷ tested places."),
    "block_efficiency": ("tokens a pass τ", "Tokens of the output ÷ passes of the target."),
    "cost_ratio": ("draft cost c", "Median time of one draft pass ÷ median time of a target pass over one place."),
    "verify_ratio": ("verify cost v", "Median time of a verifying pass ÷ median time of a target pass over one place."),
    "drafted_share": ("of drafted", "Accepted ÷ all drafted tokens; falls with K although the models are unchanged."),
    "same": ("same text", "Whether the output is the target's own, token by token; compared at temperature 0."),
}


def progress(done: int, wanted: int, share: float, line: str, going: bool = False) -> str:
    """The line "12 of 40: greedy, K = 4, “Story”" over a bar. `share`: of all, 0 … 1. What comes to rest is announced."""
    role = "" if going else ' role="status"'
    if not wanted:
        return f'<p class="sv-sweep-line"{role}>{escape(line)}</p>' if line else ""
    return (
        f'<p class="sv-sweep-line"{role}>{done} of {wanted}{": " if line else ""}{escape(line)}</p>'
        f'<div class="sv-sweep-bar" role="progressbar" aria-label="Sweep" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{100 * share:.0f}"><div style="width: {100 * share:.1f}%"></div></div>'
    )


def pictures(found: pd.DataFrame) -> list[dict[str, Any]]:
    """Heat map and curves as plain data for `assets/sweep.js`: {name, says, figure}; nothing where nothing is measured."""
    if found.empty:
        return []
    return [
        {"name": "speed-up by strategy and K", "says": _says(found), "figure": plain(heat_map(found))},
        {"name": "speed-up over K", "says": _says(found), "figure": plain(curves(found))},
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
        y=list(names),
        z=values,
        text=[["–" if v is None else f"{v:.2f}×" for v in line] for line in values],
        customdata=[[_note(cells.get((name, k))) for k in ks] for name in names],
        texttemplate="%{text}",
        textfont={"color": ON_SCALE, "size": 13},
        hovertemplate="%{y}, K = %{x}<br>%{customdata}<extra></extra>",
        zmin=1 - reach,
        zmid=1,
        zmax=1 + reach,
        colorscale=[[0, BELOW], [0.5, EVEN], [1, ABOVE]],
        colorbar={"title": {"text": "× alone"}, "thickness": 12, "outlinewidth": 0, "nticks": 5},
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
            name=name,
            x=[k for k, _ in known],
            y=[number(line, "speed_up") for _, line in known],
            customdata=[_note(line) for _, line in known],
            mode="lines+markers",
            line={"width": 2, "dash": DASHES[at % len(DASHES)]},
            marker={"size": 8, "symbol": SYMBOLS[at % len(SYMBOLS)]},
            meta={"colours": list(colour)},
            hovertemplate=f"{name}, K = %{{x}}<br>%{{customdata}}<extra></extra>",
        )
    figure.add_scatter(
        name="target alone",
        x=[min(ks), max(ks)],
        y=[1, 1],
        mode="lines",
        line={"width": 2, "dash": "dash"},
        meta={"colours": list(ROLES["alone"])},
        hoverinfo="skip",
    )
    _dress(figure, "K", "speed-up [× target alone]", 300)
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


def _note(line: Mapping[str, Any] | None) -> str:
    if line is None:
        return "not measured"
    rate = comparison.cell(line, "acceptance_rate")
    alpha = f"α {rate}".replace("<small>", "").replace("</small>", "")
    rates = f"τ {_plain(line, 'block_efficiency')}, {_plain(line, 'tokens_per_s')} tokens/s"
    return f"{_plain(line, 'speed_up')}<br>{alpha}<br>{rates}"


def _plain(line: Mapping[str, Any], column: str) -> str:
    value, ends = number(line, column), interval(line, column)
    sign = "×" if column == "speed_up" else ""
    return "–" if value is None else f"{value:.2f}{sign}" + (f" [{ends}]" if ends else "")


def _says(found: pd.DataFrame) -> str:
    """The picture in a sentence or two."""
    known = found[found["speed_up"].notna()]
    if known.empty:
        return "Nothing has been measured yet."
    best = known.loc[known["speed_up"].astype(float).idxmax()].to_dict()
    below, surely = int((known["speed_up"] < 1).sum()), int((known["speed_up_high"] < 1).sum())
    words = f"Fastest: {best['strategy']} at K = {best['k']}, {_plain(best, 'speed_up')} the target alone."
    return words + f" In {below} of {len(known)} choices the speed-up is below 1; in {surely} the whole interval is."


# ---------------------------------------------------------------------------------------------------------------- table


def html(found: pd.DataFrame, note: str) -> str:
    """All figures with denominators and 95 % intervals; `note` says what they were measured on."""
    if found.empty:
        return ""
    head = "".join(f'<th scope="col" title="{escape(says)}">{name}</th>' for name, says in COLUMNS.values())
    several = found["temperature"].nunique() > 1
    best = found["speed_up"].max()
    rows = "".join(_row(line, several, best) for line in found.to_dict("records"))
    first = f'<th scope="col">strategy</th><th scope="col">K</th>{"<th scope=col>T</th>" if several else ""}'
    return (
        f'<div class="sv-comparison"><p class="sv-compare-says">{escape(_says(found))} {escape(note)}</p>'
        '<div class="sv-compare-scroll" tabindex="0" role="region" aria-label="Sweep: all figures">'
        f'<table class="sv-compare sv-sweep-table"><thead><tr>{first}{head}<th scope="col">prompts</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></div>"
    )


def _row(line: Mapping[Any, Any], several: bool, best: Any) -> str:
    cells = [f"{line['k']}", *([f"{line['temperature']:g}"] if several else [])]
    cells += [comparison.cell(line, column) for column in COLUMNS]
    return comparison.row(
        line["strategy"], [*cells, f"{line['prompts']} of {line['prompts_wanted']}"], line["speed_up"], best
    )


def csv(found: pd.DataFrame) -> str:
    """The table to take home, comma-separated; names and numbers only, gaps empty."""
    return "" if found.empty else str(found.to_csv(index=False, float_format="%.6g", lineterminator="\r\n"))


def json_lines(found: pd.DataFrame) -> str:
    """The same, one JSON object a line; gaps are null."""
    return "" if found.empty else str(found.to_json(orient="records", lines=True, force_ascii=False))
