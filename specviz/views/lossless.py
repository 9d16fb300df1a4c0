"""The output of each rule against the target's distribution, as a piece of page: a panel for each rule, on one scale.

A panel has a verdict in words, the distance beside what chance alone would give, how both fell with the number of draws,
and paired bars of the likeliest outcomes. Pure: (panels) → HTML; colours are the palette's variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from specviz.core.words import say
from specviz.metrics.lossless import ALARM, OTHERS, Reading
from specviz.views.elements import badge
from specviz.views.glyphs import shown
from specviz.views.markup import Html, tag

SHOWN = 12
"""Outcomes with bars of their own; the rest are summed up."""
_EXACT = 1e-9
_LEAST = 1e-6
"""Where the axis of distances begins at the lowest: a line for each power of ten from here."""
_WIDE, _HIGH, _LEFT, _LOW, _TOP = 250, 116, 34, 18, 18  # of the picture, and its margins for labels


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One rule. `kind`: as in `views.elements.badge`; `says`: what it does. `readings`: by rising draws, the last one is shown.
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
        *(tag("i", cls="sv-lo-p"), f" {say('lossless.key_target')} \u2002 "),
        *(tag("i", cls="sv-lo-o"), f" {say('lossless.key_seen')} \u2002 · \u2002 {say('lossless.key_curves')}"),
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
        return tag("section", *head, tag("p", say("lossless.not_shown", why=panel.note)), cls="sv-lo")
    reading = panel.readings[-1]
    sign, sentence = verdict(panel)
    state = {"✓": "good", "✗": "bad"}.get(sign, "open")
    rows = [_row(texts[i], float(reading.probs[i]), int(reading.counts[i]) / reading.draws, top) for i in own]
    if len(own) < len(texts):
        rows.append(_row(OTHERS, *_rest(reading, own), top, plain=True))
    columns = (
        tag("th", say("lossless.outcome"), scope="col"),
        tag("td"),
        tag("th", say("lossless.target"), scope="col"),
        tag("th", say("lossless.output"), scope="col"),
    )
    return tag(
        "section",
        *head,
        tag("p", tag("b", sign), " ", sentence, cls=f"sv-lo-verdict sv-lo-{state}"),
        _facts(panel, unit),
        _fall(panel, whole, unit),
        tag(
            "table",
            tag("caption", say("lossless.caption", rule=panel.name), cls="sv-lo-hidden"),
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
    distance = tag("b", f"{reading.distance:.4f}")
    items = [
        [say("lossless.distance"), " ", distance, " ", say("lossless.after", n=f"{reading.draws:,}", unit=unit)],
        [say("lossless.by_chance", mean=f"{given.mean:.4f}", most=f"{given.most:.4f}")],
        [say("lossless.chi_square", chi=chi, freedom=test.freedom, p=_p(test.p))],
    ]
    if panel.exact is not None:
        items.append([say("lossless.by_formula", distance=_small(panel.exact))])
    return tag("ul", *(tag("li", *item) for item in items))


Verdict = Literal["changed", "same", "same_here", "not_seen_yet", "not_seen"]


def judge(panel: Panel) -> Verdict:
    """What the last reading of a panel says of its rule.

    "changed": chance does not explain the counts. "same": no difference, as the rule claims. The others are of rules that
    change the output elsewhere: "same_here" by the formula, "not_seen_yet" with so few draws, "not_seen" without a formula.
    """
    if panel.readings[-1].test.differs:
        return "changed"
    if panel.kind == "lossless":
        return "same"
    if panel.exact is None:
        return "not_seen"
    return "same_here" if panel.exact < _EXACT else "not_seen_yet"


def verdict(panel: Panel) -> tuple[str, str]:
    """A sign and a sentence about the last reading of a panel."""
    code = judge(panel)
    values = {"times": f"{1 / ALARM:,.0f}", "distance": "" if panel.exact is None else _small(panel.exact)}
    return {"changed": "✗", "same": "✓"}.get(code, "○"), say(f"lossless.{code}", **values)


def _row(text: str, asked: float, came: float, top: float, plain: bool = False) -> Html:
    bars = [tag("i", cls=f"sv-lo-{k}", style=f"width:{100 * x / top:.1f}%") for k, x in (("p", asked), ("o", came))]
    return tag(
        "tr",
        tag("th", tag("bdi", say("lossless.others") if plain else shown(text), translate="no"), scope="row"),
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
        tag("text", say("lossless.axis"), x=_LEFT, y=11),
        tag("text", f"{first:,}", x=_LEFT, y=_HIGH - 4),
        tag("text", f"{last:,} {unit}", x=_WIDE - 6, y=_HIGH - 4, text_anchor="end"),
    ]
    dots = [tag("circle", cx=f"{x(r.draws):.1f}", cy=f"{y(r.distance):.1f}", r=2.5) for r in readings]
    says = say(
        "lossless.picture",
        before=f"{readings[0].distance:.4f}",
        after=f"{readings[-1].distance:.4f}",
        first=f"{first:,}",
        last=f"{readings[-1].draws:,}",
        unit=unit,
        chance_before=f"{readings[0].chance.mean:.4f}",
        chance_after=f"{readings[-1].chance.mean:.4f}",
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
