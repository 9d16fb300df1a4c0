"""Acceptance by position in the draft: of the steps that tested position i, how many accepted it."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.core.words import say
from specviz.views.figures.base import colour, empty, feed, hover


def position() -> go.Figure:
    """Conditional acceptance: its denominator shrinks from position to position and is written on the bar or above it."""
    figure = empty("position", ("position", "accepted", "tested"), y_range=(0, 1.05), over="positions", changes=False)
    custom = ("accepted", "tested")
    figure.add_bar(
        name=say("figures.position_bar"),
        marker={"color": colour("run")},
        textposition="inside",  # the browser puts it above a bar that is too low for it
        insidetextanchor="start",
        constraintext="none",
        cliponaxis=False,
        textangle=0,
        meta=feed("positions", "position", "alpha", "run", custom, text="count"),
        hovertemplate=hover("position_hover", custom),
    )
    figure.update_yaxes(tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure
