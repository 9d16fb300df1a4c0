"""Latency: where the time of each step went, beside what one token costs the target alone."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.core.words import say
from specviz.views.figures.base import colour, empty, feed, hover


def latency() -> go.Figure:
    """Stacked bars in milliseconds; the dashed line appears once the target alone has been timed."""
    figure = empty("latency", ("step", "total_ms", "draft_ms", "verify_ms", "other_ms"))
    custom = ("span", "total_ms", "written")
    for phase, column, role in (
        ("draft", "draft_ms", "draft"),
        ("verify", "verify_ms", "target"),
        ("other", "other_ms", "other"),
    ):
        figure.add_bar(
            name=say(f"timeline.{phase}"),
            marker={"color": colour(role)},
            meta=feed("steps", "step", column, role, custom),
            hovertemplate=hover(f"latency_{phase}", custom, y=".1f"),
        )
    figure.add_scatter(
        name=say("figures.alone_token"),
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "alone_ms", "alone"),
        hovertemplate=hover("alone_ms", y=".1f"),
    )
    figure.update_layout(barmode="stack")
    return figure
