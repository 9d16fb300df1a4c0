"""The study "Is the output really unchanged?": `sessions.lossless_check` with its widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from specviz.core.settings import SpecvizError
from specviz.core.words import say, spoken
from specviz.experiments.distribution_check import STRATEGIES
from specviz.sessions import lossless_check
from specviz.sessions.job import Claim
from specviz.sessions.lossless_check import NAMES, RUNS, SEED, USUAL
from specviz.traces.trace import Trace
from specviz.ui.piece import Piece
from specviz.ui.studies.context import SHOWN_JS, StudyContext
from specviz.views.lossless import words

REPLAY, COUNT = "replay", "count"


def add(context: StudyContext) -> None:
    """Put it on the page."""
    with gr.Accordion(say("lossless.title"), open=False, elem_id="sv-lossless") as unfolded:
        gr.Markdown(say("lossless.intro"))
        with gr.Row():
            step = gr.Slider(
                1, 2, 1, step=1, label=say("lossless.step"), elem_id="sv-lossless-step", buttons=[], min_width=160
            )
            position = gr.Slider(
                1,
                2,
                1,
                step=1,
                label=say("lossless.position"),
                elem_id="sv-lossless-position",
                buttons=[],
                min_width=160,
            )
            seed = gr.Number(
                SEED.default, label=spoken(SEED.label), info=spoken(SEED.help), precision=0, minimum=0, min_width=120
            )
        names = gr.CheckboxGroup(
            [(_label(name), str(name)) for name in NAMES],
            value=USUAL,
            label=say("lossless.rules"),
            info=say("lossless.rules_info"),
            elem_id="sv-lossless-rules",
        )
        where = Piece("", elem_id="sv-lossless-where", padding=False)
        with gr.Row(elem_classes="sv-study-row"):
            go = gr.Button(say("lossless.replay"), variant="primary", elem_id="sv-lossless-go", scale=0, min_width=210)
            halt = gr.Button(say("studies.stop"), elem_id="sv-lossless-halt", scale=0)
            again = gr.Button(say("lossless.find"), elem_id="sv-lossless-find", scale=0, min_width=210)
            says = Piece("", elem_id="sv-lossless-says", padding=False)
        seen = Piece("", elem_id="sv-lossless-seen", padding=False)
        gr.Markdown(say("lossless.intro_whole"))
        with gr.Row():
            strategy = gr.Dropdown(
                list(STRATEGIES),
                value=STRATEGIES[0],
                label=say("lossless.strategy"),
                elem_id="sv-whole-strategy",
                min_width=160,
            )
            runs = gr.Slider(
                RUNS.low,
                RUNS.high,
                RUNS.default,
                step=RUNS.step,
                label=spoken(RUNS.label),
                info=spoken(RUNS.help),
                buttons=[],
                min_width=260,
            )
        with gr.Row(elem_classes="sv-study-row"):
            check = gr.Button(say("lossless.check"), elem_id="sv-whole-go", scale=0, min_width=210)
            end = gr.Button(say("studies.stop"), elem_id="sv-whole-halt", scale=0)
            tells = Piece("", elem_id="sv-whole-says", padding=False)
        found = Piece("", elem_id="sv-whole-seen", padding=False)

    def find(trace: Trace) -> list[Any]:
        number, which = lossless_check.telling(trace)
        return [
            gr.update(maximum=max(2, len(trace.steps)), value=number),
            gr.update(maximum=max(2, len(trace.steps[number - 1].positions)), value=which),
            words(lossless_check.about(trace, number, which)),
        ]

    def find_again(shown: str, number: float, which: float) -> list[Any]:
        try:
            trace = context.on_screen(shown)
            if lossless_check.telling(trace) == (number, which):
                return [say("lossless.already"), *[gr.update()] * 3]
            return ["", *find(trace)]
        except SpecvizError as error:
            return [str(error), *[gr.update()] * 3]

    def move(shown: str, number: float, which: float) -> list[Any]:
        try:
            trace = context.on_screen(shown)
            record, _ = lossless_check.at(trace, number, 1)
            which = min(which, len(record.positions))
            return [
                gr.update(maximum=max(2, len(record.positions)), value=which),
                words(lossless_check.about(trace, number, which)),
            ]
        except SpecvizError as error:
            return [gr.update(), words(str(error))]

    def replay(request: gr.Request, shown: str, *asked: Any) -> Iterator[tuple[str, str]]:
        work = _told(lambda claim: lossless_check.replayed(claim, context.on_screen(shown), *asked))
        yield from context.latest(request, REPLAY, work)

    def count(request: gr.Request, *asked: Any) -> Iterator[tuple[str, str]]:
        yield from context.latest(
            request, COUNT, _told(lambda claim: lossless_check.counted(claim, context.services.queue, *asked))
        )

    hidden = gr.Textbox(visible=False)
    context.looks(unfolded, None, find, [step, position, where], line=says)
    again.click(find_again, [hidden, step, position], [says, step, position, where], js=SHOWN_JS, **context.quick)
    for slider in (step, position):
        # change, not release: an arrow key moves it too
        slider.change(
            move, [hidden, step, position], [position, where], js=SHOWN_JS, trigger_mode="always_last", **context.quick
        )
    go.click(replay, [hidden, step, position, names, seed], [says, seen], js=SHOWN_JS, **context.long)
    context.stops(halt, REPLAY)
    check.click(count, [strategy, names, runs], [tells, found], **context.long)
    context.stops(end, COUNT)


def _label(name: str) -> str:
    kind = lossless_check.kind(name)
    return spoken(name) if kind == "lossless" else f"{spoken(name)} ({say(f'studies.{kind}')})"


def _told(work: Callable[[Claim], Iterator[tuple[str, str]]]) -> Callable[[Claim], Iterator[Any]]:
    """What `work` gives, and at its end that it was stopped, or what is wrong as a sentence in place of it."""

    def told(claim: Claim) -> Iterator[Any]:
        try:
            yield from work(claim)
            if not claim.is_current:
                yield say("lossless.stopped"), gr.skip()
        except SpecvizError as error:
            yield str(error), ""

    return told
