"""The study "Why this speed?": a diagnosis, theory over measurement, a curve to play with, and when the models worked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.core.costs import VerifyCost, interpolated
from specviz.core.settings import SpecvizError
from specviz.core.words import say
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace, Point
from specviz.sessions.job import Claim
from specviz.sessions.visitors import Visitor
from specviz.traces.trace import Trace
from specviz.ui.piece import Piece
from specviz.ui.studies.context import SHOWN_JS, StudyContext
from specviz.views import page, theory, timeline
from specviz.views.elements import changed
from specviz.views.findings import findings
from specviz.views.theory import Curve

JOB = "measure costs"
EXAMPLE = (0.7, 0.1, 0.05)
"""α, c and the cost of one more position, where a run has none: made up, and called so."""
LIMITS = ((1.0, 0.01), (2.0, 0.01), (1.0, 0.005))
"""How far the three sliders go, and in what steps."""


def add(context: StudyContext) -> None:
    """Put it on the page."""
    with gr.Accordion(say("speed.title"), open=False, elem_id="sv-why") as unfolded:
        with gr.Row(elem_classes="sv-study-row"):
            again = gr.Button(say("studies.look_again"), elem_id="sv-why-again", size="sm", scale=0, min_width=90)
            measure = gr.Button(say("speed.measure"), elem_id="sv-why-measure", size="sm", scale=0, min_width=90)
            stop = gr.Button(say("studies.stop"), elem_id="sv-why-stop", size="sm", scale=0, min_width=90)
            line = Piece("", elem_id="sv-why-says", padding=False)
        found = Piece("", elem_id="sv-why-found", padding=False)
        warned = Piece("", elem_id="sv-why-warned", padding=False)
        curve = gr.HTML(
            "",
            html_template=page.PICTURE_TEMPLATE,
            js_on_load=page.picture_script(),
            apply_default_css=False,
            elem_id="sv-why-curve",
            padding=False,
        )
        verdict = Piece("", elem_id="sv-why-verdict", padding=False)
        with gr.Row():
            sliders = _sliders()
        back = gr.Button(say("speed.own_values"), elem_id="sv-why-back", size="sm")
        explained = Piece("", elem_id="sv-why-explained", padding=False)
        strip = Piece("", elem_id="sv-why-strip", padding=False)
        with gr.Row():
            first = gr.Number(
                1,
                label=say("speed.first_step"),
                precision=0,
                minimum=1,
                elem_id="sv-why-first",
                scale=0,
                min_width=200,
            )
        facts = gr.Textbox("", visible=False)
    hidden = gr.Textbox(visible=False)
    outputs = [found, warned, curve, verdict, *sliders, explained, strip, first, facts]
    why = WhySpeed(context, len(outputs))
    context.looks(unfolded, again, why.drawn, outputs, line)
    for slider in sliders:
        slider.change(move, [facts, *sliders], [warned, curve, verdict], trigger_mode="always_last", **context.quick)
    back.click(restore, facts, sliders, **context.quick)
    first.change(why.from_step, [hidden, first], strip, js=SHOWN_JS, trigger_mode="always_last", **context.quick)
    measure.click(why.costs, [hidden, *context.panel.widgets], [line, *outputs], js=SHOWN_JS, **context.long)
    context.stops(stop, JOB)


def _sliders() -> list[gr.Slider]:
    return [
        gr.Slider(
            0,
            high,
            value,
            step=step,
            label=label,
            info=say(f"speed.{name}_info"),
            elem_id=f"sv-why-{name}",
            min_width=200,
            buttons=[],
        )
        for (high, step), value, (name, label) in zip(
            LIMITS,
            EXAMPLE,
            (("alpha", "α"), ("c", "c"), ("slope", say("speed.slope"))),
            strict=True,
        )
    ]


class WhySpeed:
    """The handlers that need a run. `outputs`: how many values `drawn` gives."""

    def __init__(self, context: StudyContext, outputs: int) -> None:
        self.context = context
        self.outputs = outputs

    def drawn(self, trace: Trace, here: bool = False) -> list[Any]:
        """All that the study shows of a run. `here`: with the costs measured on this machine before all others."""
        known = self.context.services.cost_measurement.known(trace, here)
        own = Own.of(known)
        shown = own.curve(own.sliders)
        return [
            findings(known, changed(trace)),
            own.warning(shown),
            theory.picture(shown),
            own.told(shown),
            *own.sliders,
            theory.explained(known),
            timeline.study(trace),
            1,
            own.packed(),
        ]

    def from_step(self, shown: str, number: float | None) -> Any:
        """The strip from another step on."""
        try:
            return timeline.study(self.context.on_screen(shown), int(number or 1))
        except SpecvizError as error:
            return timeline.room(timeline.says(str(error)))

    def costs(self, shown: str, request: gr.Request, *raw: Any) -> Iterator[list[Any]]:
        """Measure what drafting and verifying cost for the run on screen, with progress."""
        visitor = self.context.settled(request, raw)
        yield from self.context.latest(request, JOB, lambda claim: self.measured(claim, visitor, shown))

    def measured(self, claim: Claim, visitor: Visitor, shown: str) -> Iterator[list[Any]]:
        """A sentence and all that is shown, while `claim` is current."""
        same = [gr.update()] * self.outputs
        try:
            trace = self.context.on_screen(shown)
            steps = self.context.services.cost_measurement.measure(claim, visitor, trace)
            while True:
                try:
                    yield [next(steps), *same]
                except StopIteration as end:
                    done: bool = end.value
                    break
            yield [say("speed.measured"), *self.drawn(trace, here=True)] if done else [say("speed.stopped"), *same]
        except SpecvizError as error:
            yield [str(error), *same]


def move(packed: str, alpha: float, c: float, slope: float) -> tuple[str, str, str]:
    """Warning, curve and verdict with the sliders at these values."""
    own = Own.unpacked(packed)
    shown = own.curve((alpha, c, slope))
    return own.warning(shown), theory.picture(shown), own.told(shown)


def restore(packed: str) -> tuple[float, ...]:
    """The sliders at the run's own values."""
    return Own.unpacked(packed).sliders


