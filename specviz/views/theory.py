"""Speed-up over K as the formula expects it, and what was measured: a picture, and the way from one to the other.

The picture is a finished plotly figure as JSON, drawn by `assets/picture.js` with the page's own plotly in the colours of
the theme that is on. Pure. Example: ``picture(Curve(0.8, 0.1, free))`` has its best K at 5 and 2.46×.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.core.settings import MAX_K
from specviz.core.words import say
from specviz.metrics.pace import Pace, Point
from specviz.metrics.theory import Breakdown, Theory, break_even_alpha, ended_early, speed_up
from specviz.views.amounts import amount, apart, ms, number, rate
from specviz.views.elements import Column, column, named, part, room, says, table
from specviz.views.figures.base import colour
from specviz.views.findings import judged
from specviz.views.markup import Html, tag

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
    words = [say("speed.picture", alpha=f"{curve.alpha:.2f}", c=f"{curve.c:.2f}"), judged(curve)]
    words += [say("speed.point", k=f"{p.k:.3g}", gain=f"{p.speed_up:.2f}") for p in curve.points]
    return json.dumps({"figure": json.loads(found.to_json()), "says": " ".join(words), "best": best})


def figure(curve: Curve) -> go.Figure:
    """Textbook and measured v(K) as lines, the break-even line at 1, measured points, the best K."""
    v, best = curve.v, curve.best()
    most = MAX_K if max([best, *(p.k for p in curve.points)]) > SHORT else SHORT
    ks = list(range(most + 1))
    textbook, real = [speed_up(curve.alpha, k, curve.c) for k in ks], [curve.gain(k) for k in ks]
    known = most if curve.reach is None else min(most, curve.reach)
    made = go.Figure(layout={"template": go.layout.Template()})
    made.add_scatter(
        x=ks, y=textbook, name=say("speed.textbook_line"), mode="lines", line={"width": 1},
        meta={"line": "textbook", "role": "other"}, hovertemplate=_hover("textbook_hover"),
    )  # fmt: skip
    made.add_scatter(
        x=ks[: known + 1], y=real[: known + 1],
        name=say("speed.assumed_line" if curve.reach is None else "speed.measured_line"),
        mode="lines", line={"width": 3}, meta={"line": "expected", "role": "run"},
        customdata=[v(k) for k in ks[: known + 1]], hovertemplate=_hover("expected_hover"),
    )  # fmt: skip
    if known < most:
        made.add_scatter(
            x=ks[known:], y=real[known:], name=say("speed.extrapolated_line"), mode="lines",
            line={"width": 2, "dash": "dot"}, meta={"line": "extrapolated", "role": "run"},
            customdata=[v(k) for k in ks[known:]], hovertemplate=_hover("extrapolated_hover"),
        )  # fmt: skip
    made.add_scatter(
        x=[0, most], y=[1, 1], name=say("figures.alone_one"), mode="lines", line={"width": 2, "dash": "dash"},
        meta={"line": "alone", "role": "alone"}, hoverinfo="skip",
    )  # fmt: skip
    if curve.points:
        made.add_scatter(
            x=[p.k for p in curve.points], y=[p.speed_up for p in curve.points], name=say("speed.points"),
            mode="markers", marker={"size": 13, "symbol": "diamond", "line": {"width": 1}},
            meta={"line": "points", "role": "draft"}, customdata=[_point_words(p) for p in curve.points],
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
    if best:
        made.add_scatter(
            x=[best], y=[real[best]], name=say("speed.best"), mode="markers+text",
            text=[say("speed.best_label", k=best, gain=f"{real[best]:.2f}")],
            textposition="top right" if best < most / 2 else "top left", cliponaxis=False,
            marker={"size": 16, "symbol": "circle-open", "line": {"width": 2}},
            meta={"line": "best", "role": "residual"}, hovertemplate=_hover("best_hover"),
        )  # fmt: skip
    for trace in made.data:
        tint = colour(trace.meta["role"])
        trace.update(marker={"color": tint}) if "markers" in trace.mode else None
        trace.update(line={"color": tint}) if "lines" in trace.mode else None
    high = max([1.2, *real, *(p.speed_up for p in curve.points), min(max(textbook), 2 * max(real))])
    axis = {"zeroline": False, "fixedrange": True, "automargin": True}
    made.update_layout(
        xaxis={**axis, "title": {"text": say("speed.k_axis")}, "range": [-0.4, most + 0.4], "dtick": 2},
        yaxis={**axis, "title": {"text": say("figures.times_alone")}, "range": [0, 1.12 * high]},
        margin={"l": 48, "r": 8, "t": 8, "b": 40},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", hovermode="closest", dragmode=False,
    )  # fmt: skip
    return made


def _hover(name: str) -> str:
    """A note of plotly's, which fills in x, y and v."""
    return say(f"speed.{name}", k="%{x}", gain="%{y:.2f}", v="%{customdata:.2f}") + "<extra></extra>"


def _point_words(point: Point) -> str:
    return say(
        "speed.point_hover_adaptive" if point.adaptive else "speed.point_hover",
        k=f"{point.k:.3g}",
        gain=f"{point.speed_up:.2f}",
        tokens=amount("tokens", point.tokens),
        steps=amount("steps", point.steps),
    )


