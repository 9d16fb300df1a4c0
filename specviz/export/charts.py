"""The charts of the live view for a page without plotly: which column each series shows, and the figures as HTML.

A test compares this table with `specviz.views.figures`: the same charts, series, columns and colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from specviz.core.words import say
from specviz.export.chart_data import Columns, changes, position_columns, sentence, step_columns
from specviz.export.svg import Chart, Series, draw, most, spans
from specviz.traces.trace import Trace
from specviz.views.markup import Html, tag
from specviz.views.palette import ROLES


@dataclass(frozen=True, slots=True)
class Plan:
    """A chart: its name in the section "figures", and for each series its kind, column, colour and name there."""

    key: str
    series: tuple[tuple[str, str, str, str], ...]
    over: str = "steps"
    y_range: tuple[float, float] | None = None
    needs: str = ""


_SHARES = (0, 0.25, 0.5, 0.75, 1)
PLANS: Mapping[str, Plan] = MappingProxyType(
    {
        "acceptance": Plan(
            "acceptance",
            (("dot", "alpha", "step", "figures.each_step"), ("line", "alpha_run", "run", "figures.alpha_so_far")),
            y_range=(-0.05, 1.05),
        ),
        "latency": Plan(
            "latency",
            (
                ("bar", "draft_ms", "draft", "timeline.draft"),
                ("bar", "verify_ms", "target", "timeline.verify"),
                ("bar", "other_ms", "other", "timeline.other"),
                ("dash", "alone_ms", "alone", "figures.alone_token"),
            ),
        ),
        "tokens per pass": Plan(
            "tokens",
            (
                ("bar", "tokens", "other", "figures.each_step"),
                ("line", "tau_run", "run", "figures.tau_so_far"),
                ("dash", "one", "alone", "figures.alone_one"),
            ),
        ),
        "tokens per second": Plan(
            "speed",
            (
                ("dot", "rate", "step", "figures.each_step"),
                ("line", "rate_run", "run", "figures.so_far"),
                ("dash", "alone_rate", "alone", "figures.alone"),
            ),
        ),
        "speed-up": Plan(
            "speedup",
            (("line", "speedup_run", "run", "figures.so_far"), ("dash", "one", "alone", "figures.alone_one")),
            needs="speedup_run",
        ),
        "by position": Plan(
            "position", (("bar", "alpha", "run", "figures.position_bar"),), over="positions", y_range=(0, 1.05)
        ),
    }
)


def charts(trace: Trace) -> Html:
    """All charts of a run as figures of a page. One that needs what was not measured is left out."""
    tables = {"steps": step_columns(trace), "positions": position_columns(trace)}
    figures = []
    for plan in PLANS.values():
        columns = tables[plan.over]
        if not plan.needs or any(value is not None for value in columns.get(plan.needs, ())):
            figures.append(_figure(plan, columns, trace))
    return tag("section", tag("div", *figures, cls="sv-charts"), cls="sv-analysis", aria_label=say("export.charts"))


def _figure(plan: Plan, columns: Columns, trace: Trace) -> Html:
    x = columns.get("step" if plan.over == "steps" else "position", ())
    wide = spans(x)
    words = columns.get("count", ()) if plan.over == "positions" else ()
    series = [
        Series(kind, role, x, columns.get(column, ()), wide, words if kind == "bar" else ())
        for kind, column, role, _ in plan.series
        if any(value is not None for value in columns.get(column, ()))
    ]
    size = len(trace.steps) if plan.over == "steps" else len(x)
    title = say(f"figures.{plan.key}")
    chart = Chart(
        title,
        sentence(plan.key, columns),
        max(1, size),
        plan.y_range or (0, most(series)),
        _SHARES if plan.y_range else (),
        [(step - 0.5, label) for step, label in changes(trace)] if plan.over == "steps" else (),
        f"sv-still-{plan.key}",
    )
    drawn = {series.role for series in series}
    about = say(f"figures.{plan.key}_about")
    name = tag("span", title, cls="sv-chart-name", tabindex=0, role="note", data_about=about)
    keys = [_key(kind, role, say(words)) for kind, _, role, words in plan.series if role in drawn]
    axes = [tag("span", say(f"figures.{plan.key}_{axis}"), cls=f"sv-still-axis-{axis}") for axis in ("y", "x")]
    plot = tag("div", draw(chart, series), cls="sv-still-plot", data_over=plan.over)
    # one picture for every step: bars cannot be cut where the cursor is, as lines over steps are
    keys += [tag("span", say("export.whole_run"), cls="sv-muted")] if plan.over == "positions" else []
    caption = tag("figcaption", name, *keys, cls="sv-chart-title")
    return tag("figure", caption, tag("div", axes[0], plot, axes[1], cls="sv-still-box"), cls="sv-chart")


def _key(kind: str, role: str, words: str) -> Html:
    return tag("span", tag("span", cls=f"sv-key sv-key-{kind} sv-in-{role}"), words, cls="sv-key-item")


def colours() -> str:
    """A class for each colour: what is drawn and its key in the legend take it from the same variable."""
    return "\n".join(f".sv-in-{role} {{ --sv-key: var(--sv-{role}); }}" for role in ROLES)
