"""``python -m specviz models``: the models and pairs known by name, and whether they are available here."""

from __future__ import annotations

import argparse

HELP = "list the models and pairs known by name"


def add_options(parser: argparse.ArgumentParser) -> None:
    """This command has no options."""


def call(args: argparse.Namespace) -> None:
    """Print the catalogue. Asks no network."""
    from specviz.models.catalogue import MODELS, PAIRS  # noqa: PLC0415
    from specviz.models.standing import standing  # noqa: PLC0415  # imports torch

    print("Pairs (--target takes a pair's name; --target and --draft the models'; default is the first pair)\n")
    for pair in PAIRS.values():
        print(f"{pair.name}\n    {standing(pair).sentence}")
        if pair.note:
            print(f"    {pair.note}")
    print("\nModels\n")
    for source in MODELS.values():
        gated = ", gated" if source.gated else ""
        print(f"{source.name:28} {source.parameters / 1e6:6.0f} M parameters  {source.licence}{gated}  {source.where}")
    print("\nAny other: a hub id (owner/name) or a folder with config.json, safetensors and tokenizer.")
