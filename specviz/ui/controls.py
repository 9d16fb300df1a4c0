"""Widgets made from what the parts declare: a `Knob` becomes a slider, a table becomes a menu.

A new setting, strategy or rule shows up here by itself. The ranges drawn are narrower than those allowed where a slider
over the whole range could not be aimed with; the check is always the knob's own, in `settings`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradio as gr

from specviz.core.prompts import FIRST, OWN_PROMPT, PRESETS
from specviz.core.settings import KNOBS, Knob
from specviz.core.words import say, spoken
from specviz.drafting import LENGTHS, STRATEGIES, Length, Strategy
from specviz.models.catalogue import DEFAULT_PAIR, MODELS, PAIRS
from specviz.models.standing import standing
from specviz.recordings.gallery import FIRST_SETTINGS
from specviz.sessions.control_values import DRAWN
from specviz.sessions.drive import SPEEDS
from specviz.sessions.pair_choice import DEFAULT_TARGET, OWN_PAIR
from specviz.verification import RULES, Rule

FULL_SPEED = "full speed"
Choices = list[tuple[str, str]]


def slider(name: str, knob: Knob, value: float) -> gr.Slider:
    """One knob. Its help shows on hover and focus (style.css)."""
    return gr.Slider(
        minimum=knob.low,
        maximum=DRAWN.get(name, knob.high),
        value=value,
        step=knob.step,
        label=spoken(knob.label),
        info=spoken(knob.help),
        elem_id=_id(name),
        elem_classes="sv-knob",
        min_width=120,
        buttons=[],
    )


def setting(name: str) -> gr.Slider:
    """A slider for a field of RunSettings."""
    return slider(name, KNOBS[name], getattr(FIRST_SETTINGS, name))


def named(names: Iterable[str]) -> Choices:
    """Entries of a menu: what is shown in the language of the page, and the name that it stands for in all of them."""
    return [(spoken(name), str(name)) for name in names]


def menu(name: str, choices: Choices, value: str, info: str, **more: Any) -> gr.Dropdown:
    """One table. `info` shows on hover and focus."""
    return gr.Dropdown(
        choices,
        value=str(value),
        label=say(f"controls.{name}"),
        info=info,
        elem_id=_id(name),
        elem_classes="sv-knob",
        min_width=120,
        **more,
    )


def preset_menu() -> gr.Dropdown:
    """Prompts to start from."""
    return menu("preset", named([*PRESETS, OWN_PROMPT]), FIRST, say("controls.preset_info"))


def prompt_box() -> gr.Textbox:
    """What the models continue or answer."""
    return gr.Textbox(PRESETS[FIRST].prompt, label=say("controls.prompt"), lines=3, max_lines=6, elem_id=_id("prompt"))


def strategy_menu() -> gr.Dropdown:
    """The strategies, with each one's help."""
    chosen = FIRST_SETTINGS.strategy
    return menu("strategy", named(STRATEGIES), chosen, spoken(STRATEGIES[chosen].help))


def length_menu() -> gr.Dropdown:
    """What decides how far each step drafts."""
    chosen = FIRST_SETTINGS.draft_length
    return menu("draft_length", named(LENGTHS), chosen, spoken(LENGTHS[chosen].help))


def own_knobs(entry: Strategy | Length | Rule) -> dict[str, gr.Slider]:
    """Sliders for the knobs that an entry of a menu declares."""
    return {name: slider(name, knob, knob.default) for name, knob in entry.knobs.items()}


def rule_menu() -> gr.Dropdown:
    """The rules; one that is not lossless says so in its name."""
    choices = [(name if rule.lossless else say("controls.rule_lossy", name=name), name) for name, rule in RULES.items()]
    return menu("rule", choices, FIRST_SETTINGS.rule, spoken(RULES[FIRST_SETTINGS.rule].help))


def speed_menu() -> gr.Dropdown:
    """How fast Play goes."""
    return menu("speed", named(SPEEDS), FULL_SPEED, say("controls.speed_info"))


def seed_box() -> gr.Textbox:
    """Blank means a fresh seed for each run; the one used is shown with the run.

    A text, because a browser's numbers are exact up to 2^53 only, and another seed than the one typed is another run.
    """
    knob = KNOBS["seed"]
    info = say("controls.seed_info", help=spoken(knob.help))
    return gr.Textbox(
        str(FIRST_SETTINGS.seed), label=spoken(knob.label), info=info, max_lines=1, elem_id=_id("seed"),
        elem_classes="sv-knob", min_width=120,
    )  # fmt: skip


def chat_box() -> gr.Checkbox:
    """Chat template on or off."""
    return gr.Checkbox(
        FIRST_SETTINGS.chat,
        label=say("controls.chat"),
        info=say("controls.chat_info"),
        elem_id=_id("chat"),
        elem_classes="sv-knob",
    )


def stop_box() -> gr.Textbox:
    """Stop strings."""
    label, info = say("controls.stop"), say("controls.stop_info")
    return gr.Textbox("", label=label, info=info, lines=2, elem_id=_id("stop"), elem_classes="sv-knob")


def pair_menu() -> gr.Dropdown:
    """The catalogue's pairs, each with what is here and what would be downloaded; choosing one loads it."""
    choices = [(f"{name} · {standing(pair).short}", name) for name, pair in PAIRS.items()]
    info = standing(PAIRS[DEFAULT_PAIR]).sentence
    return menu("pair", [*choices, *named([OWN_PAIR])], DEFAULT_PAIR, info)


def target_menu() -> gr.Dropdown:
    """Catalogue, hub id or folder."""
    choices = [(say("controls.target_default"), DEFAULT_TARGET), *named(MODELS)]
    return menu("target", choices, DEFAULT_TARGET, say("controls.target_info"), allow_custom_value=True)


def draft_menu() -> gr.Dropdown:
    """Catalogue, hub id or folder; none is fine for prompt lookup."""
    choices = [(say("controls.draft_own"), ""), *named(MODELS)]
    return menu("draft", choices, "", say("controls.draft_info"), allow_custom_value=True)


def dtype_menu() -> gr.Dropdown:
    """Number format."""
    return menu("dtype", named(["auto", "float32", "bfloat16", "float16"]), "auto", say("controls.dtype_info"))


def _id(name: str) -> str:
    return f"sv-{name.replace('_', '-')}"
