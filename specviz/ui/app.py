"""The page: controls on the left, transport above the one live view, and which handler each of them calls.

Gradio lives in this folder only. All events of the page are private; the public endpoints are in `api`. Nothing here
waits: a driver is a generator that Gradio pulls, and a control only writes down where it stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from specviz.core.prompts import OWN_PROMPT, PRESETS
from specviz.models.catalogue import PAIRS
from specviz.models.loading import load_pair
from specviz.recordings import gallery
from specviz.sessions.arguments import CheckedCalls
from specviz.sessions.drive import SPEEDS, Drivers
from specviz.sessions.files import Files
from specviz.sessions.lookups import Lookups
from specviz.sessions.measuring import Measuring
from specviz.sessions.outlook import MATTERS
from specviz.sessions.shelf import Key, Shelf
from specviz.sessions.turns import Turns
from specviz.sessions.visitors import MAX_VISITORS, Visitor, Visitors
from specviz.ui import controls, links, scripts
from specviz.ui.api import API_RUNS, API_WAITING, SIGNATURES, Endpoints
from specviz.ui.panel import ARRIVAL_JS, TABLES, Panel, hint, note, take
from specviz.ui.studies import STUDIES, Desk
from specviz.verification import RULES
from specviz.views import page, wire

ACTIVE_RUNS = MAX_VISITORS
"""Runs driven at once: as many as there are visitors, so that each hears its place in our own queue of steps (Gradio's
says nothing to a page that shows no progress of its own). What comes beyond `QUEUE` is told that it is busy."""
QUEUE = 64
SESSIONS = 4 * MAX_VISITORS
"""Sessions that Gradio keeps, some 0.3 MB each; the longest unseen is dropped first, and every call is one. Four times the
visitors, so that one who only looks stays known while 50 others and their calls pass."""
DEFAULT_KEY: Key = (controls.DEFAULT_PAIR, "", "auto")

TITLE = '<h1 class="sv-name">specviz</h1><p class="sv-motto">Watch a small model draft and a large one verify.</p>'
# past the controls, which are a dozen stops of the Tab key
SKIP = '<a class="sv-skip" href="#sv-play">Skip to the run</a>'
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


def launch_options() -> dict[str, Any]:
    """What a page is launched with. Made anew each time: Gradio writes the app's lifespan into `app_kwargs`."""
    return {
        "theme": THEME,
        "css": page.css() + (page.ASSETS / "controls.css").read_text(encoding="utf-8"),
        "head": page.head(),
        "run_history": False,  # would keep visitors' prompts in the browser's storage
        "ssr_mode": False,
        "footer_links": ["api", "settings"],
        # all that may be under way at once: the page's runs, calls that run or wait, and some that are being turned away
        "max_threads": ACTIVE_RUNS + API_RUNS + API_WAITING + 8,
        "state_session_capacity": SESSIONS,
        "app_kwargs": {
            "middleware": [Middleware(CheckedCalls, signatures=SIGNATURES)],
            "routes": scripts.routes(),
        },
    }


