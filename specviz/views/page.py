"""What the live view and the views of the studies are made of, for whoever mounts them: scripts, template, style.

The files of `assets/` are ES modules that import each other; each view has an entry, which exports `mount`. The server
offers them below `SCRIPTS_AT`, an address that changes with their content. Knows nothing of Gradio. Example::

    gr.HTML(html_template=page.template(), js_on_load=page.script(), …); demo.launch(css=page_files.css())
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import plotly

from specviz.core.words import say
from specviz.metrics.trust import SLACK
from specviz.views import palette
from specviz.views.figures import FIGURES
from specviz.views.page_files import SCRIPTS, spoken

PLOTLY = Path(plotly.__file__).parent / "package_data"
"""The folder of plotly.min.js, which the server must offer; `assets/plotting.js` fetches it."""
SCRIPTS_AT = "/specviz/" + hashlib.sha256(b"".join(name.encode() + SCRIPTS[name] for name in SCRIPTS)).hexdigest()[:16]
"""Where the server offers them, below the app's own address. Another content is another address, so that no browser runs
files of two versions; hence they may be kept for ever."""
IN_HEAD = "gradio_fixes/page_language.js"
"""The one script that stands in the document itself: it must run before Gradio's scripts."""
EVENTS = ("back", "compared", "link", "listen", "rested", "use")
"""Events that the live view triggers. Gradio looks for their names, in quotes, in `js_on_load`."""
PICTURE_TEMPLATE = '<div class="sv-comparison sv-picture"></div>'
"""A finished plotly figure, a view of its own: Gradio's plot would load another plotly and put it in this one's place."""
RACE_TEMPLATE = '<div class="sv-comparison sv-race"></div>'
SWEEP_TEMPLATE = '<div class="sv-comparison sv-sweep"></div>'


_LOAD = """
// the app may be mounted below another one's address
const below = new URL(window.gradio_config?.root || '/', location.href).pathname.replace(/\\/$/, '');
const at = (path) => new URL(below + path, location.href).href;
const fetched = () => Promise.all([ENTRY, 'config.js'].map((name) => import(at(SCRIPTS_AT + '/' + name))));
const again = () => new Promise((wait) => setTimeout(wait, 1500)).then(fetched);
fetched().catch(again).then(([view, { configure }]) => {
  configure({ ...CONFIG, plotly: at(CONFIG.plotly) });
  view.mount({ element, props, watch, server, trigger });
}, () => {
  const words = document.createElement('p');
  words.className = 'sv-failed';
  words.setAttribute('role', 'alert');
  words.textContent = FAILED;
  element.querySelector('.sv-root, .sv-comparison').replaceChildren(words);
});
"""
"""What each view does when it is put on the page: fetches its modules, or says that they cannot be had."""


def script(
    lossy: Sequence[str] = (), speeds: Mapping[str, float] = MappingProxyType({}), settings: Sequence[str] = ()
) -> str:
    """`js_on_load` of the live view.

    `lossy`: rules that change the output; steps made under them say so. `speeds`: entries of the speed menu that wait
    between steps, in steps per second. `settings`: names in an address that say how a run is made.
    """
    config = {
        "slack": SLACK,
        "lossy": list(lossy),
        "speeds": dict(speeds),
        "settings": list(settings),
        **spoken(),
        "events": EVENTS,
        "figures": [{"name": name, "figure": build().to_plotly_json()} for name, build in FIGURES.items()],
    }
    return _loader("view.js", config)


def race_script() -> str:
    """`js_on_load` of the race of a comparison."""
    return _loader("race.js", spoken())


def sweep_script() -> str:
    """`js_on_load` of a sweep's pictures."""
    return _loader("sweep.js", spoken())


def picture_script() -> str:
    """`js_on_load` of a picture, whose script says nothing of its own."""
    return _loader("picture.js")


def _loader(entry: str, config: Mapping[str, Any] = MappingProxyType({})) -> str:
    known = {
        "palette": palette.plain(),
        "plotly": f"/gradio_api/file={PLOTLY}/plotly.min.js",
        **config,
    }
    names = {"CONFIG": known, "ENTRY": entry, "SCRIPTS_AT": SCRIPTS_AT, "FAILED": say("view.scripts_failed")}
    given = [f"const {name} = {_json(value)};" for name, value in names.items()]
    return "\n".join([*given, _LOAD.strip()])


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def template() -> str:
    """Static on purpose: a template that mentions the value would be drawn anew with each step."""
    return '<div class="sv-root"></div>'
