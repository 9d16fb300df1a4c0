"""Acceptance: a mark for each step's accepted of tested, a line for α so far. A step without tests is a gap."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def acceptance() -> go.Figure:
    """y runs from 0 to 1 and never moves; a little air keeps marks at 0 and 1 whole."""
    figure = empty(
        "Acceptance",
        "step",
        "accepted of tested",
        "Accepted ÷ tested places: a mark for each step, and α, all of them so far. Tested is what the target looked at, up "
        "to and including the first refusal of a step; a step that tested nothing has no mark.",
        "{accepted_run} of {tested_run} tested tokens accepted after step {step}",
        y_range=(-0.05, 1.05),
    )
    figure.add_scatter(
        name="each step",
        mode="markers",
        marker={"color": colour("step"), "size": 6, "symbol": "circle-open", "line": {"width": 1.5}},
        meta=feed("steps", "step", "alpha", "step", ("span", "accepted", "tested")),
        hovertemplate="step %{customdata[0]}: %{customdata[1]} of %{customdata[2]} tested accepted<extra></extra>",
    )
    figure.add_scatter(
        name="α so far",
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "alpha_run", "run", ("step", "accepted_run", "tested_run")),
        hovertemplate="after step %{customdata[0]}: α = %{y:.3f}, %{customdata[1]} of %{customdata[2]} tested"
        "<extra></extra>",
    )
    figure.update_yaxes(tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure
