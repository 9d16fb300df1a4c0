"""All choices of one distillation, checked once, frozen, and written beside what was made with them.

Knows nothing of models. Example: ``Recipe(target="default", out=Path("drafts")).with_scale("gpu")`` asks for a hundred
times the data in batches that fill a large GPU.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from specviz.core.settings import Knob, SettingsError, SpecvizError

KNOBS: Mapping[str, Knob] = MappingProxyType(
    {
        "answers": Knob("answers", 5000, 2, 1e8, 1, "How many answers the target writes.", whole=True),
        "new_tokens": Knob("new-tokens", 160, 1, 8192, 1, "The longest answer, in tokens.", whole=True),
        "top": Knob("top", 32, 1, 128, 1, "Likeliest next tokens kept of the target at each position.", whole=True),
        "rows": Knob("rows", 48, 1, 65536, 1, "Answers the target writes side by side.", whole=True),
        "shard": Knob("shard", 192, 1, 1e6, 1, "Answers in a file; what an interruption can lose.", whole=True),
        "held_out": Knob("held-out", 0.05, 0, 0.5, 0.01, "Share of the topics kept apart for measuring."),
        "epochs": Knob("epochs", 10, 0.001, 1e4, 1, "How often training reads all answers."),
        "batch_tokens": Knob("batch-tokens", 2048, 16, 1e8, 1, "Tokens in a training batch.", whole=True),
        "learning_rate": Knob("learning-rate", 2e-3, 1e-7, 1, 1e-3, "Of AdamW, after the warm-up."),
        "random_ids": Knob("random-ids", 1024, 0, 1e7, 1, "Ids in the loss beside those the target names.", whole=True),
        "overlap_share": Knob("overlap-share", 0.25, 0, 1, 0.05, "Last share of training, on the overlap itself."),
        "budget_minutes": Knob("budget-minutes", 0, 0, 1e6, 1, "Train no longer than this; 0 is no bound."),
        "seed": Knob("seed", 1, 0, 2**31 - 1, 1, "Same seed, same prompts, answers and batches.", whole=True),
    }
)

SCALES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "cpu": {},
        "gpu": {
            "answers": 500_000,
            "rows": 4096,
            "shard": 16_384,
            "epochs": 2.0,
            "batch_tokens": 131_072,
            "learning_rate": 4e-3,
            "random_ids": 8192,
        },
    }
)
"""Ready-made choices. "gpu" is a hundred times the data of "cpu" for about the same wait on a large GPU."""

OF_OUTPUTS = ("target", "answers", "new_tokens", "top", "rows", "shard", "held_out", "seed", "temperatures")
OF_TRAINING = (
    "student",
    "start",
    "outputs",
    "epochs",
    "batch_tokens",
    "learning_rate",
    "random_ids",
    "overlap_share",
    "seed",
)
"""What may not change between two calls that go on with the same work."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """`target`: catalogue name, hub id or folder. `out`: folder that everything is made in. `start`: folder of a draft
    to go on from. `prompts`: file of prompts, one a line, instead of our own. `outputs`: answers made elsewhere.

    Raises SettingsError for any value out of range.
    """

    target: str
    out: Path
    student: str = "small"
    start: str | None = None
    prompts: Path | None = None
    outputs: Path | None = None
    temperatures: tuple[float, ...] = (0.0, 0.5, 0.8, 1.0)
    licence: str = ""
    base_model: str = ""
    dtype: str = "auto"
    device: str = "auto"
    answers: int = 5000
    new_tokens: int = 160
    top: int = 32
    rows: int = 48
    shard: int = 192
    held_out: float = 0.05
    epochs: float = 10
    batch_tokens: int = 2048
    learning_rate: float = 2e-3
    random_ids: int = 1024
    overlap_share: float = 0.25
    budget_minutes: float = 0
    seed: int = 1

    def __post_init__(self) -> None:
        for name, knob in KNOBS.items():
            object.__setattr__(self, name, knob.check(getattr(self, name), f"--{knob.label}"))
        if not self.temperatures or not all(0 <= t <= 100 for t in self.temperatures):
            raise SettingsError("Give at least one temperature from 0 to 100.")

    def with_scale(self, scale: str) -> Recipe:
        """The same with the ready-made choices of `scale`, a key of `SCALES`."""
        if scale not in SCALES:
            raise SettingsError(f"There is no scale {scale!r}; choose one of: {', '.join(SCALES)}.")
        return dataclasses.replace(self, **SCALES[scale])

    @property
    def work(self) -> Path:
        """Where this student's training lives."""
        return self.out / self.student

    def claim(self, folder: Path, names: tuple[str, ...]) -> None:
        """Write the choices `names` into `folder`, or raise SettingsError if it was begun with others."""
        ours = {name: _plain(getattr(self, name)) for name in names}
        file = folder / "recipe.json"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if file.exists():
                theirs = json.loads(file.read_text("utf-8"))
                for name in names:
                    if theirs.get(name) != ours[name]:
                        raise SettingsError(
                            f"{folder} was begun with {name.replace('_', '-')} {theirs.get(name)}, and now it is "
                            f"{ours[name]}; use the same again or choose another folder."
                        )
            else:
                write(file, json.dumps(ours, indent=1).encode())
        except (OSError, ValueError, AttributeError) as error:
            if isinstance(error, SpecvizError):
                raise
            raise SpecvizError(f"{folder} cannot be written or read there; choose another --out.") from error


def write(file: Path, data: bytes) -> None:
    """Write a whole file or none of it: a reader never sees half of one. Raises SpecvizError where there is no room."""
    partial = file.with_name(file.name + ".partial")
    try:
        partial.write_bytes(data)
        os.replace(partial, file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise SpecvizError(
            f"{file} could not be written ({error.strerror}); free some disk space and run the same command again; "
            "finished files are kept."
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
