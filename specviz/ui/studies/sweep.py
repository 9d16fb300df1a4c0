"""The study "Sweep strategies and K": `sessions.sweeping` with its widgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.core.prompts import PRESETS
from specviz.core.words import say, spoken
from specviz.sessions.comparing import CHOICES
from specviz.sessions.sweeping import OWN, Choice, Sweeping
from specviz.ui.piece import Piece
from specviz.ui.studies.context import StudyContext
from specviz.views import page

JOB = "sweep"
KS = (1, 2, 3, 4, 6, 8, 12, 16)
TEMPERATURES = (0.0, 0.5, 0.7, 1.0)
FIRST = Choice(strategies=["greedy", "prompt lookup"], ks=[1, 2, 4, 8], temperatures=[0.0], prompts=[OWN], tokens=32)
"""Done in about two minutes with the default pair on two cores."""


def add(context: StudyContext) -> None:
    """Put it on the page."""
    sweeping = Sweeping(context.services.model_cache, context.services.queue)
    with gr.Accordion(say("sweep.title"), open=False, elem_id="sv-sweep") as unfolded:
        strategies = gr.CheckboxGroup(
            CHOICES,
            value=list(FIRST.strategies),
            label=say("studies.strategies"),
            info=say("sweep.strategies_info"),
        )
        with gr.Row():
            ks = gr.CheckboxGroup(
                [(str(k), k) for k in KS], value=list(FIRST.ks), label=say("sweep.k"), info=say("sweep.k_info")
            )
            temperatures = gr.CheckboxGroup(
                [(f"{t:g}", t) for t in TEMPERATURES],
                value=list(FIRST.temperatures),
                label=say("studies.setting_temperature"),
                info=say("sweep.temperature_info"),
            )
        prompts = gr.CheckboxGroup(
            [(spoken(name), str(name)) for name in (OWN, *PRESETS)],
            value=list(FIRST.prompts),
            label=say("sweep.prompts"),
            info=say("sweep.prompts_info"),
        )
        tokens = gr.Slider(8, 256, value=FIRST.tokens, step=8, label=say("sweep.tokens"), elem_id="sv-sweep-tokens")
        with gr.Row(elem_classes="sv-study-row"):
            go = gr.Button(say("sweep.go"), elem_id="sv-sweep-go", scale=0)
            stop = gr.Button(say("studies.stop"), elem_id="sv-sweep-stop", scale=0)
            forget = gr.Button(say("sweep.forget"), elem_id="sv-sweep-forget", scale=0)
            plan = Piece("", elem_id="sv-sweep-plan", padding=False)
        progress = Piece("", elem_id="sv-sweep-progress", padding=False)
        pictures = gr.HTML(
            "",
            html_template=page.SWEEP_TEMPLATE,
            js_on_load=page.sweep_script(),
            apply_default_css=False,
            elem_id="sv-sweep-pictures",
            padding=False,
        )
        table = Piece("", elem_id="sv-sweep-table", padding=False)
    chosen: list[Any] = [strategies, ks, temperatures, prompts, tokens]

    def sweep(request: gr.Request, *raw: Any) -> Iterator[tuple[str, str, str]]:
        visitor, choice = context.settled(request, raw[len(chosen) :]), Choice(*raw[: len(chosen)])
        yield from context.latest(request, JOB, lambda claim: sweeping.sweep(claim, visitor, choice))

    def planned(request: gr.Request, *raw: Any) -> str:
        return sweeping.plan(context.settled(request, raw[len(chosen) :]), Choice(*raw[: len(chosen)]))

    def forgotten(request: gr.Request) -> tuple[str, str, str]:
        visitor = context.visitor(request)
        visitor.jobs[JOB].stop()
        visitor.swept.clear()
        return "", "", ""

    given = [*chosen, *context.panel.widgets]
    shown = [progress, pictures, table]
    go.click(sweep, given, shown, **context.long).then(planned, given, plan, **context.quick)
    context.stops(stop, JOB)
    forget.click(forgotten, None, shown, **context.quick).then(planned, given, plan, **context.quick)
    unfolded.expand(planned, given, plan, **context.quick)
    for widget in chosen:
        widget.change(planned, given, plan, trigger_mode="always_last", **context.quick)