def told(curve: Curve, whose: str, example: bool = False) -> Html:
    """The best K, or that none helps, and where the break-even lies; `whose`: a sentence on where the values are from.

    `example`: the values are invented, or too few tokens were tested, which `whose` says above the curve: nothing is in
    bold.
    """
    needed = break_even_alpha(curve.c, curve.v, short=curve.short)
    line = "" if needed is None else say("findings.break_even", needed=apart(needed, curve.alpha))
    values = say("speed.values", alpha=f"{curve.alpha:.2f}", c=f"{curve.c:.2f}", v=f"{curve.v(1):.2f}")
    if curve.short:
        values += " " + say("speed.values_short", share=f"{ended_early(curve.short):.0%}")
    if example:
        return room(says(f"{values} {say('speed.for_those')} {judged(curve)} {line}"))
    return room(says(tag("strong", judged(curve)), f" {line} {whose} {values}"))


def warned(sentence: str) -> Html:
    """What must be known before the curve is looked at."""
    return room(says(sentence))


def explained(found: Pace) -> Html:
    """What went into the formula, and from the textbook's figure to the measured one."""
    if not found.strategy:
        nothing = f"{say('speed.no_formula')} {say('findings.draft_first')}"
        return room(part(say("speed.theory_title"), says(nothing)))
    title = say("speed.formula_title")
    sentences = [say("speed.of_strategy", strategy=found.strategy, steps=amount("steps", found.steps))]
    sentences += [say("speed.source", source=sourced(found))] if found.source else []
    sentences += [] if found.known else [say("speed.lacking")]
    sentences += [say("speed.mixed", settings=mixed(found))] if found.mixed else []
    columns = [column("speed.figure"), Column(say("speed.this_run"))]
    return room(
        part(title, says(" ".join(sentences)), table(title, columns, _figures(found), "told")),
        part(say("speed.gap_title"), *_breakdown(found)),
    )


def mixed(found: Pace) -> str:
    """Names of the settings that were changed in the middle of the run."""
    return ", ".join(say(f"studies.setting_{name}") for name in found.mixed)


def sourced(found: Pace) -> str:
    """Where c and v come from."""
    if found.source == "run":
        return say("speed.source_run", single=_single(found))
    return say(f"speed.source_{found.source}")


def _single(found: Pace) -> str:
    """What a target pass over one position was taken from."""
    return say(f"speed.single_{found.single_of}", n=found.single_n)


def _figures(found: Pace) -> list[list[object]]:
    """A row for each value of the formula."""
    v = found.v
    about_v = [say("speed.v_about")]
    about_v += [say("speed.v_reach", k=found.reach)] if v else []
    about_v += [
        say("speed.v_noisy", ratio=f"{ratio:.2f}", v=f"{v(depth):.2f}")
        for depth, ratio in found.noisy
        if v and depth == found.k
    ]
    rows: list[list[object]] = [
        [named("α", say("speed.alpha_tree" if found.tree else "speed.alpha_chain")), rate(found.alpha)],
        [named("c", say("speed.c_about")), number(found.cost_ratio)],
        [named(f"v({found.k})", " ".join(about_v)), number(v(found.k) if v else None)],
    ]
    if found.single_s:
        about = say("speed.single_about", single=_single(found)) + _drift(found)
        rows.append([named(say("speed.single"), about), ms(found.single_s)])
    return rows


def _drift(found: Pace) -> str:
    """The same of the target alone, where the machine was not as quick for it."""
    if not found.single_s or not found.alone_s or abs(found.alone_s / found.single_s - 1) < 0.1:
        return ""
    return " " + say("speed.drift", time=ms(found.alone_s))


def _breakdown(found: Pace) -> list[Html]:
    parts, point = found.explained(), found.main()
    if point is None:
        return [says(say("speed.gap_not_measured"))]
    if parts is None:
        return [says(say("speed.gap_no_costs"))]
    k = round(point.k)
    early = say("speed.short_some", share=f"{ended_early(found.short):.0%}") if found.short else say("speed.short_none")
    if found.idle:
        early += " " + say("speed.short_idle", idle=found.idle, steps=amount("of_steps", found.steps))
    about = {
        "textbook": say("speed.textbook_about", k=k),
        "short": early,
        "verification": say("speed.verification_about", k=k),
        "dependence": say("speed.dependence_about"),
        "rest": say("speed.rest_about"),
    }
    rows = [
        [
            named(say(f"speed.{name}"), about[name]),
            "" if factor is None else f"× {factor:.2f}",
            f"{so_far:.2f}×",
        ]
        for name, factor, so_far in _chain(parts)
    ]
    sentence = say("speed.gap", k=k, textbook=f"{parts.textbook:.2f}", measured=f"{parts.measured:.2f}")
    columns = [column("speed.cause"), column("speed.factor"), column("speed.so_far")]
    return [says(sentence), table(say("speed.gap_title"), columns, rows, "told")]


def _chain(parts: Breakdown) -> list[tuple[str, float | None, float]]:
    """Each cause with its factor and the speed-up after it."""
    with_short = parts.textbook * parts.missing
    with_v = with_short * parts.verification
    return [
        ("textbook", None, parts.textbook),
        ("short", parts.missing, with_short),
        ("verification", parts.verification, with_v),
        ("dependence", parts.dependence, with_v * parts.dependence),
        ("rest", parts.overhead, parts.measured),
    ]
