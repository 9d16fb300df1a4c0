"""What came out of a rule against what the target asks for, as a piece of page: a panel a rule, all on one scale.

A panel has a verdict in words, the distance beside what chance alone would give, how both fell with the number of draws,
and paired bars of the likeliest outcomes. Pure: (panels) → HTML; colours are the palette's variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specviz.metrics.lossless import ALARM, OTHERS, Reading
from specviz.views.glyphs import shown
from specviz.views.markup import Html, tag
from specviz.views.study import badge

SHOWN = 12
"""Outcomes with bars of their own; the rest are summed up."""
_EXACT = 1e-9
_LEAST = 1e-6
"""Where the axis of distances begins at the lowest: a line for each power of ten from here."""
_WIDE, _HIGH, _LEFT, _LOW, _TOP = 250, 116, 34, 18, 18  # of the picture, and its margins for labels


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One rule. `kind`: a key of `views.study.BADGES`; `says`: what it does. `readings`: by rising draws, the last one is shown.
    `exact`: total variation by the formula, without drawing. `note`: why there is nothing to show."""

    name: str
    kind: str
    says: str = ""
    readings: Sequence[Reading] = ()
    exact: float | None = None
    note: str = ""


def html(panels: Sequence[Panel], texts: Sequence[str], heading: str, unit: str, whole: int) -> Html:
    """`texts`: names of the outcomes. `unit`: what was counted, in the plural; `whole`: how many there will be."""
    last = [panel.readings[-1] for panel in panels if panel.readings]
    if not last:
        return words(heading, *(f"{panel.name}: {panel.note}." for panel in panels))
    order = np.argsort(-last[0].probs, kind="stable").tolist()
    own = [i for i in order if texts[i] != OTHERS][:SHOWN]
    top = max(float(max(r.probs[own].max(), (r.counts[own] / r.draws).max(), *_rest(r, own))) for r in last)
    key = tag(
        "p",
        *(tag("i", cls="sv-lo-p"), " what the target asks for \u2002 "),
        *(
            tag("i", cls="sv-lo-o"),
            " what came out \u2002 · \u2002 curves: distance of the two, dashed what chance alone gives, ",
        ),
        "grey up to its bound in 19 of 20 cases",
        cls="sv-lo-key",
    )
    drawn = tag("div", *(_panel(panel, texts, own, top, unit, whole) for panel in panels), cls="sv-lo-panels")
    return tag("div", tag("p", heading), key, drawn, cls="sv-comparison sv-lossless")


def words(*sentences: str) -> Html:
    """Where there is nothing to draw."""
    return tag("div", *(tag("p", sentence) for sentence in sentences), cls="sv-comparison sv-lossless")


def _rest(reading: Reading, own: list[int]) -> tuple[float, float]:
    """Share of all outcomes without bars of their own: asked for, and counted."""
    return (
        max(0.0, 1 - float(reading.probs[own].sum())),
        int(reading.counts.sum() - reading.counts[own].sum()) / reading.draws,
    )


def _panel(panel: Panel, texts: Sequence[str], own: list[int], top: float, unit: str, whole: int) -> Html:
    head = [tag("h4", panel.name, " ", badge(panel.kind)), tag("p", panel.says, cls="sv-lo-says")]
    if not panel.readings:
        return tag("section", *head, tag("p", f"Not shown: {panel.note}."), cls="sv-lo")
    reading = panel.readings[-1]
    sign, sentence = verdict(panel)
    state = {"✓": "good", "✗": "bad"}.get(sign, "open")
    rows = [_row(texts[i], float(reading.probs[i]), int(reading.counts[i]) / reading.draws, top) for i in own]
    if len(own) < len(texts):
        rows.append(_row(OTHERS, *_rest(reading, own), top, plain=True))
    columns = (
        tag("th", "outcome", scope="col"),
        tag("td"),
        tag("th", "target", scope="col"),
        tag("th", "came out", scope="col"),
    )
    return tag(
        "section",
        *head,
        tag("p", tag("b", sign), " ", sentence, cls=f"sv-lo-verdict sv-lo-{state}"),
        _facts(panel, unit),
        _fall(panel, whole, unit),
        tag(
            "table",
            tag("caption", f"{panel.name}: share of each outcome", cls="sv-lo-hidden"),
            tag("thead", tag("tr", *columns)),
            tag("tbody", *rows),
            cls="sv-lo-table",
        ),
        cls="sv-lo",
    )


