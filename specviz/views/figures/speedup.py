"""Speed-up so far: tokens per second of the run over those of the target alone. Below 1 is shown as it is."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def speedup() -> go.Figure:
    """Not there before the target alone has been measured: a speed-up is never estimated."""
    figure = empty(
        "Speed-up",
        "step",
        "× target alone",
        "Tokens per second of the run so far ÷ those of the target alone on the same prompt, both measured. Below 1 drafting "
        "costs more than it saves.",
        "{rate_run} tokens per second after step {step}, {alone_rate} for the target alone: {speedup_run} times",
        needs="speedup_run",
    )
    figure.add_scatter(
        name="so far",
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "speedup_run", "run", ("step", "rate_run", "alone_rate")),
        hovertemplate="after step %{customdata[0]}: %{y:.2f}× = %{customdata[1]:.1f} ÷ %{customdata[2]:.1f} tokens/s"
        "<extra></extra>",
    )
    figure.add_scatter(
        name="target alone: 1",
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "one", "alone"),
        hovertemplate="1: as fast as the target alone<extra></extra>",
    )
    return figure
