"""A part of the page that views draw: the component itself escapes whatever is not their markup.

So a sentence with a model's name in it, wherever it came from, is shown as it was written.
Example: ``gr.HTML`` shows ``<b>`` in bold, ``Piece`` shows the three characters.
"""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import gradio as gr
from gradio.component_meta import ComponentMeta

from specviz.views.markup import html


class _WithoutStub(ComponentMeta):
    """Gradio writes a .pyi file beside the source of each new kind of component; a program must not change its own code."""

    def __new__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> Any:
        return ABCMeta.__new__(cls, name, bases, attrs)


class Piece(gr.HTML, metaclass=_WithoutStub):
    """Takes an `Html` of `views`, or plain text."""

    def postprocess(self, value: str | None) -> str | None:
        """`value` as the browser gets it."""
        return super().postprocess(str(html(value or "")))
