"""Tokens per second: each step, the run so far, and the target alone once it has been timed."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def speed() -> go.Figure:
    """Drafting, verifying and other time count; loading, reading the prompt and drawing do not."""
    figure = empty(
        "Tokens per second",
        "step",
        "tokens/s",
        "Tokens written ÷ seconds of drafting, verifying and what lies between: each step, and all so far. Loading the "
        "models, reading the prompt and drawing are left out.",
        "{wrote_run} in {time_run_s} s after step {step}: {rate_run} tokens per second",
    )
    figure.add_scatter(
        name="each step",
        mode="markers",
        marker={"color": colour("step"), "size": 6, "symbol": "circle-open", "line": {"width": 1.5}},
        meta=feed("steps", "step", "rate", "step", ("span", "wrote", "total_s")),
        hovertemplate="step %{customdata[0]}: %{y:.1f} tokens/s = %{customdata[1]} in %{customdata[2]:.3f} s"
        "<extra></extra>",
    )
    figure.add_scatter(
        name="so far",
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "rate_run", "run", ("step", "wrote_run", "time_run_s")),
        hovertemplate="after step %{customdata[0]}: %{y:.1f} tokens/s = %{customdata[1]} in %{customdata[2]} s"
        "<extra></extra>",
    )
    figure.add_scatter(
        name="target alone",
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "alone_rate", "alone"),
        hovertemplate="target alone: %{y:.1f} tokens/s<extra></extra>",
    )
    return figure
