"""The study "What the numbers mean": every engine's figures of the run on screen, its rejections, its wasted time."""

from __future__ import annotations

import gradio as gr

from specviz.core.words import say
from specviz.ui.piece import Piece
from specviz.ui.studies.context import StudyContext
from specviz.views import numbers


def add(context: StudyContext) -> None:
    """Put it on the page."""
    with gr.Accordion(say("numbers.title"), open=False, elem_id="sv-numbers") as unfolded:
        with gr.Row(elem_classes="sv-study-row"):
            again = gr.Button(say("studies.look_again"), elem_id="sv-numbers-again", size="sm", scale=0, min_width=90)
            line = Piece("", elem_id="sv-numbers-says", padding=False)
        drawn = Piece("", elem_id="sv-numbers-drawn", padding=False)
    context.looks(unfolded, again, numbers.study, drawn, line)
