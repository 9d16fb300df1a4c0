"""The texts the live view and the views of the studies are made of, for whoever mounts them: script, template, style.

Knows the order of the files in `assets/` and nothing of Gradio. Example::

    gr.HTML(html_template=page.template(), js_on_load=page.script(), …); demo.launch(css=page.css())
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import plotly

from specviz.core.assets import ASSETS
from specviz.metrics.trust import SLACK
from specviz.views import palette
from specviz.views.figures import FIGURES
from specviz.views.markup import Html, joined, sheet

PLOTLY = Path(plotly.__file__).parent / "package_data"
"""The folder of plotly.min.js, which the server must offer; `assets/plotting.js` fetches it."""
SCRIPTS = (
    "dom.js",
    "plotting.js",
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
    "changes.js",
    "charts.js",
    "saving.js",
    "transport.js",
    "status.js",
    "slow.js",
    "runs.js",
    "live.js",
    "pulse.js",
    "unheard.js",
    "mends.js",
    "touch.js",
    "numbers.js",
    "print.js",
    "view.js",
)
"""One function scope in this order; `view.js` is the entry and comes last."""
PICTURE_SCRIPTS = ("dom.js", "plotting.js", "figure.js", "picture.js")
"""A finished plotly figure, a view of its own: Gradio's plot would load another plotly and put it in this one's place."""
PICTURE_TEMPLATE = '<div class="sv-comparison sv-picture"></div>'
RACE_SCRIPTS = ("dom.js", "lanes.js", "race.js")
"""The race of a comparison, a view of its own."""
RACE_TEMPLATE = '<div class="sv-comparison sv-race"></div>'
SWEEP_SCRIPTS = ("dom.js", "plotting.js", "figure.js", "sweep.js")
SWEEP_TEMPLATE = '<div class="sv-comparison sv-sweep"></div>'
STYLES = ("style.css", "card.css", "runs.css", "compare.css", "studies.css", "lossless.css", "race.css", "sweep.css")
MEDIA = {"forced.css": "(forced-colors: active)", "print.css": "print"}
"""Sheets of their own: what colours a visitor's system forces must not take away, and the page on paper."""


def script(
    lossy: Sequence[str] = (), speeds: Mapping[str, float] = MappingProxyType({}), settings: Sequence[str] = ()
) -> str:
    """The whole of `js_on_load`: what the browser must know of palette and charts, then the files.

    `lossy`: rules that change the output; steps made under them say so. `speeds`: entries of the speed menu that wait
    between steps, in steps per second. `settings`: names in an address that say how a run is made.
    """
    config = {
        "palette": palette.plain(),
        "slack": SLACK,
        "lossy": list(lossy),
        "speeds": dict(speeds),
        "settings": list(settings),
        "figures": [{"name": name, "figure": build().to_plotly_json()} for name, build in FIGURES.items()],
    }
    return _scope(config, SCRIPTS)


def race_script() -> str:
    """`js_on_load` of the race."""
    return _scope({"palette": palette.plain()}, RACE_SCRIPTS)


def sweep_script() -> str:
    """`js_on_load` of a sweep's pictures."""
    return _scope({}, SWEEP_SCRIPTS)


def _scope(config: dict[str, Any], names: Sequence[str]) -> str:
    config |= {"plotly": f"/gradio_api/file={PLOTLY}/plotly.min.js"}
    data = json.dumps(config, separators=(",", ":"), ensure_ascii=False)
    return "\n".join([f"const CONFIG = {data};", *((ASSETS / name).read_text(encoding="utf-8") for name in names)])


def picture_script() -> str:
    """`js_on_load` of a picture."""
    return _scope({"palette": palette.plain()}, PICTURE_SCRIPTS)


def template() -> str:
    """Static on purpose: a template that mentions the value would be drawn anew with each step."""
    return '<div class="sv-root"></div>'


def head() -> Html:
    """Style sheets for one medium each: Gradio's loader would keep them from what stands outside its own column."""
    return joined(sheet((ASSETS / name).read_text(encoding="utf-8"), media) for name, media in MEDIA.items())


def css() -> str:
    """Colours from the palette, then the layout."""
    return "\n".join([palette.css(), *((ASSETS / name).read_text(encoding="utf-8") for name in STYLES)])
