"""The gallery: recorded real runs and comparisons that come with the code, and how each of them was made.

A recording is a trace file in `assets/traces`, a recorded comparison a file in `assets/comparisons`; both are named as
their key here. `python -m specviz record` makes them all anew (`studio`). To add one: one entry, then that command.

Example: ``RECORDINGS["copy"].settings(0).strategy`` is "prompt lookup".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from specviz.core.assets import ASSETS
from specviz.core.prompts import FIRST, PRESETS
from specviz.core.settings import RunSettings
from specviz.core.words import Sentence, sentence
from specviz.experiments.compared import Compared
from specviz.metrics.summary import summary
from specviz.traces.trace import Trace, TraceError

TRACES = ASSETS / "traces"
COMPARED = ASSETS / "comparisons"
SLOW = sentence("recordings.slow")
"""Stands before the title of a recording that is slower than the target alone."""

FIRST_SETTINGS = RunSettings(strategy="4-bit copy", k=4, temperature=0.7, seed=1, max_new_tokens=96, chat=True)
"""Where the controls start: chosen by measurement, so that a first live run is faster than the target alone on every
example (`python -m tests.bench_first_play`)."""
SAMPLED = replace(FIRST_SETTINGS, strategy="sampling")
"""Of the recording on screen first: a small draft model is rejected often enough to show what a rejection is."""
GREEDY = RunSettings(strategy="greedy", k=4, temperature=0, max_new_tokens=96, chat=True)
REFRAIN = (
    "The owl sits in the tower and counts the stars. The fox sleeps under the bridge until noon. "
    "The hare waits by the gate with a letter. "
)


@dataclass(frozen=True, slots=True)
class Recording:
    """How a recording is made. `line`: what there is to see. `changes`: by number of step, what is set from there on.

    `start`: number of the step that it opens at, from 1; None: the first telling one (`metrics.telling_step`).
    """

    title: str
    line: str
    prompt: str
    first: RunSettings
    changes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    start: int | None = None

    def settings(self, step: int) -> RunSettings:
        """The settings that step number `step` (from 0) is made under."""
        found = self.first
        for at, change in sorted(self.changes.items()):
            if step >= at:
                found = replace(found, **change)
        return found


def _words(name: str) -> tuple[Sentence, Sentence]:
    """Title and line of a recording, in every language."""
    return sentence(f"recordings.{name}_title"), sentence(f"recordings.{name}_line")


RECORDINGS: dict[str, Recording] = {
    "explanation": Recording(
        *_words("explanation"),
        PRESETS[FIRST].prompt,
        SAMPLED,
    ),
    "4-bit": Recording(
        *_words("4-bit"),
        PRESETS["Code"].prompt,
        replace(GREEDY, strategy="4-bit copy", k=6),
    ),
    "cost-aware": Recording(
        *_words("cost-aware"),
        PRESETS["Code"].prompt,
        replace(GREEDY, strategy="n-gram table", k=8, draft_length="cost-aware"),
    ),
    "story": Recording(
        *_words("story"),
        PRESETS["Story"].prompt,
        GREEDY,
    ),
    "code": Recording(
        *_words("code"),
        PRESETS["Code"].prompt,
        replace(GREEDY, k=6),
    ),
    "copy": Recording(
        *_words("copy"),
        3 * REFRAIN + "The owl sits",
        replace(GREEDY, strategy="prompt lookup", k=8, chat=False),
        start=1,
    ),
    "arithmetic": Recording(
        *_words("arithmetic"),
        PRESETS["Arithmetic"].prompt,
        GREEDY,
    ),
    "list": Recording(
        *_words("list"),
        PRESETS["List"].prompt,
        GREEDY,
    ),
    "beams": Recording(
        *_words("beams"),
        PRESETS[FIRST].prompt,
        replace(GREEDY, strategy="beam search", options={"width": 3}, max_new_tokens=64),
    ),
    "sampled-tree": Recording(
        *_words("sampled-tree"),
        PRESETS["Story"].prompt,
        replace(SAMPLED, strategy="sampled tree", options={"siblings": 2}, max_new_tokens=64),
    ),
    "temperature-1": Recording(
        *_words("temperature-1"),
        PRESETS["Story"].prompt,
        replace(SAMPLED, temperature=1.0),
    ),
    "k-midway": Recording(
        *_words("k-midway"),
        PRESETS["Summary"].prompt,
        replace(GREEDY, k=2),
        {9: {"k": 8}, 19: {"k": 4}},
    ),
}
FIRST_RECORDING = "explanation"


@dataclass(frozen=True, slots=True)
class RecordedComparison:
    """How a recorded comparison is made: the target alone and each of `strategies` on one prompt, in turns."""

    title: str
    line: str
    prompt: str
    settings: RunSettings
    strategies: tuple[str, ...]


COMPARISONS: dict[str, RecordedComparison] = {
    "race": RecordedComparison(
        *_words("race"),
        PRESETS["Arithmetic"].prompt,
        replace(GREEDY, strategy="sampling", max_new_tokens=64),
        ("sampling", "prompt lookup", "4-bit copy"),
    ),
}


def read(name: str, folder: Path = TRACES) -> Trace:
    """The recording of that name. Raises TraceError where there is none or its file cannot be read."""
    if name not in RECORDINGS:
        known = ", ".join(RECORDINGS)
        raise TraceError(sentence("recordings.unknown", name=repr(str(name)[:60]), known=known))
    try:
        return Trace.from_json((folder / f"{name}.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(sentence("recordings.missing", name=name)) from error


def read_comparison(name: str, folder: Path = COMPARED) -> Compared:
    """The recorded comparison of that name. Raises TraceError where there is none or its file cannot be read."""
    if name not in COMPARISONS:
        known = ", ".join(COMPARISONS)
        raise TraceError(sentence("recordings.unknown_comparison", name=repr(str(name)[:60]), known=known))
    try:
        return Compared.from_json((folder / f"{name}.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(sentence("recordings.missing_comparison", name=name)) from error


def opening(controls: RunSettings) -> str:
    """What to say beside the first recording where the controls stand at another strategy, else nothing."""
    shown = RECORDINGS[FIRST_RECORDING].first.strategy
    if shown == controls.strategy:
        return ""
    return sentence("recordings.opening", shown=shown, controls=controls.strategy)


def present(folder: Path = TRACES) -> list[str]:
    """Names of the recordings that are there."""
    return [name for name in RECORDINGS if (folder / f"{name}.json").is_file()]


def comparisons_present(folder: Path = COMPARED) -> list[str]:
    """Names of the recorded comparisons that are there."""
    return [name for name in COMPARISONS if (folder / f"{name}.json").is_file()]


@cache
def recorded_speed_up(name: str) -> float | None:
    """Tokens/s of a recording ÷ tokens/s of the target alone beside it; None where that was not measured.

    Raises TraceError as `read` does.
    """
    found: float | None = summary(read(name))["speed_up"]
    return found


def slow(name: str) -> str:
    """`SLOW` for a recording that is slower than the target alone, else nothing: its own figures say which it is."""
    speed_up = recorded_speed_up(name)
    return SLOW if speed_up is not None and speed_up < 1 else ""