def _facts(panel: Panel, unit: str) -> Html:
    """The distance, the test and the exact distance where it is known."""
    reading = panel.readings[-1]
    test, given = reading.test, reading.chance
    chi = "∞" if math.isinf(test.value) else f"{test.value:.1f}"
    distance = [
        *("total variation ", tag("b", f"{reading.distance:.4f}"), f" after {reading.draws:,} {unit}; "),
        f"chance alone gives {given.mean:.4f}, below {given.most:.4f} in 19 of 20",
    ]
    items = [distance, [f"χ² = {chi} with {test.freedom} degrees of freedom, {_p(test.p)}"]]
    if panel.exact is not None:
        items.append([f"by the formula, without drawing: {_small(panel.exact)} apart"])
    return tag("ul", *(tag("li", *item) for item in items))


def verdict(panel: Panel) -> tuple[str, str]:
    """A sign and a sentence about the last reading of a panel."""
    reading, exact = panel.readings[-1], panel.exact
    if reading.test.differs:
        return "✗", f"The output is changed: chance gives such counts less than once in {1 / ALARM:,.0f} times."
    if panel.kind == "lossless":
        return "✓", "No difference from the target beyond chance."
    if exact is not None and exact < _EXACT:
        return "○", "No difference here: at this very place it happens to do the right thing."
    if exact is not None:
        return "○", f"Not seen yet, but there: it is {_small(exact)} apart, and more draws would show it."
    return "○", "No difference seen in so many; what it changes is too small here."


def _row(text: str, asked: float, came: float, top: float, plain: bool = False) -> Html:
    bars = [tag("i", cls=f"sv-lo-{k}", style=f"width:{100 * x / top:.1f}%") for k, x in (("p", asked), ("o", came))]
    return tag(
        "tr",
        tag("th", tag("bdi", text if plain else shown(text), translate="no"), scope="row"),
        tag("td", *bars, cls="sv-lo-bars"),
        tag("td", _share(asked)),
        tag("td", _share(came)),
    )


def _fall(panel: Panel, whole: int, unit: str) -> Html:
    """Distance and chance over the number of draws, both axes logarithmic."""
    readings = panel.readings
    first, last = readings[0].draws, max(whole, readings[0].draws * 2)
    least = max(_LEAST, min(r.chance.mean for r in readings))
    low = min(10.0 ** math.floor(math.log10(least)), 1e-2)

    def x(draws: float) -> float:
        return _LEFT + (_WIDE - _LEFT - 6) * math.log(draws / first) / math.log(last / first)

    def y(distance: float) -> float:
        share = math.log(max(distance, low) / low) / math.log(1 / low)
        return (_HIGH - _LOW) - (_HIGH - _LOW - _TOP) * share

    def line(values: Sequence[float]) -> str:
        return " ".join(f"{x(r.draws):.1f},{y(v):.1f}" for r, v in zip(readings, values, strict=True))

    most = line([r.chance.most for r in readings])
    floor = f"{x(readings[-1].draws):.1f},{y(low):.1f} {x(first):.1f},{y(low):.1f}"
    ticks = [
        piece
        for t in (10.0**n for n in range(round(math.log10(low)), 1))
        for piece in (
            tag("text", f"{t:g}", x=_LEFT - 4, y=f"{y(t) + 4:.1f}", text_anchor="end"),
            tag("line", x1=_LEFT, x2=_WIDE - 6, y1=f"{y(t):.1f}", y2=f"{y(t):.1f}"),
        )
    ]
    ends = [
        tag("text", "total variation", x=_LEFT, y=11),
        tag("text", f"{first:,}", x=_LEFT, y=_HIGH - 4),
        tag("text", f"{last:,} {unit}", x=_WIDE - 6, y=_HIGH - 4, text_anchor="end"),
    ]
    dots = [tag("circle", cx=f"{x(r.draws):.1f}", cy=f"{y(r.distance):.1f}", r=2.5) for r in readings]
    says = (
        f"Total variation falls from {readings[0].distance:.4f} after {first:,} to {readings[-1].distance:.4f} after "
        f"{readings[-1].draws:,} {unit}; chance alone from {readings[0].chance.mean:.4f} to "
        f"{readings[-1].chance.mean:.4f}."
    )
    lines = [
        tag("polygon", points=f"{most} {floor}"),
        tag("polyline", cls="sv-lo-chance", points=line([r.chance.mean for r in readings])),
        tag("polyline", cls="sv-lo-seen", points=line([r.distance for r in readings])),
    ]
    return tag("svg", *ticks, *ends, *lines, *dots, viewBox=f"0 0 {_WIDE} {_HIGH}", role="img", aria_label=says)


def _share(share: float) -> str:
    return "0" if share == 0 else "<0.001" if share < 0.0005 else f"{share:.3f}"


def _p(p: float) -> str:
    return f"p < {ALARM:.4f}" if p < ALARM else f"p = {p:.2g}"


def _small(distance: float) -> str:
    return "0" if distance < _EXACT else f"{distance:.4f}" if distance >= 5e-5 else f"{distance:.0e}"
