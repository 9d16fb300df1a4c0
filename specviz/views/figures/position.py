"""Acceptance by place in the draft: of the steps that tested place i, how many accepted it."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def position() -> go.Figure:
    """Conditional acceptance: its denominator shrinks from place to place and stands on the bar or above it."""
    figure = empty(
        "Acceptance by place",
        "place in the draft",
        "accepted of tested",
        "Of the steps whose draft was tested at a place, how many accepted it there. Each place is tested only where all "
        "before it were accepted, so there are fewer from place to place.",
        "place {position}: {accepted} of {tested} tested accepted",
        y_range=(0, 1.05),
        over="positions",
        changes=False,
    )
    figure.add_bar(
        name="accepted of tested there",
        marker={"color": colour("run")},
        textposition="inside",  # the browser puts it above a bar that is too low for it
        insidetextanchor="start",
        constraintext="none",
        cliponaxis=False,
        textangle=0,
        meta=feed("positions", "position", "alpha", "run", ("accepted", "tested"), text="count"),
        hovertemplate="place %{x}: %{customdata[0]} of %{customdata[1]} tested accepted<extra></extra>",
    )
    figure.update_yaxes(tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure
