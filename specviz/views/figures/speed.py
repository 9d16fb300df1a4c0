"""Tokens per second: each step, the run so far, and the target alone once it has been timed."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.core.words import say
from specviz.views.figures.base import colour, empty, feed, hover


def speed() -> go.Figure:
    """Drafting, verifying and other time count; loading, prefill and drawing do not."""
    figure = empty("speed", ("wrote_run", "time_run_s", "step", "rate_run"))
    each, so_far = ("span", "wrote", "total_s"), ("step", "wrote_run", "time_run_s")
    figure.add_scatter(
        name=say("figures.each_step"),
        mode="markers",
        marker={"color": colour("step"), "size": 6, "symbol": "circle-open", "line": {"width": 1.5}},
        meta=feed("steps", "step", "rate", "step", each),
        hovertemplate=hover("speed_step", each, y=".1f", total_s=".3f"),
    )
    figure.add_scatter(
        name=say("figures.so_far"),
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "rate_run", "run", so_far),
        hovertemplate=hover("speed_run", so_far, y=".1f"),
    )
    figure.add_scatter(
        name=say("figures.alone"),
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "alone_rate", "alone"),
        hovertemplate=hover("alone_rate", y=".1f"),
    )
    return figure
