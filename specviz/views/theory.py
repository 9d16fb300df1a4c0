"""Speed-up over K as the formula expects it, and what was measured: a picture, and the way from one to the other in words.

The picture is a finished plotly figure as JSON, drawn by `assets/picture.js` with the page's own plotly in the colours of
the theme that is on. Pure. Example: ``picture(Curve(0.8, 0.1, free))`` has its best K at 5 and 2.46×.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.core.plural import counted
from specviz.core.settings import MAX_K
from specviz.metrics.diagnosis import Finding, diagnose, headline
from specviz.metrics.pace import Pace, Point
from specviz.metrics.theory import DRAFT_FIRST, Theory, apart, break_even_alpha, ended_early, speed_up
from specviz.views.figures.base import colour
from specviz.views.markup import NOTHING, Html, tag
from specviz.views.study import ms, named, number, part, room, says, table

SHORT = 16
"""The K axis ends here, unless something there is to see lies beyond."""


@dataclass(frozen=True, slots=True)
class Curve(Theory):
    """What the picture shows. `reach`: v was measured up to this K, beyond it is a straight line; None: all of it is made
    up. `points`: speed-ups that were measured. `short`: drafts of the run that ended early, and would at another K."""

    reach: int | None = None
    points: Sequence[Point] = ()


def picture(curve: Curve) -> str:
    """JSON of the figure and of what it says in words."""
    found, best = figure(curve), curve.best()
    words = f"Speed-up over K for α = {curve.alpha:.2f} and c = {curve.c:.2f}: {curve.verdict()} " + " ".join(
        f"Measured at K = {p.k:.3g}: {p.speed_up:.2f}×." for p in curve.points
    )
    return json.dumps({"figure": json.loads(found.to_json()), "says": words.strip(), "best": best})


def figure(curve: Curve) -> go.Figure:
    """Textbook and measured v(K) as lines, the break-even line at 1, measured points, the best K."""
    v, best = curve.v, curve.best()
    most = MAX_K if max([best, *(p.k for p in curve.points)]) > SHORT else SHORT
    ks = list(range(most + 1))
    textbook, real = [speed_up(curve.alpha, k, curve.c) for k in ks], [curve.gain(k) for k in ks]
    known = most if curve.reach is None else min(most, curve.reach)
    made = go.Figure(layout={"template": go.layout.Template()})
    made.add_scatter(
        x=ks, y=textbook, name="textbook: verification free, v = 1", mode="lines", line={"width": 1},
        meta={"role": "other"}, hovertemplate="K = %{x}: %{y:.2f}× if verification were free<extra></extra>",
    )  # fmt: skip
    made.add_scatter(
        x=ks[: known + 1], y=real[: known + 1], name="with v(K)" if curve.reach is None else "with measured v(K)",
        mode="lines", line={"width": 3}, meta={"role": "run"},
        customdata=[v(k) for k in ks[: known + 1]],
        hovertemplate="K = %{x}: %{y:.2f}× to be expected, v = %{customdata:.2f}<extra></extra>",
    )  # fmt: skip
    if known < most:
        made.add_scatter(
            x=ks[known:], y=real[known:], name="v(K) drawn on beyond", mode="lines", line={"width": 2, "dash": "dot"},
            meta={"role": "run"}, customdata=[v(k) for k in ks[known:]],
            hovertemplate="K = %{x}: %{y:.2f}× if v goes on as before, v = %{customdata:.2f}<extra></extra>",
        )  # fmt: skip
    made.add_scatter(
        x=[0, most], y=[1, 1], name="target alone: 1", mode="lines", line={"width": 2, "dash": "dash"},
        meta={"role": "alone"}, hoverinfo="skip",
    )  # fmt: skip
    if curve.points:
        made.add_scatter(
            x=[p.k for p in curve.points], y=[p.speed_up for p in curve.points], name="measured", mode="markers",
            marker={"size": 13, "symbol": "diamond", "line": {"width": 1}}, meta={"role": "draft"},
            customdata=[[p.tokens, p.steps, " (mean depth)" if p.adaptive else ""] for p in curve.points],
            hovertemplate="K = %{x:.3g}%{customdata[2]}: %{y:.2f}× measured, %{customdata[0]} tokens in "
            "%{customdata[1]} steps<extra></extra>",
        )  # fmt: skip
    if best:
        made.add_scatter(
            x=[best], y=[real[best]], name="best K", mode="markers+text", text=[f"best: K = {best}, {real[best]:.2f}×"],
            textposition="top right" if best < most / 2 else "top left", cliponaxis=False,
            marker={"size": 16, "symbol": "circle-open", "line": {"width": 2}}, meta={"role": "residual"},
            hovertemplate="K = %{x} is best: %{y:.2f}×<extra></extra>",
        )  # fmt: skip
    for trace in made.data:
        tint = colour(trace.meta["role"])
        trace.update(marker={"color": tint}) if "markers" in trace.mode else None
        trace.update(line={"color": tint}) if "lines" in trace.mode else None
    high = max([1.2, *real, *(p.speed_up for p in curve.points), min(max(textbook), 2 * max(real))])
    axis = {"zeroline": False, "fixedrange": True, "automargin": True}
    made.update_layout(
        xaxis={**axis, "title": {"text": "K, tokens drafted per step"}, "range": [-0.4, most + 0.4], "dtick": 2},
        yaxis={**axis, "title": {"text": "× target alone"}, "range": [0, 1.12 * high]},
        margin={"l": 48, "r": 8, "t": 8, "b": 40},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", hovermode="closest", dragmode=False,
    )  # fmt: skip
    return made


def told(curve: Curve, whose: str, example: bool = False) -> Html:
    """The best K, or that none helps, and where the break-even lies; `whose`: a sentence on where the values are from.

    `example`: the values are nobody's, or too few were tested, which `whose` says above the curve: nothing is in bold.
    """
    needed = break_even_alpha(curve.c, curve.v, short=curve.short)
    line = "" if needed is None else f"Some K pays from α = {apart(needed, curve.alpha)} on."
    values = f"α = {curve.alpha:.2f}, c = {curve.c:.2f}, v(1) = {curve.v(1):.2f}."
    if curve.short:
        values += (
            f" {ended_early(curve.short):.0%} of the steps ended their draft early, which is taken to be so at every K."
        )
    if example:
        return room(says(f"{values} For those: {curve.verdict()} {line}"))
    return room(says(tag("strong", curve.verdict()), f" {line} {whose} {values}"))


def warned(sentence: str) -> Html:
    """What must be known before the curve is looked at."""
    return room(says(sentence))


def findings(found: Pace, badge: Html = NOTHING) -> Html:
    """Slower or faster, and why: a list that begins with what matters most. `badge`: what comes before all else."""
    return room(
        badge,
        says(tag("strong", headline(found))),
        tag("ol", *map(_finding, diagnose(found)), cls="sv-findings"),
    )


def _finding(finding: Finding) -> Html:
    parts: list[object] = [tag("strong", finding.title)]
    if finding.cost >= 0.005:
        parts += [" ", tag("small", f"takes {finding.cost:.0%} of the speed, against {finding.against}")]
    parts += [tag("br"), finding.seen]
    return tag("li", *parts, *([" ", tag("em", finding.do)] if finding.do else []))


def explained(found: Pace) -> Html:
    """What went into the formula, and from the textbook's figure to the measured one."""
    if not found.strategy:
        nothing = f"Nothing was drafted, so the formula has nothing to say. {DRAFT_FIRST}"
        return room(part("Theory and measurement", says(nothing)))
    v = found.v
    drawn = f". Measured up to K = {found.reach}, straight lines between and beyond" if v else ""
    places = "places accepted of places tested" + (", by place of the tree" if found.tree else "")
    taken = "".join(
        f". Measured {ratio:.2f}, taken as {v(depth):.2f}: more places never take less time, so the rest is noise"
        for depth, ratio in found.noisy
        if v and depth == found.k
    )
    figures = [
        ("α", str(found.alpha), places),
        ("c", number(found.cost_ratio), "time of drafting one place ÷ a target pass over one place"),
        (
            f"v({found.k})",
            number(v(found.k) if v else None),
            f"time of the verifying pass ÷ a target pass over one place; the textbook takes 1{drawn}{taken}",
        ),
    ]
    if found.single_s:
        figures.append(
            ("one pass", ms(found.single_s), f"a target pass over one place: {found.single_of}{_drift(found)}")
        )
    rows = [[named(name, what), value] for name, value, what in figures]
    source = f"c and v: {found.source}." if found.source else ""
    lacks = "" if found.known else " What is missing is measured by Measure target alone (above) or Measure costs here."
    mixed = ""
    if found.mixed:
        mixed = (
            f" Changed in the middle of the run: {', '.join(found.mixed)}; α, c and v are of all its steps together."
        )
    return room(
        part(
            "What goes into the formula",
            says(f"Strategy {found.strategy}, {counted(found.steps, 'step')}. {source}{lacks}{mixed}"),
            table("What goes into the formula", [("figure", "what it is"), ("this run", "")], rows, "told"),
        ),
        part("From the textbook to the measurement", *_breakdown(found)),
    )


