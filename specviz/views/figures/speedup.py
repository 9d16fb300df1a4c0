"""Speed-up so far: tokens per second of the run over those of the target alone. Below 1 is shown as it is."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.core.words import say
from specviz.views.figures.base import colour, empty, feed, hover


def speedup() -> go.Figure:
    """Not there before the target alone has been measured: a speed-up is never estimated."""
    figure = empty("speedup", ("rate_run", "step", "alone_rate", "speedup_run"), needs="speedup_run")
    custom = ("step", "rate_run", "alone_rate")
    figure.add_scatter(
        name=say("figures.so_far"),
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "speedup_run", "run", custom),
        hovertemplate=hover("speedup_hover", custom, y=".2f", rate_run=".1f", alone_rate=".1f"),
    )
    figure.add_scatter(
        name=say("figures.alone_one"),
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "one", "alone"),
        hovertemplate=hover("speedup_one"),
    )
    return figure
