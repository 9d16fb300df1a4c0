"""What stands where on the page: controls on the left, transport above the one live view. No handlers here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from specviz.core.words import language, names, say, spoken
from specviz.sessions import links
from specviz.sessions.drive import SPEEDS
from specviz.sessions.services import Services
from specviz.ui import controls
from specviz.ui.panel import TABLES
from specviz.verification import RULES
from specviz.views import page
from specviz.views.markup import Html, joined, tag


@dataclass(slots=True)
class Sidebar:
    """The controls. `values`: by the names of `RunSettings`, in the order of the page; `options`: own knobs of entries of
    a menu; `groups`: what holds them, by menu and entry; `preset`, `pair`: menus that fill other controls."""

    preset: gr.Dropdown
    pair: gr.Dropdown
    load: gr.Button
    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, gr.Slider] = field(default_factory=dict)
    groups: dict[tuple[str, str], gr.Group] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Transport:
    """The buttons above the run."""

    play: gr.Button
    pause: gr.Button
    step: gr.Button
    reset: gr.Button
    live: gr.Button
    alone: gr.Button


def title() -> Html:
    """The name, what it is about, and the other languages. Their links get the other parameters of the address from
    `assets/language.js`."""
    others = [
        tag("a", spoken, cls="sv-language", href=f"?lang={code}", lang=code, hreflang=code)
        for code, spoken in names().items()
        if code != language()
    ]
    return joined([*others, tag("h1", "specviz", cls="sv-name"), tag("p", say("page.motto"), cls="sv-motto")])


def sidebar() -> Sidebar:
    """Put the controls on the page."""
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
        # past the controls, which are a dozen stops of the Tab key
        skip = tag("a", say("page.skip"), cls="sv-skip", href="#sv-play")
        gr.HTML(joined([skip, title()]), padding=False)
        preset = controls.preset_menu()
        values["prompt"] = controls.prompt_box()
        values["k"] = controls.setting("k")
        values["strategy"] = controls.strategy_menu()
        knobs_of("strategy")
        values["draft_length"] = controls.length_menu()
        knobs_of("draft_length")
        values["temperature"] = controls.setting("temperature")
        values["speed"] = controls.speed_menu()
        with gr.Accordion(say("controls.section_sampling"), open=False):
            for name in ("top_k", "top_p", "repetition_penalty"):
                values[name] = controls.setting(name)
            values["seed"] = controls.seed_box()
            values["rule"] = controls.rule_menu()
            knobs_of("rule")
        with gr.Accordion(say("controls.section_length"), open=False):
            values["max_new_tokens"] = controls.setting("max_new_tokens")
            values["chat"] = controls.chat_box()
            values["stop"] = controls.stop_box()
        with gr.Accordion(say("controls.section_models"), open=False):
            pair = controls.pair_menu()
            values["target"] = controls.target_menu()
            values["draft"] = controls.draft_menu()
            values["dtype"] = controls.dtype_menu()
            load = gr.Button(say("controls.load"), size="sm", elem_id="sv-load")
    return Sidebar(preset, pair, load, values, options, groups)


def transport() -> Transport:
    """Put the title and the buttons on the page."""
    gr.HTML(title(), padding=False, elem_id="sv-title")  # shown on phones, where the column begins closed
    with gr.Row(elem_id="sv-transport"):
        return Transport(
            play=gr.Button(say("controls.play"), variant="primary", elem_id="sv-play", scale=0),
            pause=gr.Button(say("controls.pause"), elem_id="sv-pause", scale=0),
            step=gr.Button(say("controls.step"), elem_id="sv-step", scale=0),
            reset=gr.Button(say("controls.reset"), elem_id="sv-reset", scale=0),
            # shown by the view (transport.js) while a recording is on screen
            live=gr.Button(say("controls.live"), elem_id="sv-live", scale=0),
            alone=gr.Button(say("controls.alone"), elem_id="sv-alone", elem_classes="sv-apart", scale=0),
        )


def live_view(services: Services) -> gr.HTML:
    """Put the one live view on the page, with what its script asks the server for."""
    functions: list[Callable[..., Any]] = [*services.lookups.functions(), *services.files.functions()]
    return gr.HTML(
        "",
        html_template=page.template(),
        js_on_load=page.script(
            lossy=[name for name, rule in RULES.items() if not rule.lossless],
            speeds={spoken(name): rate for name, rate in SPEEDS.items() if rate < float("inf")},
            settings=links.RUN_SETTINGS,
        ),
        apply_default_css=False,
        elem_id="sv-view",
        padding=False,
        server_functions=functions,
    )