def _drift(found: Pace) -> str:
    """The same of the target alone, where the machine was not as quick for it."""
    if not found.single_s or not found.alone_s or abs(found.alone_s / found.single_s - 1) < 0.1:
        return ""
    return (
        f"; the target alone took {ms(found.alone_s)} when it was timed, so the machine was not equally quick for both"
    )


def _breakdown(found: Pace) -> list[Html]:
    parts, point = found.explained(), found.main()
    if point is None:
        return [says("The run's speed-up is not measured yet; press Measure target alone.")]
    if parts is None:
        return [says("c and v are not known yet, so the gap cannot be split up; press Measure costs here.")]
    k = round(point.k)
    textbook, with_short = parts.textbook, parts.textbook * parts.missing
    with_v = with_short * parts.verification
    with_places = with_v * parts.dependence
    early = f"{ended_early(found.short):.0%} of the steps" if found.short else "no step"
    idle = f"; {found.idle} of {found.steps} found nothing" if found.idle else ""
    causes = [
        ("textbook", None, textbook, f"α, c and K = {k}: verification free, tests independent of each other"),
        (
            "short drafts",
            parts.missing,
            with_short,
            f"{early} drafted fewer tokens than asked: nothing found, an end, no room near the limit{idle}",
        ),
        ("verification", parts.verification, with_v, f"a pass over a draft {k} deep takes longer than one without"),
        ("dependence", parts.dependence, with_places, "acceptance differs by position: above 1 where it comes in runs"),
        (
            "all else",
            parts.overhead,
            parts.measured,
            "the loop around the models, looking for drafts in vain, noise of the machine",
        ),
    ]
    rows = [
        [named(name, what), f"× {x:.2f}" if x is not None else "", f"{so_far:.2f}×"] for name, x, so_far, what in causes
    ]
    columns = [("cause", "what it is"), ("factor", "above 1 is a gain"), ("speed-up", "up to here")]
    return [
        says(
            f"Speed-up at K = {k}: {textbook:.2f}× by the textbook, {parts.measured:.2f}× measured. Each cause comes on top of "
            "those above it; in the list of findings each is weighed by itself."
        ),
        table("From the textbook to the measurement", columns, rows, "told"),
    ]
