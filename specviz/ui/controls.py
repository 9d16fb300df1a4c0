"""Widgets made from what the parts declare: a `Knob` becomes a slider, a table becomes a menu.

A new setting, strategy or rule shows up here by itself. The ranges drawn are narrower than those allowed where a slider
over the whole range could not be aimed with; the check is always the knob's own, in `settings`.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz.core.prompts import FIRST, OWN_PROMPT, PRESETS
from specviz.core.settings import KNOBS, Knob
from specviz.drafting import LENGTHS, STRATEGIES, Length, Strategy
from specviz.models.catalogue import DEFAULT_PAIR, MODELS, PAIRS
from specviz.models.standing import standing
from specviz.recordings.gallery import FIRST_SETTINGS
from specviz.sessions.control_values import DRAWN
from specviz.sessions.drive import SPEEDS
from specviz.sessions.pair_choice import DEFAULT_TARGET, OWN_PAIR
from specviz.verification import RULES, Rule

FULL_SPEED = "full speed"
OWN_DRAFT = "(the pair's own, or none)"
Choices = list[str] | list[tuple[str, str]]


def slider(name: str, knob: Knob, value: float) -> gr.Slider:
    """One knob. Its help shows on hover and focus (style.css)."""
    return gr.Slider(
        minimum=knob.low,
        maximum=DRAWN.get(name, knob.high),
        value=value,
        step=knob.step,
        label=knob.label,
        info=knob.help,
        elem_id=_id(name),
        elem_classes="sv-knob",
        min_width=120,
        buttons=[],
    )


def setting(name: str) -> gr.Slider:
    """A slider for a field of RunSettings."""
    return slider(name, KNOBS[name], getattr(FIRST_SETTINGS, name))


def menu(name: str, choices: Choices, value: str, label: str, info: str, **more: Any) -> gr.Dropdown:
    """One table. `info` shows on hover and focus."""
    return gr.Dropdown(
        choices, value=value, label=label, info=info, elem_id=_id(name), elem_classes="sv-knob", min_width=120, **more
    )


def preset_menu() -> gr.Dropdown:
    """Prompts to start from."""
    return menu("preset", [*PRESETS, OWN_PROMPT], FIRST, "Example", "Fills the prompt below; edit it as you like.")


def prompt_box() -> gr.Textbox:
    """What the models continue or answer."""
    return gr.Textbox(PRESETS[FIRST].prompt, label="Prompt", lines=3, max_lines=6, elem_id=_id("prompt"))


def strategy_menu() -> gr.Dropdown:
    """The strategies, with each one's help."""
    return menu(
        "strategy",
        list(STRATEGIES),
        FIRST_SETTINGS.strategy,
        "Drafting strategy",
        STRATEGIES[FIRST_SETTINGS.strategy].help,
    )


def length_menu() -> gr.Dropdown:
    """What decides how far each step drafts."""
    chosen = FIRST_SETTINGS.draft_length
    return menu("draft_length", list(LENGTHS), chosen, "How far to draft", LENGTHS[chosen].help)


def own_knobs(entry: Strategy | Length | Rule) -> dict[str, gr.Slider]:
    """Sliders for the knobs that an entry of a menu declares."""
    return {name: slider(name, knob, knob.default) for name, knob in entry.knobs.items()}


def rule_menu() -> gr.Dropdown:
    """The rules; one that is not lossless says so in its name."""
    choices = [(name if rule.lossless else f"{name} (changes the output)", name) for name, rule in RULES.items()]
    return menu("rule", choices, FIRST_SETTINGS.rule, "Verification rule", RULES[FIRST_SETTINGS.rule].help)


def speed_menu() -> gr.Dropdown:
    """How fast Play goes."""
    info = "Below full speed Play waits between steps; the waiting is in no timing."
    return menu("speed", list(SPEEDS), FULL_SPEED, "Speed", info)


def seed_box() -> gr.Textbox:
    """Blank means a fresh seed for each run; the one used is shown with the run.

    A text, because a browser's numbers are exact up to 2^53 only, and another seed than the one typed is another run.
    """
    knob = KNOBS["seed"]
    info = f"{knob.help} Blank: a fresh one each run. The one used stands beside the models' names."
    return gr.Textbox(
        str(FIRST_SETTINGS.seed), label=knob.label, info=info, max_lines=1, elem_id=_id("seed"),
        elem_classes="sv-knob", min_width=120,
    )  # fmt: skip


def chat_box() -> gr.Checkbox:
    """Chat template on or off."""
    info = "On: the prompt is a user's message and the model answers. Off: the model continues the prompt as it is."
    return gr.Checkbox(
        FIRST_SETTINGS.chat, label="chat template", info=info, elem_id=_id("chat"), elem_classes="sv-knob"
    )


def stop_box() -> gr.Textbox:
    """Stop strings."""
    info = "One a line; the text is cut before the first that appears. Write \\n for a line break."
    return gr.Textbox("", label="stop strings", info=info, lines=2, elem_id=_id("stop"), elem_classes="sv-knob")


def pair_menu() -> gr.Dropdown:
    """The catalogue's pairs, each with what is here and what would be downloaded; choosing one loads it."""
    choices = [(f"{name} · {standing(pair).short}", name) for name, pair in PAIRS.items()]
    info = standing(PAIRS[DEFAULT_PAIR]).sentence
    return menu("pair", [*choices, (OWN_PAIR, OWN_PAIR)], DEFAULT_PAIR, "Pair", info)


def target_menu() -> gr.Dropdown:
    """Catalogue, hub id or folder."""
    info = "From the list, a hub id (owner/name), or a folder with a model in it."
    return menu("target", [DEFAULT_TARGET, *MODELS], DEFAULT_TARGET, "Target model", info, allow_custom_value=True)


def draft_menu() -> gr.Dropdown:
    """Catalogue, hub id or folder; none is fine for prompt lookup."""
    choices = [(OWN_DRAFT, ""), *((name, name) for name in MODELS)]
    info = "Must share the target's vocabulary. None is fine: prompt lookup drafts without a model."
    return menu("draft", choices, "", "Draft model", info, allow_custom_value=True)


def dtype_menu() -> gr.Dropdown:
    """Number format."""
    info = "auto is what is fast and right here. In float32 identical output at temperature 0 is a promise."
    return menu("dtype", ["auto", "float32", "bfloat16", "float16"], "auto", "Number format", info)


def _id(name: str) -> str:
    return f"sv-{name.replace('_', '-')}"
