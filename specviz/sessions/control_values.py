"""Where a visitor's controls stand: written down as they come, checked only when a step needs them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specviz.core.settings import KNOBS, RunSettings, number_of
from specviz.decoding.knobs import own_knobs
from specviz.sessions.stops import read_stops

DRAWN = {"temperature": 2.0, "top_k": 200, "repetition_penalty": 2.0, "max_new_tokens": 512}
"""Where sliders end that could not be aimed with over the whole range of their knob."""


@dataclass(slots=True)
class ControlValues:
    """`values` by the names of `RunSettings`, and "prompt", "target", "draft", "dtype", "speed"."""

    values: dict[str, Any] = field(default_factory=dict)
    drawn_seed: int = field(default_factory=lambda: secrets.randbelow(2**31))
    """The seed of the next run where the visitor's is blank."""

    def take(self, raw: Mapping[str, Any]) -> None:
        """Write down where controls stand. A number box that was emptied changes nothing, except for the seed's."""
        known = own_knobs()
        for name, value in raw.items():
            if value is None and name != "seed" and (name in KNOBS or name in known):
                continue
            if name in known:
                self.values["options"] = {**self.values.get("options", {}), name: value}
            elif name == "stop":
                self.values["stop"] = read_stops(value)
            elif name == "seed":
                text = "" if value is None else str(value).strip()
                self.values["seed"] = number_of(text) if text else None
            else:
                self.values[name] = value

    def settings(self) -> RunSettings:
        """The controls as they stand now. Raises SettingsError."""
        names = RunSettings.__dataclass_fields__
        values = {name: value for name, value in self.values.items() if name in names}
        if "seed" in values and values["seed"] is None:  # a blank seed is a fresh one for each run
            values["seed"] = self.drawn_seed
        return RunSettings(**values)

    def draw_seed(self) -> None:
        """Choose the seed of the run after the one that has just begun."""
        self.drawn_seed = secrets.randbelow(2**31)

    @property
    def prompt(self) -> str:
        """What the models continue or answer; empty where nothing was typed."""
        return str(self.values.get("prompt") or "")

    @property
    def models(self) -> tuple[str, str, str]:
        """Target, draft and dtype as typed: a key of `model_cache`."""
        target, draft, dtype = (str(self.values.get(name) or "").strip() for name in ("target", "draft", "dtype"))
        return target, draft, dtype

    @property
    def origin(self) -> tuple[Any, ...]:
        """What a run is made from and cannot change midway; a run with another origin is begun anew."""
        return (*(self.values.get(name) for name in ("prompt", "chat", "seed")), *self.models)
