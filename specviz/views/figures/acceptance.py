"""Acceptance: a mark for each step's accepted of tested, a line for α so far. A step without tests is a gap."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.core.words import say
from specviz.views.figures.base import colour, empty, feed, hover


def acceptance() -> go.Figure:
    """y runs from 0 to 1 and never moves; a little air keeps marks at 0 and 1 whole."""
    each, so_far = ("span", "accepted", "tested"), ("step", "accepted_run", "tested_run")
    figure = empty("acceptance", ("accepted_run", "tested_run", "step"), y_range=(-0.05, 1.05))
    figure.add_scatter(
        name=say("figures.each_step"),
        mode="markers",
        marker={"color": colour("step"), "size": 6, "symbol": "circle-open", "line": {"width": 1.5}},
        meta=feed("steps", "step", "alpha", "step", each),
        hovertemplate=hover("acceptance_step", each),
    )
    figure.add_scatter(
        name=say("figures.alpha_so_far"),
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "alpha_run", "run", so_far),
        hovertemplate=hover("acceptance_run", so_far, y=".3f"),
    )
    figure.update_yaxes(tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure
