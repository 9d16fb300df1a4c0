"""A run as a frame for a notebook: the exported document inside one element, which a saved notebook keeps.

The frame is sandboxed: the document's script has no access to the notebook, its storage or its address.
"""

from __future__ import annotations

from specviz.core.words import say
from specviz.export.page import to_html
from specviz.traces.trace import Trace
from specviz.views.markup import Html, tag

HEIGHT = 720


def to_frame(trace: Trace, height: int = HEIGHT) -> Html:
    """An iframe with the whole document in it; `height` in pixels."""
    style = f"width:100%;height:{height}px;border:1px solid #8884"
    inside = {"srcdoc": to_html(trace), "sandbox": "allow-scripts", "style": style, "title": say("export.frame")}
    return tag("iframe", **inside)
