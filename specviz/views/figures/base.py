"""What all charts of the live view share: one look, one way to say which column feeds a trace, and their texts.

Colours are the palette's by role or fate; the browser puts in those of the theme that is on.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from specviz.core.records import Fate
from specviz.core.words import say
from specviz.views.palette import FATES, ROLES


def colour(role: str) -> str:
    """Light-theme colour of a role ("draft") or of a fate ("rejected")."""
    return ROLES[role][0] if role in ROLES else FATES[Fate(role)].light.line


def feed(
    table: str, x: str, y: str, role: str, custom: tuple[str, ...] = (), text: str | None = None
) -> dict[str, Any]:
    """A trace's `meta`: the columns that fill x, y, hover data and labels, and the colour it goes by."""
    meta: dict[str, Any] = {"table": table, "x": x, "y": y, "role": role, "custom": list(custom)}
    return meta if text is None else meta | {"text": text}


def hover(key: str, custom: tuple[str, ...] = (), **formats: str) -> str:
    """A note for plotly: "figures.`key`" whose fields are columns of `custom`, or x and y. `formats`: by field."""
    sources = {name: f"customdata[{at}]" for at, name in enumerate(custom)} | {"x": "x", "y": "y"}
    fields = {
        name: f"%{{{source}{':' + formats[name] if name in formats else ''}}}" for name, source in sources.items()
    }
    return say(f"figures.{key}", **fields) + "<extra></extra>"


def empty(
    key: str,
    columns: tuple[str, ...],
    y_range: tuple[float, float] | None = None,
    over: str = "steps",
    changes: bool = True,
    needs: str | None = None,
) -> go.Figure:
    """Axes with units and nothing else.

    `key`: a name of the section "figures", which has its title, axes ("…_x", "…_y"), what it shows ("…_about") and the
    chart in words for those who cannot see it ("…_says", with `columns` of the last row). Without `y_range` the axis starts
    at 0 and grows in round numbers. `changes`: mark where K, strategy, rule or temperature changed. `needs`: a column
    without which the chart is not there at all. An x axis of steps can be switched to output tokens.
    """
    title, x, y, means = (say(f"figures.{key}{part}") for part in ("", "_x", "_y", "_about"))
    says = say(f"figures.{key}_says", **{name: f"{{{name}}}" for name in columns})
    axis = {"showgrid": True, "zeroline": False, "fixedrange": True, "automargin": True, "showline": False}
    figure = go.Figure(layout={"template": go.layout.Template()})
    about = {"title": title, "means": means, "says": says, "over": over, "grow": y_range is None, "changes": changes}
    figure.update_layout(
        meta=about if needs is None else about | {"needs": needs},
        xaxis={
            **axis,
            "title": {"text": x, "standoff": 4, "font": {"size": 12}},
            "showgrid": False,
            "range": [0.5, 20.5],
        },
        yaxis={
            **axis,
            "title": {"text": y, "standoff": 6, "font": {"size": 12}},
            "range": list(y_range or (0, 1)),
            "nticks": 5,
        },
        margin={"l": 44, "r": 8, "t": 8, "b": 32},
        font={"size": 12},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,  # the browser writes it as page text, beside the title
        hovermode="closest",
        hoverlabel={"align": "left"},
        bargap=0.15,
        dragmode=False,
    )
    return figure