class Own:
    """The run's own values beside the sliders, carried by the page so that moving one asks for no run.

    Where the sliders stand at them the curve is the measured one, else v is the straight line that was set.
    """

    def __init__(self, known: dict[str, Any] | None) -> None:
        self.known = known

    @classmethod
    def of(cls, found: Pace) -> Own:
        """As read off a run."""
        v = found.v
        if not found.known or v is None:
            return cls({"points": [_plain(point) for point in found.points]} if found.points else None)
        assert found.alpha.value is not None and found.cost_ratio is not None
        values = (found.alpha.value, found.cost_ratio, (v(found.k) - 1) / found.k if found.k else 0.0)
        return cls(
            {
                "exact": values[:2],
                "sliders": [_slider_value(value, *limit) for value, limit in zip(values, LIMITS, strict=True)],
                "v": [list(pair) for pair in found.verify_cost],
                "reach": found.reach,
                "points": [_plain(point) for point in found.points],
                "short": [list(pair) for pair in found.short],
                "tested": found.alpha.whole,
            }
        )

    @property
    def sliders(self) -> tuple[float, float, float]:
        """Where the sliders stand for this run."""
        if not self.known or "sliders" not in self.known:
            return EXAMPLE
        alpha, c, slope = self.known["sliders"]
        return float(alpha), float(c), float(slope)

    def curve(self, at: tuple[float, float, float]) -> Curve:
        """What is drawn for these slider values."""
        points = tuple(Point(*point) for point in (self.known or {}).get("points", ()))
        short = tuple((int(n), float(share)) for n, share in (self.known or {}).get("short", ()))
        if self.known and "exact" in self.known and tuple(at) == self.sliders:
            alpha, c = self.known["exact"]
            v = interpolated([(n, v) for n, v in self.known["v"]])
            return Curve(alpha, c, v, short, self.known["reach"], points)
        return Curve(at[0], at[1], _line(at[2]), short, None, points)

    def warning(self, shown: Curve) -> str:
        """For above the curve: that its values are an example, or rest on few tests; nothing otherwise."""
        if sentence := self._doubt(shown):
            return theory.warned(sentence)
        return ""

    def told(self, shown: Curve) -> str:
        """The verdict, and whose values these are where no `warning` says it."""
        whose = say("speed.whose_run" if shown.reach is not None else "speed.whose_sliders")
        return theory.told(shown, whose, example=bool(self._doubt(shown)))

    def _doubt(self, shown: Curve) -> str:
        if not self.known or "exact" not in self.known:
            return say("speed.example")
        if shown.reach is not None and self.known["tested"] < TESTED:
            return say("speed.few_tested", n=self.known["tested"], least=TESTED)
        return ""

    def packed(self) -> str:
        """For the page to carry."""
        return json.dumps(self.known)

    @classmethod
    def unpacked(cls, text: str) -> Own:
        """Inverse of `packed`; what is not of that shape is no run's values."""
        try:
            own = cls(json.loads(text or "null"))
            own.curve(own.sliders)
            return own
        except (ValueError, TypeError, KeyError, AttributeError, SpecvizError):
            return cls(None)


def _line(slope: float) -> VerifyCost:
    return lambda k: 1 + slope * k


def _plain(point: Point) -> list[Any]:
    return [point.k, point.speed_up, point.steps, point.tokens, point.adaptive]


def _slider_value(value: float, high: float, step: float) -> float:
    """Where a slider stands for this value."""
    return min(high, round(round(value / step) * step, 6))
