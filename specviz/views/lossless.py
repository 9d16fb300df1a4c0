"""What came out of a rule against what the target asks for, as a piece of page: a panel a rule, all on one scale.

A panel has a verdict in words, the distance beside what chance alone would give, how both fell with the number of draws,
and paired bars of the likeliest outcomes. Pure: (panels) → HTML, everything escaped; colours are the palette's variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from specviz.metrics.lossless import ALARM, OTHERS, Reading
from specviz.views.glyphs import shown
from specviz.views.study import badge

SHOWN = 12
"""Outcomes with bars of their own; the rest are summed up."""
_EXACT = 1e-9
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


def html(panels: Sequence[Panel], texts: Sequence[str], heading: str, unit: str, whole: int) -> str:
    """`texts`: names of the outcomes. `unit`: what was counted, in the plural; `whole`: how many there will be."""
    last = [panel.readings[-1] for panel in panels if panel.readings]
    if not last:
        return words(heading, *(f"{panel.name}: {panel.note}." for panel in panels))
    order = np.argsort(-last[0].probs, kind="stable").tolist()
    own = [i for i in order if texts[i] != OTHERS][:SHOWN]
    top = max(float(max(r.probs[own].max(), (r.counts[own] / r.draws).max(), *_rest(r, own))) for r in last)
    parts = "".join(_panel(panel, texts, own, top, unit, whole) for panel in panels)
    return (
        f'<div class="sv-comparison sv-lossless"><p>{escape(heading)}</p>'
        '<p class="sv-lo-key"><i class="sv-lo-p"></i> what the target asks for &ensp; '
        '<i class="sv-lo-o"></i> what came out &ensp; · &ensp; curves: distance of the two, dashed what chance alone gives, '
        f'grey up to its bound in 19 of 20 cases</p><div class="sv-lo-panels">{parts}</div></div>'
    )


def words(*sentences: str) -> str:
    """Where there is nothing to draw."""
    return f'<div class="sv-comparison sv-lossless">{"".join(f"<p>{escape(s)}</p>" for s in sentences)}</div>'


def _rest(reading: Reading, own: list[int]) -> tuple[float, float]:
    """Share of all outcomes without bars of their own: asked for, and counted."""
    return (
        max(0.0, 1 - float(reading.probs[own].sum())),
        int(reading.counts.sum() - reading.counts[own].sum()) / reading.draws,
    )


def _panel(panel: Panel, texts: Sequence[str], own: list[int], top: float, unit: str, whole: int) -> str:
    head = f"<h4>{escape(panel.name)} {badge(panel.kind)}</h4>"
    head += f'<p class="sv-lo-says">{escape(panel.says)}</p>'
    if not panel.readings:
        return f'<section class="sv-lo">{head}<p>Not shown: {escape(panel.note)}.</p></section>'
    reading = panel.readings[-1]
    sign, sentence = verdict(panel)
    state = {"✓": "good", "✗": "bad"}.get(sign, "open")
    rows = [_row(texts[i], float(reading.probs[i]), int(reading.counts[i]) / reading.draws, top) for i in own]
    if len(own) < len(texts):
        rows.append(_row(OTHERS, *_rest(reading, own), top, plain=True))
    test, given = reading.test, reading.chance
    chi = "∞" if math.isinf(test.value) else f"{test.value:.1f}"
    formula = "" if panel.exact is None else f"<li>by the formula, without drawing: {_small(panel.exact)} apart</li>"
    return (
        f'<section class="sv-lo">{head}<p class="sv-lo-verdict sv-lo-{state}"><b>{sign}</b> {escape(sentence)}</p>'
        f"<ul><li>total variation <b>{reading.distance:.4f}</b> after {reading.draws:,} {escape(unit)}; "
        f"chance alone gives {given.mean:.4f}, below {given.most:.4f} in 19 of 20</li>"
        f"<li>χ² = {chi} with {test.freedom} degrees of freedom, {escape(_p(test.p))}</li>{formula}</ul>"
        f"{_fall(panel, whole, unit)}"
        f'<table class="sv-lo-table"><caption class="sv-lo-hidden">{escape(panel.name)}: share of each outcome</caption>'
        '<thead><tr><th scope="col">outcome</th><td></td><th scope="col">target</th><th scope="col">came out</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></section>"
    )


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


def _row(text: str, asked: float, came: float, top: float, plain: bool = False) -> str:
    name = escape(text if plain else shown(text))
    bars = "".join(
        f'<i class="sv-lo-{key}" style="width:{100 * share / top:.1f}%"></i>'
        for key, share in (("p", asked), ("o", came))
    )
    return (
        f'<tr><th scope="row"><bdi translate="no">{name}</bdi></th><td class="sv-lo-bars">{bars}</td>'
        f"<td>{_share(asked)}</td><td>{_share(came)}</td></tr>"
    )


def _fall(panel: Panel, whole: int, unit: str) -> str:
    """Distance and chance over the number of draws, both axes logarithmic."""
    readings = panel.readings
    first, last = readings[0].draws, max(whole, readings[0].draws * 2)
    low = min(10.0 ** math.floor(math.log10(min(r.chance.mean for r in readings) or 1e-6)), 1e-2)

    def x(draws: float) -> float:
        return _LEFT + (_WIDE - _LEFT - 6) * math.log(draws / first) / math.log(last / first)

    def y(distance: float) -> float:
        share = math.log(max(distance, low) / low) / math.log(1 / low)
        return (_HIGH - _LOW) - (_HIGH - _LOW - _TOP) * share

    def line(values: Sequence[float]) -> str:
        return " ".join(f"{x(r.draws):.1f},{y(v):.1f}" for r, v in zip(readings, values, strict=True))

    most = line([r.chance.most for r in readings])
    floor = f"{x(readings[-1].draws):.1f},{y(low):.1f} {x(first):.1f},{y(low):.1f}"
    ticks = "".join(
        f'<text x="{_LEFT - 4}" y="{y(t) + 4:.1f}" text-anchor="end">{t:g}</text>'
        f'<line x1="{_LEFT}" x2="{_WIDE - 6}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
        for t in (10.0**n for n in range(round(math.log10(low)), 1))
    )
    ends = (
        f'<text x="{_LEFT}" y="11">total variation</text>'
        f'<text x="{_LEFT}" y="{_HIGH - 4}">{first:,}</text>'
        f'<text x="{_WIDE - 6}" y="{_HIGH - 4}" text-anchor="end">{last:,} {escape(unit)}</text>'
    )
    dots = "".join(f'<circle cx="{x(r.draws):.1f}" cy="{y(r.distance):.1f}" r="2.5"/>' for r in readings)
    says = (
        f"Total variation falls from {readings[0].distance:.4f} after {first:,} to {readings[-1].distance:.4f} after "
        f"{readings[-1].draws:,} {unit}; chance alone from {readings[0].chance.mean:.4f} to "
        f"{readings[-1].chance.mean:.4f}."
    )
    return (
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{escape(says)}">{ticks}{ends}'
        f'<polygon points="{most} {floor}"/><polyline class="sv-lo-chance" points="{line([r.chance.mean for r in readings])}"/>'
        f'<polyline class="sv-lo-seen" points="{line([r.distance for r in readings])}"/>{dots}</svg>'
    )


def _share(share: float) -> str:
    return "0" if share == 0 else "&lt;0.001" if share < 0.0005 else f"{share:.3f}"


def _p(p: float) -> str:
    return f"p < {ALARM:.4f}" if p < ALARM else f"p = {p:.2g}"


def _small(distance: float) -> str:
    return "0" if distance < _EXACT else f"{distance:.4f}" if distance >= 5e-5 else f"{distance:.0e}"
