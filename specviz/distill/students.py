"""What can be taught to draft. To add a kind of student: one file with a class like `llama.LlamaStudent`, one line here.

A student knows its own loss, how to be measured and how to be written; reading answers, the order of batches, the
optimiser, stopping and going on again are the same for all (`train`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from specviz.core.settings import SettingsError
from specviz.distill.batches import Batch
from specviz.distill.feature import FeatureStudent
from specviz.distill.llama import LlamaStudent, Shape

if TYPE_CHECKING:
    from specviz.distill.recipe import Recipe
    from specviz.models.pair import LoadedModel


class Student(Protocol):
    """A thing with weights that drafts for one target."""

    @property
    def module(self) -> torch.nn.Module:
        """All that is trained; its parameters go to the optimiser and its state into checkpoints."""

    def begin(self, batches: Iterable[Batch]) -> None:
        """Look at what will be taught, once, before the first step."""

    def loss(self, batch: Batch, generator: torch.Generator, overlap: bool) -> Tensor:
        """A number to be made smaller. `generator`: for all chance in it. `overlap`: in the last share of training,
        where what counts is the overlap with the target and no longer its whole distribution."""

    def measure(self, batch: Batch) -> dict[str, Tensor]:
        """Of each answer position [positions]: "agreement" (1 where the likeliest token is the target's), "overlap" at
        temperature 1 and "overlap_at_own", at the temperature of the answer (where that is 0: the agreement)."""

    def export(self, folder: Path) -> dict[str, Any]:
        """Write what `specviz` loads into the existing `folder`; return plain facts for the model card."""

    def reader(self, folder: Path) -> Callable[[Sequence[int]], Any]:
        """What drafting calls for one token after `ids`, from the exported `folder`: for its time."""

    def usage(self, target: str, folder: Path) -> str:
        """What to write to draft with the exported `folder` for the target asked for as `target`."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A line of `STUDENTS`: what it is, and how one is made for a target."""

    help: str
    build: Callable[[LoadedModel, Recipe], Student]


def _llama(help: str, shape: Shape) -> Kind:
    return Kind(help, lambda target, recipe: LlamaStudent.build(target, shape, recipe))


STUDENTS: dict[str, Kind] = {
    "tiny": _llama("two layers, hidden size 128, the first half of the ids", Shape(128, 2, 2, 1, 320, vocabulary=0.5)),
    "small": _llama("two layers, hidden size 192, all ids", Shape(192, 2, 3, 1, 640)),
    "small-half": _llama("two layers, hidden size 192, the first half of the ids", Shape(192, 2, 3, 1, 640, 0.5)),
    "medium": _llama("four layers, hidden size 320, all ids", Shape(320, 4, 5, 5, 1024)),
    "head": Kind(
        "a feature head over the target's hidden states, a quarter of the ids; --learning-rate 6e-4 is enough",
        lambda target, recipe: FeatureStudent.build(target, 0.25, recipe),
    ),
}


def kind(name: str) -> Kind:
    """The line of `STUDENTS`, or SettingsError naming all."""
    if name not in STUDENTS:
        raise SettingsError(f"There is no student {name!r}; choose one of: {', '.join(STUDENTS)}.")
    return STUDENTS[name]
