"""Tokens per target pass: what each pass was worth, and τ, the mean so far. The target alone gives 1."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.core.words import say
from specviz.views.figures.base import colour, empty, feed, hover


def tokens() -> go.Figure:
    """Bars count emitted tokens, the resampled or bonus token included."""
    figure = empty("tokens", ("wrote_run", "passes_run", "tau_run"))
    each, so_far = ("span", "wrote", "passes"), ("step", "wrote_run", "passes_run")
    figure.add_bar(
        name=say("figures.each_step"),
        marker={"color": colour("other")},
        meta=feed("steps", "step", "tokens", "other", each),
        hovertemplate=hover("tokens_step", each),
    )
    figure.add_scatter(
        name=say("figures.tau_so_far"),
        mode="lines",
        line={"color": colour("run"), "width": 2.5},
        meta=feed("steps", "step", "tau_run", "run", so_far),
        hovertemplate=hover("tokens_run", so_far, y=".2f"),
    )
    figure.add_scatter(
        name=say("figures.alone_one"),
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "one", "alone"),
        hovertemplate=hover("tokens_one"),
    )
    return figure
