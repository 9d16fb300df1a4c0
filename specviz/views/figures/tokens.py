"""Tokens per target pass: what each pass was worth, and τ, the mean so far. The target alone gives 1."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def tokens() -> go.Figure:
    """Bars count emitted tokens, the resampled or bonus token included."""
    figure = empty(
        "Tokens per target pass",
        "step",
        "tokens",
        "Tokens that each pass of the target wrote, its own one included, and τ, their mean so far. The target alone writes "
        "one a pass.",
        "{wrote_run} in {passes_run}, τ {tau_run}",
    )
    figure.add_bar(
        name="each step",
        marker={"color": colour("other")},
        meta=feed("steps", "step", "tokens", "other", ("span", "wrote", "passes")),
        hovertemplate="step %{customdata[0]}: %{customdata[1]} in %{customdata[2]}<extra></extra>",
    )
    figure.add_scatter(
        name="τ so far",
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "tau_run", "run", ("step", "wrote_run", "passes_run")),
        hovertemplate="after step %{customdata[0]}: τ = %{y:.2f}, %{customdata[1]} in %{customdata[2]}<extra></extra>",
    )
    figure.add_scatter(
        name="target alone: 1",
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "one", "alone"),
        hovertemplate="the target alone gives 1 token a pass<extra></extra>",
    )
    return figure
