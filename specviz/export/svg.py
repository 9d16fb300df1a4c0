"""Small line and bar charts as SVG, without plotly. Widths are shares of the space that the page gives, so text stays sharp.

The element is the plot area alone; the numbers of its axes lie outside it, where the style sheet leaves room
(`assets/export.css`). Colours are classes, so that both themes and paper have their own.

Example: ``draw(Chart("Speed-up", "1.3 times", 5, (0, 2)), [Series("line", "run", [1, 2], [1.1, 1.3])])``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor, log10

from specviz.views.markup import Html, tag

Value = float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """Title and text alternative; x runs from 0.5 to `size` + 0.5, y over `y_range`. `marks`: x and words of each change."""

    title: str
    says: str
    size: int
    y_range: tuple[float, float]
    y_ticks: Sequence[float] = ()
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    ids: str = "chart"


@dataclass(frozen=True, slots=True)
class Series:
    """`kind`: line, dash, dot or bar; bars of several series are stacked. `role`: a colour of the palette. `wide`: steps
    of a bar. `words`: written on each bar."""

    kind: str
    role: str
    x: Sequence[float]
    y: Sequence[Value]
    wide: float = 1
    words: Sequence[str] = ()


def draw(chart: Chart, series: Sequence[Series]) -> Html:
    """The picture, with its title and its sentence for those who cannot see it."""
    low, high = chart.y_range
    inside: list[Html] = [*_grid(chart, low, high), *_marks(chart)]
    base: dict[float, float] = {}
    for one in series:
        if one.kind == "bar":
            inside += _bars(one, chart, base)
    for one in series:
        if one.kind == "dot":
            inside += _dots(one, chart)
    lines = [_line(one, chart) for one in series if one.kind in ("line", "dash")]
    # stretched to the plot area; strokes keep their width (vector-effect in the style sheet)
    inside.append(tag("svg", *lines, viewBox="0 0 1000 1000", preserveAspectRatio="none", width="100%", height="100%"))
    title, says = f"{chart.ids}-title", f"{chart.ids}-says"
    return tag(
        "svg",
        tag("title", chart.title, id=title),
        tag("desc", chart.says, id=says),
        *inside,
        cls="sv-still",
        role="img",
        aria_labelledby=f"{title} {says}",
        width="100%",
        height="100%",
    )


def nice_ceil(value: float) -> float:
    """The next round number, as `niceCeil` of `assets/dom.js` has it."""
    if value <= 0:
        return 1
    power = 10.0 ** floor(log10(value))
    return next(m * power for m in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if m * power >= value * 0.999)


def ticks(high: float) -> list[float]:
    """Four or five round numbers from 0 to `high`."""
    rough = high / 4
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    return [n * step for n in range(int(high / step + 1.001))]


def _share(value: float) -> str:
    return f"{100 * value:.2f}".rstrip("0").rstrip(".") + "%"


def _x(value: float, chart: Chart) -> float:
    return (value - 0.5) / max(1, chart.size)


def _y(value: float, chart: Chart) -> float:
    low, high = chart.y_range
    return 1 - (min(max(value, low), high) - low) / (high - low)


def _grid(chart: Chart, low: float, high: float) -> list[Html]:
    made = []
    for value in chart.y_ticks or ticks(high):
        at = _share(_y(value, chart))
        made += [
            tag("line", x1="0", x2="100%", y1=at, y2=at, cls="sv-still-grid"),
            tag("text", f"{value:g}", x="-6", y=at, dy="0.32em", cls="sv-still-y"),
        ]
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if chart.size <= 12 * n)
    for value in range(every, chart.size + 1, every):
        made.append(tag("text", value, x=_share(_x(value, chart)), y="100%", dy="1.3em", cls="sv-still-x"))
    return made


def _marks(chart: Chart) -> list[Html]:
    """A dotted line where a setting changed; its words above it where the words before leave room."""
    made, free = [], -1.0
    for value, words in chart.marks:
        at = _x(value, chart)
        made.append(tag("line", x1=_share(at), x2=_share(at), y1="0", y2="100%", cls="sv-still-mark"))
        if at >= free and at < 0.85:
            made.append(tag("text", words, x=_share(at), y="0", dy="-0.35em", cls="sv-still-words"))
            free = at + 0.025 * len(words)
    return made


def _bars(one: Series, chart: Chart, base: dict[float, float]) -> list[Html]:
    made = []
    width = 0.85 * one.wide / max(1, chart.size)
    for index, (x, y) in enumerate(zip(one.x, one.y, strict=True)):
        bottom = base.get(x, 0.0)
        top = bottom + (y or 0)
        base[x] = top
        start, end = _y(top, chart), _y(bottom, chart)
        left = _x(x, chart) - width / 2
        if end > start:
            sizes = {"width": _share(width), "height": _share(end - start)}
            made.append(tag("rect", x=_share(left), y=_share(start), **sizes, cls=f"sv-still-bar sv-in-{one.role}"))
        if one.words:
            high = end - start > 0.2
            text = {"cls": "sv-still-on" if high else "sv-still-over", "dy": "-0.5em"}
            made.append(tag("text", one.words[index], x=_share(_x(x, chart)), y=_share(end if high else start), **text))
    return made


def _dots(one: Series, chart: Chart) -> list[Html]:
    points = [(x, y) for x, y in zip(one.x, one.y, strict=True) if y is not None]
    return [
        tag("circle", cx=_share(_x(x, chart)), cy=_share(_y(y, chart)), r=3, cls=f"sv-still-dot sv-in-{one.role}")
        for x, y in points
    ]


def _line(one: Series, chart: Chart) -> Html:
    """One path; a gap where there is no value. A line of one point is as long as a step."""
    points = list(zip(one.x, one.y, strict=True))
    if len(points) == 1 or one.kind == "dash":  # the target alone: from edge to edge
        ends = [0.5, *(x for x, _ in points), chart.size + 0.5]
        points = [(x, points[min(max(n - 1, 0), len(points) - 1)][1]) for n, x in enumerate(ends)] if points else []
    path, pen = [], "M"
    for x, y in points:
        if y is None:
            pen = "M"
            continue
        path.append(f"{pen}{1000 * _x(x, chart):.1f} {1000 * _y(y, chart):.1f}")
        pen = "L"
    return tag("path", d="".join(path), cls=f"sv-still-{one.kind} sv-in-{one.role}")


def most(stacks: Sequence[Series]) -> float:
    """The top of a chart: of many bars the 98th percentile, so that one odd step does not flatten the others."""
    sums: dict[float, float] = {}
    lines = [0.0]
    for one in stacks:
        for x, y in zip(one.x, one.y, strict=True):
            if one.kind == "bar":
                sums[x] = sums.get(x, 0.0) + (y or 0)
            elif y is not None:
                lines.append(y)
    bars = sorted(sums.values())
    crest = bars[int(0.98 * len(bars))] if len(bars) > 40 else max(bars, default=0.0)
    return nice_ceil(1.08 * max(crest, *lines))


def spans(x: Sequence[float]) -> float:
    """Steps between two rows."""
    return max([b - a for a, b in pairwise(x)], default=1)
