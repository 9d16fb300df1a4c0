"""The study "Compare strategies on this prompt": `sessions.comparing` with its widgets, and the race of its lanes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.core.settings import SpecvizError
from specviz.core.words import say
from specviz.sessions.comparing import CHOICES, USUAL, Comparing, Seen, recorded
from specviz.ui.piece import Piece
from specviz.ui.studies.context import StudyContext
from specviz.views import page

JOB = "compare"
SHOW_JS = """() => {
    const box = document.getElementById('sv-compare');
    const show = (left) => {
        // it can be scrolled to once it is unfolded and drawn, some frames after this is called
        if (!left || box.querySelector('.sv-comparison')?.checkVisibility()) box.scrollIntoView();
        else requestAnimationFrame(() => show(left - 1));
    };
    show(300);
}"""
"""A recorded comparison is chosen at the top of the page and shown here."""


def add(context: StudyContext) -> None:
    """Put it on the page."""
    comparing = Comparing(context.services.model_cache, context.services.queue)
    with gr.Accordion(say("studies.compare_title"), open=False, elem_id="sv-compare") as unfolded:
        rivals = gr.CheckboxGroup(
            CHOICES,
            value=list(USUAL),
            label=say("studies.strategies"),
            info=say("studies.compare_info"),
        )
        with gr.Row(elem_classes="sv-study-row"):
            go = gr.Button(say("studies.compare"), elem_id="sv-compare-go", scale=0)
            stop = gr.Button(say("studies.stop"), elem_id="sv-compare-stop", scale=0)
            says = Piece("", elem_id="sv-compare-says", padding=False)
        compared = Piece("", elem_id="sv-compared", padding=False)
        raced = gr.HTML(
            "",
            html_template=page.RACE_TEMPLATE,
            js_on_load=page.race_script(),
            apply_default_css=False,
            elem_id="sv-raced",
            padding=False,
        )

    def compare(request: gr.Request, chosen: list[str], *raw: Any) -> Iterator[tuple[str, str, str]]:
        visitor = context.settled(request, raw)
        yield from context.latest(request, JOB, lambda claim: comparing.compare(claim, visitor, chosen))

    def show(event: gr.EventData, request: gr.Request) -> list[Any]:
        # a comparison under way ends, and its last word must not take the recorded one's place
        context.supersede(request, JOB)
        try:
            seen = recorded(str((event._data or {}).get("name") or ""))
        except SpecvizError as error:
            seen = Seen(str(error))
        return [gr.update(open=True), *seen]

    go.click(compare, [rivals, *context.panel.widgets], [says, compared, raced], **context.long)
    context.stops(stop, JOB)
    # through the queue: what comes outside of it can overtake the live one's frames
    in_order = context.quick | {"queue": True, "concurrency_limit": None}
    context.view.compared(show, None, [unfolded, says, compared, raced], **in_order).then(
        None, None, None, js=SHOW_JS, **context.quick
    )
