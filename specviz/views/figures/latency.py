"""Latency: where the time of each step went, beside what one token costs the target alone."""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def latency() -> go.Figure:
    """Stacked bars in milliseconds; the dashed line appears once the target alone has been timed."""
    figure = empty(
        "Latency",
        "step",
        "ms per step",
        "How long a step took: drafting, the pass of the target that verifies the draft, and the loop around them. The dashed "
        "line is what a token takes the target alone, once that is measured.",
        "step {step} took {total_ms} ms: draft {draft_ms}, verify {verify_ms}, other {other_ms}",
    )
    for name, column, role in (
        ("draft", "draft_ms", "draft"),
        ("verify", "verify_ms", "target"),
        ("other", "other_ms", "other"),
    ):
        figure.add_bar(
            name=name,
            marker={"color": colour(role)},
            meta=feed("steps", "step", column, role, ("span", "total_ms", "written")),
            hovertemplate=f"step %{{customdata[0]}}: {name} %{{y:.1f}} of %{{customdata[1]}} ms, "
            "%{customdata[2]}<extra></extra>",
        )
    figure.add_scatter(
        name="target alone, a token",
        mode="lines",
        line={"color": colour("alone"), "width": 2, "dash": "dash"},
        meta=feed("steps", "step", "alone_ms", "alone"),
        hovertemplate="target alone: %{y:.1f} ms a token<extra></extra>",
    )
    figure.update_layout(barmode="stack")
    return figure
