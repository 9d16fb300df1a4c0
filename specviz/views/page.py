"""The three texts the live view is made of, for whoever mounts it: script, template, style.

Knows the order of the files in `assets/` and nothing of Gradio. Example::

    gr.HTML(html_template=page.template(), js_on_load=page.script(), …); demo.launch(css=page.css())
"""

from __future__ import annotations

import json
from pathlib import Path

from specviz.views import palette
from specviz.views.figures import FIGURES

ASSETS = Path(__file__).resolve().parents[2] / "assets"
SCRIPTS = (
    "dom.js",
    "shape.js",
    "store.js",
    "tables.js",
    "csv.js",
    "tip.js",
    "sides.js",
    "words.js",
    "headline.js",
    "chips.js",
    "ribbon.js",
    "card.js",
    "tree.js",
    "place.js",
    "charts.js",
    "saving.js",
    "transport.js",
    "status.js",
    "slow.js",
    "runs.js",
    "live.js",
    "mends.js",
    "numbers.js",
    "view.js",
)
"""One function scope in this order; `view.js` is the entry and comes last."""
STYLES = ("style.css", "card.css", "runs.css", "compare.css")


def script() -> str:
    """The whole of `js_on_load`: what the browser must know of palette and charts, then the files."""
    config = {
        "palette": palette.plain(),
        "figures": [{"name": name, "figure": build().to_plotly_json()} for name, build in FIGURES.items()],
    }
    data = json.dumps(config, separators=(",", ":"), ensure_ascii=False)
    files = [(ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return "\n".join([f"const CONFIG = {data};", *files])


def template() -> str:
    """Static on purpose: a template that mentions the value would be drawn anew with each step."""
    return '<div class="sv-root"></div>'


def css() -> str:
    """Colours from the palette, then the layout."""
    return "\n".join([palette.css(), *((ASSETS / name).read_text(encoding="utf-8") for name in STYLES)])
