"""Prompts to start from, each showing another face of speculation. To add one: one line; its name may be plain text.

What to expect with the default pair is measured by `python -m specviz bench`, not claimed here.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.core.words import sentence


@dataclass(frozen=True, slots=True)
class Preset:
    """A prompt, and whether it goes through the model's chat template."""

    prompt: str
    chat: bool = True


def _named(name: str) -> str:
    return sentence(f"controls.preset_{name}")


PRESETS: dict[str, Preset] = {
    _named("explanation"): Preset("What is photosynthesis?"),
    _named("story"): Preset("Write a short story about a lighthouse keeper who finds a message in a bottle."),
    _named("code"): Preset("Write a Python function that returns the first n Fibonacci numbers, and explain it."),
    _named("summary"): Preset(
        "Summarise this text in two sentences: Honeybees tell each other where to find flowers by dancing. "
        "A bee that has found a good patch of flowers returns to the hive and runs in a figure of eight. "
        "The direction of the dance shows the direction of the flowers, and the length of the dance shows the distance. "
        "Other bees follow the dancer, read the dance, and fly out to the flowers."
    ),
    _named("arithmetic"): Preset("What is 17 + 25? Then add 10 to the result, and explain each step."),
    _named("list"): Preset("List ten fruits, one on each line, with the colour of each."),
    _named("plain_text"): Preset("The three laws of motion are the following. First,", chat=False),
}
FIRST = "Explanation"
OWN_PROMPT = _named("own")
