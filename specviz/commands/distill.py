"""``python -m specviz distill``: options → recipe → stages."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from specviz.core.settings import SettingsError, SpecvizError, number_of
from specviz.distill.recipe import KNOBS, SCALES, Recipe

HELP = "make a draft for a target from its own answers; goes on where it stopped"
STAGE_NAMES = ("prompts", "outputs", "train", "evaluate", "export")


def add_options(parser: argparse.ArgumentParser) -> None:
    """All options of the recipe. Numbers are read as they come; the recipe checks them."""
    parser.add_argument("--target", default="default", help="catalogue name, hub id or folder of the target")
    parser.add_argument("--out", required=True, type=Path, help="folder for everything that is made")
    parser.add_argument(
        "--student", default="small", help="what to train, such as tiny or small; a wrong name lists all"
    )
    parser.add_argument("--stage", default=None, help=f"only this one: {', '.join(STAGE_NAMES)}")
    parser.add_argument("--scale", default="cpu", help=f"ready-made choices: {', '.join(SCALES)}")
    parser.add_argument("--prompts", type=Path, help="a file with a prompt on each line, instead of our own")
    parser.add_argument("--outputs", type=Path, help="answers of the target made elsewhere (.npz)")
    parser.add_argument("--start", help="folder or name of a draft to go on from")
    parser.add_argument("--temperatures", help="answers are drawn at: 0,0.5,0.8,1")
    parser.add_argument("--licence", default="", help="for the model card; default: the target's where it is known")
    parser.add_argument("--base-model", default="", help="for the model card; default: the target")
    parser.add_argument("--dtype", default="auto", help="of the target: auto, float32, bfloat16 or float16")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    for knob in KNOBS.values():
        parser.add_argument(f"--{knob.label}", type=number_of, default=None, help=f"{knob.help} ({knob.default:g})")


def recipe_from(args: argparse.Namespace) -> Recipe:
    """The recipe of parsed options: those of the scale, and over them what was given. Raises SettingsError."""
    names = {field.name for field in dataclasses.fields(Recipe)} - {"temperatures"}
    given = {name: value for name, value in vars(args).items() if name in names and value is not None}
    if args.temperatures is not None:
        try:
            given["temperatures"] = tuple(float(part) for part in args.temperatures.split(","))
        except ValueError as error:
            raise SettingsError("--temperatures are numbers with commas between them: 0,0.5,1.") from error
    plain = Recipe(**{"target": args.target, "out": args.out})
    return dataclasses.replace(plain.with_scale(args.scale), **given)


def call(args: argparse.Namespace) -> None:
    """Run the stages asked for."""
    recipe = recipe_from(args)
    from specviz.distill.stages import run  # noqa: PLC0415  # torch is loaded only when there is something to do

    try:
        run(recipe, args.stage)
    except KeyboardInterrupt as error:
        raise SpecvizError("Stopped; run the same command again to continue.") from error
