"""What commands share: the shape of a command's file, the options that name models, and loading the pair they name."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Protocol


class Command(Protocol):
    """A file of this folder. Nothing in it imports torch before `call` needs a model."""

    HELP: str
    """One line for `specviz --help`."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of this command."""

    def call(self, args: argparse.Namespace) -> None:
        """Do the work. Raises SpecvizError with one sentence."""


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Options that name a target and a draft, and say how to load them."""
    parser.add_argument(
        "--target", default="default", help="name of a pair or a model of the catalogue, hub id or folder"
    )
    parser.add_argument("--draft", default=None, help="catalogue name, hub id or folder")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")


def pair_of(args: argparse.Namespace) -> Any:
    """The pair that the options name, loaded. Progress and notes go to stderr. Raises SpecvizError."""
    from specviz.models.loading import load_pair  # noqa: PLC0415  # torch is loaded only when a model is needed

    def progress(fraction: float | None, sentence: str) -> None:
        print(sentence if fraction is None else f"{sentence} {fraction:.0%}", file=sys.stderr)

    pair = load_pair(args.target, args.draft, dtype=args.dtype, device=args.device, progress=progress)
    for note in pair.notes:  # such as another pair than the one asked for
        print(f"note: {note}", file=sys.stderr)
    return pair
