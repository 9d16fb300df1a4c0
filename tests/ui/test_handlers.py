"""What buttons and controls do, called as Gradio calls them, without a browser."""

import json
from types import SimpleNamespace

import gradio as gr
import pytest

from specviz.core.prompts import PRESETS
from specviz.models.catalogue import DEFAULT_PAIR
from specviz.sessions.pair_choice import DEFAULT_TARGET
from specviz.sessions.services import Services
from specviz.ui.handlers import Handlers
from specviz.ui.layout import sidebar
from specviz.ui.panel import Panel
from tests.sessions.handlers import VALUES, load, told

REQUEST = SimpleNamespace(session_hash="a tab")


@pytest.fixture
def handlers():
    services = Services(load)
    with gr.Blocks():
        side = sidebar()
    return Handlers(services, Panel(side.values | side.options, side.groups, side.pair, services.instead))


def raw(handlers, **changes):
    """Values of all controls in their order, as the browser sends them."""
    usual = {name: widget.value for name, widget in zip(handlers.panel.names, handlers.panel.widgets, strict=True)}
    return list((usual | VALUES | {"speed": "full speed"} | changes).values())


def test_step_writes_the_controls_down_and_makes_one_step(handlers):
    messages = told(handlers.step(REQUEST, *raw(handlers, k=2)))
    visitor = handlers.visitor(REQUEST)
    assert messages[-1]["state"] == "paused" and len(visitor.run.steps) == 1
    assert visitor.controls.values["k"] == 2 and visitor.run.steps[0].settings.k == 2


def test_play_goes_on_until_pause_and_reset_empties_the_page(handlers):
    drive = handlers.play(REQUEST, *raw(handlers, speed="4 steps/s", max_new_tokens=200))
    first = next(message for message in map(json.loads, drive) if message.get("s"))
    handlers.pause(REQUEST)
    last = told(drive)[-1]
    visitor = handlers.visitor(REQUEST)
    assert last["state"] == "paused" and visitor.run is not None
    clear = json.loads(handlers.reset(REQUEST))
    assert clear["m"] == "clear" and clear["seq"] > last["seq"] > first["seq"] and visitor.run is None


def test_a_control_is_written_down_and_hints_only_where_it_matters(handlers):
    told(handlers.step(REQUEST, *raw(handlers)))
    assert handlers.setter("k")(7, REQUEST) is None
    assert handlers.visitor(REQUEST).controls.values["k"] == 7
    assert "start a new run" in json.loads(handlers.setter("prompt")("another", REQUEST))["hint"]


def test_an_example_fills_prompt_and_template_once(handlers):
    name, preset = next(iter(PRESETS.items()))
    assert handlers.fill(name, "", REQUEST)[:2] == (preset.prompt, preset.chat)
    assert handlers.visitor(REQUEST).controls.prompt == preset.prompt
    same = handlers.fill(name, preset.prompt, REQUEST)
    assert same == (gr.update(),) * 3 == handlers.fill("no example", "", REQUEST)


def test_the_menu_of_pairs_loads_what_it_names_and_ignores_what_it_followed(handlers):
    stood = raw(handlers, target=DEFAULT_TARGET, draft="")
    assert list(handlers.choose_pair(DEFAULT_PAIR, REQUEST, *stood)) == [[gr.skip()] * 4]
    updates = list(handlers.choose_pair("GPT-2 XL ← DistilGPT2", REQUEST, *stood))
    assert updates[0][:2] == ["gpt2-xl", "distilgpt2"]
    assert handlers.visitor(REQUEST).controls.models[:2] == ("gpt2-xl", "distilgpt2")
