"""The page as a whole: how it is launched, and which handler each button and control calls.

All events of the page are private; the public endpoints are in `api`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from specviz.core.assets import ASSETS
from specviz.core.prompts import OWN_PROMPT, PRESETS
from specviz.core.words import say
from specviz.models.loading import load_pair
from specviz.sessions.arguments import CheckedCalls
from specviz.sessions.next_action import MATTERS
from specviz.sessions.services import Services
from specviz.sessions.visitors import MAX_VISITORS
from specviz.ui import controls, scripts
from specviz.ui.api import API_RUNS, API_WAITING, SIGNATURES, Endpoints
from specviz.ui.compressed import CompressedOnce
from specviz.ui.handlers import Handlers
from specviz.ui.languages import Blocks, SpokenRequests, in_all_languages
from specviz.ui.layout import Sidebar, Transport, live_view, sidebar, transport
from specviz.ui.panel import ARRIVAL_JS, TABLES, Panel
from specviz.ui.studies import STUDIES, StudyContext
from specviz.views import page
from specviz.views.page_files import css, head

ACTIVE_RUNS = MAX_VISITORS
"""Runs driven at once: as many as there are visitors, so that each learns its position in our own queue of steps (Gradio's
says nothing to a page that shows no progress of its own). What comes beyond `QUEUE` is told that it is busy."""
QUEUE = 64
SESSIONS = 4 * MAX_VISITORS
"""Sessions that Gradio keeps, some 0.3 MB each; the longest unseen is dropped first, and every call is one. Four times the
visitors, so that one who only looks stays known while 50 others and their calls pass."""

THEME = gr.themes.Base(
    primary_hue=gr.themes.colors.indigo,
    neutral_hue=gr.themes.colors.slate,
    spacing_size=gr.themes.sizes.spacing_sm,
    radius_size=gr.themes.sizes.radius_md,
    font=["ui-sans-serif", "system-ui", "sans-serif"],
    font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "DejaVu Sans Mono", "monospace"],
).set(
    # the theme's own primary button has 4.46:1 in light and 3.55:1 in dark, its footer 2.56:1; 4.5:1 can be read
    button_primary_background_fill="*primary_600",
    button_primary_background_fill_dark="*primary_600",
    button_primary_background_fill_hover="*primary_700",
    button_primary_background_fill_hover_dark="*primary_700",
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_400",
)
# on a narrow screen Gradio's sidebar lies over the page, and on a phone on its side it takes a third: there it begins closed
CLOSE_DRAWER_ON_PHONES = """() => {
    const phone = matchMedia('(max-width: 768px), (pointer: coarse) and (max-height: 500px)').matches;
    if (phone) document.querySelector('#sv-side.open .toggle-button')?.click();
}"""
EXAMPLES = {preset.prompt: name for name, preset in PRESETS.items()}
FOLLOW_PROMPT_JS = f"(prompt) => [({json.dumps(EXAMPLES)})[prompt] ?? {json.dumps(OWN_PROMPT)}]"

QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
"""An event that answers at once."""
LATEST: dict[str, Any] = {"trigger_mode": "always_last", **QUICK}
"""The same of a control: with Gradio's default a value that is set before the answer to the one before is lost."""
LONG: dict[str, Any] = {
    "concurrency_id": "decode",
    "concurrency_limit": ACTIVE_RUNS,
    "trigger_mode": "multiple",  # the latest press counts: "once" drops those that come before the answer's end
    "show_progress": "hidden",
    "api_visibility": "private",
}
"""An event that streams."""
# values as the browser has them: Gradio's own checks answer an emptied box with a traceback, and ours with a sentence
AS_TYPED: dict[str, Any] = {"preprocess": False}
PRESSED: dict[str, Any] = {**AS_TYPED, **LONG}


def launch_options() -> dict[str, Any]:
    """What a page is launched with. Made anew each time: Gradio writes the app's lifespan into `app_kwargs`."""
    return {
        "theme": THEME,
        "css": css() + (ASSETS / "controls.css").read_text(encoding="utf-8"),
        "head": head(),
        "run_history": False,  # would keep visitors' prompts in the browser's storage
        "ssr_mode": False,
        "footer_links": ["api", "settings"],
        # all that may be under way at once: the page's runs, calls that run or wait, and some that are being turned away
        "max_threads": ACTIVE_RUNS + API_RUNS + API_WAITING + 8,
        "state_session_capacity": SESSIONS,
        "app_kwargs": {
            "middleware": [
                Middleware(CompressedOnce),
                Middleware(CheckedCalls, signatures=SIGNATURES),
                Middleware(SpokenRequests),
            ],
            "routes": scripts.routes(),
        },
    }