def build(load: Callable[..., Any] = load_pair, preload: bool = True) -> gr.Blocks:
    """The whole app. `load`: how pairs are loaded; `preload`: begin with the default pair before anybody asks."""
    visitors = Visitors()
    shelf = Shelf(load, visitors.pairs_in_use)
    turns = Turns()
    drivers, files = Drivers(shelf, turns), Files(visitors, turns, gallery.opening(controls.FIRST_SETTINGS))
    lookups = Lookups(visitors, shelf, DEFAULT_KEY)
    if preload:
        # the first run drafts with the default strategy, so what it needs is made before anybody presses Play
        drivers.workshop.make_after(shelf.ask(DEFAULT_KEY), controls.FIRST_SETTINGS.strategy)

    gr.set_static_paths([page.PLOTLY])
    with gr.Blocks(title="specviz: watch speculative decoding", fill_width=True, analytics_enabled=False) as demo:
        values: dict[str, Any] = {}
        options: dict[str, gr.Slider] = {}
        groups: dict[tuple[str, str], gr.Group] = {}

        def knobs_of(name: str) -> None:
            for label, entry in TABLES[name].items():
                if entry.knobs:
                    shown = label == getattr(controls.FIRST_SETTINGS, name)
                    with gr.Group(visible=shown) as groups[name, label]:
                        options.update(controls.own_knobs(entry))

        with gr.Sidebar(width=300, elem_id="sv-side"):
            gr.HTML(SKIP + TITLE, padding=False)
            preset = controls.preset_menu()
            values["prompt"] = controls.prompt_box()
            values["k"] = controls.setting("k")
            values["strategy"] = controls.strategy_menu()
            knobs_of("strategy")
            values["draft_length"] = controls.length_menu()
            knobs_of("draft_length")
            values["temperature"] = controls.setting("temperature")
            values["speed"] = controls.speed_menu()
            with gr.Accordion("Sampling and rule", open=False):
                for name in ("top_k", "top_p", "repetition_penalty"):
                    values[name] = controls.setting(name)
                values["seed"] = controls.seed_box()
                values["rule"] = controls.rule_menu()
                knobs_of("rule")
            with gr.Accordion("Length and template", open=False):
                values["max_new_tokens"] = controls.setting("max_new_tokens")
                values["chat"] = controls.chat_box()
                values["stop"] = controls.stop_box()
            with gr.Accordion("Models", open=False):
                pair = controls.pair_menu()
                values["target"] = controls.target_menu()
                values["draft"] = controls.draft_menu()
                values["dtype"] = controls.dtype_menu()
                load_button = gr.Button("Load these models", size="sm", elem_id="sv-load")
        gr.HTML(TITLE, padding=False, elem_id="sv-title")  # shown on phones, where the column begins closed
        with gr.Row(elem_id="sv-transport"):
            play_button = gr.Button("▶ Play", variant="primary", elem_id="sv-play", scale=0)
            pause_button = gr.Button("❚❚ Pause", elem_id="sv-pause", scale=0)
            step_button = gr.Button("▶❚ Step", elem_id="sv-step", scale=0)
            reset_button = gr.Button("↺ Reset", elem_id="sv-reset", scale=0)
            # shown by the view (transport.js) while a recording is on screen
            live_button = gr.Button("Run live", elem_id="sv-live", scale=0)
            alone_button = gr.Button("Measure target alone", elem_id="sv-alone", elem_classes="sv-apart", scale=0)
        view = gr.HTML(
            "",
            html_template=page.template(),
            js_on_load=page.script(
                lossy=[name for name, rule in RULES.items() if not rule.lossless],
                speeds={name: rate for name, rate in SPEEDS.items() if rate < float("inf")},
                settings=links.RUN_SETTINGS,
            ),
            apply_default_css=False,
            elem_id="sv-view",
            padding=False,
            server_functions=[*lookups.functions(), *files.functions()],
        )
        told = gr.Textbox(visible=False)

        def instead() -> str:
            loaded = shelf.loaded(DEFAULT_KEY)
            return loaded.instead if loaded else ""

        panel = Panel(values | options, groups, pair, instead)
        names, widgets = panel.names, panel.widgets

        def visitor_of(request: gr.Request) -> Visitor:
            return visitors.of(request.session_hash)

        def driven(drive: Callable[[Visitor], Iterator[str]]) -> Callable[..., Iterator[str]]:
            def handler(request: gr.Request, *raw: Any) -> Iterator[str]:
                visitor = visitor_of(request)
                take(visitor, dict(zip(names, raw, strict=True)))
                yield from drive(visitor)

            return handler

        def setter(name: str) -> Callable[..., Any]:
            def handler(value: Any, request: gr.Request) -> Any:
                visitor = visitor_of(request)
                take(visitor, {name: value})
                return hint(visitor) if name in MATTERS else None

            return handler

        def pause(request: gr.Request) -> None:
            visitor_of(request).claim()

        def reset(request: gr.Request) -> str:
            visitor = visitor_of(request)
            visitor.forget_run()
            return wire.pack({"m": "clear", "seq": visitor.next_seq()})  # what has a lower number is too late

        def fill(name: str, prompt: str, request: gr.Request) -> tuple[Any, Any, Any]:
            chosen = PRESETS.get(name)
            # the menu's own word for a prompt that is no example, or the menu that followed the prompt
            if chosen is None or chosen.prompt == prompt:
                return gr.update(), gr.update(), gr.update()
            visitor = visitor_of(request)
            take(visitor, {"prompt": chosen.prompt, "chat": chosen.chat})
            return chosen.prompt, chosen.chat, hint(visitor)

        def arrive(arrival: str, request: gr.Request) -> list[Any]:
            visitor, found, say = panel.arrive(visitors, request.session_hash, arrival)
            take(visitor, found)
            updates = panel.put(found)
            if "target" not in found and "draft" not in found:
                updates[-1] = panel.pair_update({"target": controls.DEFAULT_PAIR})
            return [note(visitor, say), *updates]

        def take_over(event: gr.EventData, request: gr.Request) -> list[Any]:
            found, _ = links.check(event._data or {})
            take(visitor_of(request), found)
            return panel.put(found)

        def go_back(request: gr.Request) -> list[Any]:
            visitor = visitor_of(request)
            worked = dict(zip(("target", "draft", "dtype"), visitor.worked, strict=True))
            take(visitor, worked)
            return panel.put(worked)

        def choose_pair(name: str, request: gr.Request, *raw: Any) -> Iterator[list[Any]]:
            visitor, stood = visitor_of(request), dict(zip(names, raw, strict=True))
            # the menu that followed the models typed below it, or the arrival, asks for nothing; and where the controls
            # stood then may be out of date by the time this is heard
            if name not in PAIRS or name == panel.pair_shown(stood):
                yield [gr.skip()] * 4  # nothing at all would empty them
                return
            target, draft = controls.models_of(name)
            take(visitor, stood | {"target": target, "draft": draft})
            yield [target, draft, panel.pair_update({"target": target, "draft": draft}), gr.skip()]
            for text in drivers.load(visitor):
                yield [gr.skip(), gr.skip(), gr.skip(), text]

        def own_pair(target: str, draft: str) -> Any:
            return panel.pair_update({"target": target or "", "draft": draft or ""})

        quick: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        long: dict[str, Any] = {
            "concurrency_id": "decode",
            "concurrency_limit": ACTIVE_RUNS,
            "trigger_mode": "multiple",  # the latest press counts: "once" drops those that come before the answer's end
            "show_progress": "hidden",
            "api_visibility": "private",
        }
        desk = Desk(visitors, shelf, turns, Measuring(shelf, turns), files, panel, view, quick, long)
        for study in STUDIES:
            study(desk)
        keep = panel.keep_js()
        # values as the browser has them: Gradio's own checks answer an emptied box with a traceback, and ours with a sentence
        as_typed: dict[str, Any] = {"preprocess": False}
        pressed: dict[str, Any] = {**as_typed, **long}
        play = driven(lambda v: drivers.play(v, float("inf")))
        for button in (play_button, live_button):
            button.click(play, widgets, view, js=keep, **pressed)
        step = driven(lambda v: drivers.play(v, 1))
        step_button.click(step, widgets, view, js=keep, **pressed)
        alone_button.click(driven(drivers.measure), widgets, view, **pressed)
        load_button.click(driven(drivers.load), widgets, view, **pressed)
        models = [values["target"], values["draft"]]
        # change, here and of the examples: a menu's input comes whenever it loses the focus, changed or not
        chosen = [*models, pair, view]
        pair.change(choose_pair, [pair, *widgets], chosen, **pressed)
        for model in models:
            model.input(own_pair, models, pair, **quick)
        pause_button.click(pause, None, None, **quick)
        pause_button.click(None, widgets, None, js=keep, **quick)
        reset_button.click(reset, None, view, **quick)
        preset.change(fill, [preset, values["prompt"]], [values["prompt"], values["chat"], view], **quick)
        for name in TABLES:
            values[name].input(partial(panel.explain, name), values[name], [values[name], *groups.values()], **quick)
        for name, widget in zip(names, widgets, strict=True):
            # always_last: with the default the last position of a dragged slider can be lost
            # A slider's change, not its input: a number typed beyond its range is refused on input and drawn back after
            # A text's change, too: what is pasted or dropped into a box is no input to Gradio
            moved = widget.change if isinstance(widget, (gr.Slider, gr.Textbox)) else widget.input
            shown = view if name in MATTERS else None
            moved(setter(name), widget, shown, trigger_mode="always_last", **as_typed, **quick)
        # typed over, an example is none any more; told in the browser, whoever changed the prompt
        values["prompt"].change(None, values["prompt"], preset, js=FOLLOW_PROMPT_JS, **quick)
        view.back(go_back, None, panel.outputs, **quick).success(
            driven(drivers.load), widgets, view, **as_typed, **long
        )
        view.use(take_over, None, panel.outputs, **quick)
        view.link(None, widgets, None, js=panel.copy_js(), **quick)
        demo.load(arrive, told, [view, *panel.outputs], js=ARRIVAL_JS, **quick)
        demo.load(None, None, None, js=CLOSE_DRAWER_ON_PHONES)
        endpoints = Endpoints(shelf, turns)
        for name in SIGNATURES:
            # they see to their own places, so that none of them waits in the page's queue
            gr.api(getattr(endpoints, name), api_name=name, concurrency_id="api", concurrency_limit=None)
    demo.queue(max_size=QUEUE)
    return demo