def build(load: Callable[..., Any] = load_pair, preload: bool = True) -> gr.Blocks:
    """The whole app. `load`: how pairs are loaded; `preload`: begin with the default pair before anybody asks."""
    services = Services(load, controls.FIRST_SETTINGS)
    if preload:
        services.preload()
    gr.set_static_paths([page.PLOTLY])
    demo = in_all_languages(lambda: _page(services))
    demo.queue(max_size=QUEUE)
    return demo


def _page(services: Services) -> Blocks:
    """The page in the language that is spoken."""
    with Blocks(title=say("page.title"), fill_width=True, analytics_enabled=False) as demo:
        side, buttons, view = sidebar(), transport(), live_view(services)
        arrival = gr.Textbox(visible=False)
        panel = Panel(side.values | side.options, side.groups, side.pair, services.instead)
        handlers = Handlers(services, panel)
        context = StudyContext(services, panel, view, QUICK, LONG)
        for study in STUDIES:
            study(context)
        _wire_transport(handlers, side, buttons, view)
        _wire_controls(handlers, side, view)
        _wire_view(handlers, view)
        demo.load(handlers.arrive, arrival, [view, *panel.outputs], js=ARRIVAL_JS, **QUICK)
        demo.load(None, None, None, js=CLOSE_DRAWER_ON_PHONES)
        endpoints = Endpoints(services.model_cache, services.queue)
        for name in SIGNATURES:
            # they have their own slots, so that none of them waits in the page's queue
            gr.api(getattr(endpoints, name), api_name=name, concurrency_id="api", concurrency_limit=None)
    return demo


def _wire_transport(handlers: Handlers, side: Sidebar, buttons: Transport, view: gr.HTML) -> None:
    widgets, keep = handlers.panel.widgets, handlers.panel.keep_js()
    for button in (buttons.play, buttons.live):
        button.click(handlers.play, widgets, view, js=keep, **PRESSED)
    buttons.step.click(handlers.step, widgets, view, js=keep, **PRESSED)
    buttons.alone.click(handlers.measure, widgets, view, **PRESSED)
    side.load.click(handlers.load, widgets, view, **PRESSED)
    buttons.pause.click(handlers.pause, None, None, **QUICK)
    buttons.pause.click(None, widgets, None, js=keep, **QUICK)
    buttons.reset.click(handlers.reset, None, view, **QUICK)


def _wire_controls(handlers: Handlers, side: Sidebar, view: gr.HTML) -> None:
    panel, values = handlers.panel, side.values
    # change, here and of the examples: a menu's input comes whenever it loses the focus, changed or not
    models = [values["target"], values["draft"]]
    side.pair.change(handlers.choose_pair, [side.pair, *panel.widgets], [*models, side.pair, view], **PRESSED)
    for model in models:
        model.input(handlers.own_pair, models, side.pair, **LATEST)
    filled = [values["prompt"], values["chat"], view]
    side.preset.change(handlers.fill, [side.preset, values["prompt"]], filled, **LATEST)
    for name in TABLES:
        explained = [values[name], *side.groups.values()]
        values[name].input(handlers.explainer(name), values[name], explained, **LATEST)
    for name, widget in zip(panel.names, panel.widgets, strict=True):
        # A slider's change, not its input: a number typed beyond its range is invalid on input and drawn back after
        # A text's change, too: what is pasted or dropped into a box is no input to Gradio
        moved = widget.change if isinstance(widget, (gr.Slider, gr.Textbox)) else widget.input
        shown = view if name in MATTERS else None
        moved(handlers.setter(name), widget, shown, **AS_TYPED, **LATEST)
    # typed over, an example is none any more; told in the browser, whoever changed the prompt
    values["prompt"].change(None, values["prompt"], side.preset, js=FOLLOW_PROMPT_JS, **QUICK)


def _wire_view(handlers: Handlers, view: gr.HTML) -> None:
    panel = handlers.panel
    view.back(handlers.go_back, None, panel.outputs, **QUICK).success(handlers.load, panel.widgets, view, **PRESSED)
    view.use(handlers.take_over, None, panel.outputs, **QUICK)
    view.link(None, panel.widgets, None, js=panel.copy_js(), **QUICK)
    # nothing to do: that it goes through the queue makes the page listen again (gradio_fixes/closing_stream.js)
    view.listen(lambda: None, None, None, **(LONG | {"concurrency_id": "listen", "concurrency_limit": None}))
