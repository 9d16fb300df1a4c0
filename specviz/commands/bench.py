"""``python -m specviz bench``: measure strategies on this machine, print the table, save its figures, draw its chart."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from specviz.commands.base import add_model_options, pair_of
from specviz.core.output_files import check_file, write_text
from specviz.core.prompts import PRESETS
from specviz.core.settings import Knob, RunSettings, number_of
from specviz.views.lineup import svg

HELP = "measure speed on this machine, as ratios in one run"

RANDOM_STRATEGIES = ("greedy", "sampling", "beam search", "prompt lookup")
"""What a bench of random weights compares: a few minutes on a GPU, and no copies of a large model."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is measured, and where the figures and the chart go."""
    add_model_options(parser)
    parser.add_argument(
        "--random", metavar="SIZE", help="instead of models: random weights of a size (tiny, 1b, 7b, 13b)"
    )
    parser.add_argument(
        "--prompts", type=number_of, help="only the first so many examples; with --random 3 where left out"
    )
    parser.add_argument("--tokens", type=number_of, default=128, help="the longest output of each prompt")
    parser.add_argument("--k", type=number_of, nargs="+", default=[4], help="one or several speculation lengths")
    parser.add_argument("--temperature", type=number_of, default=0, help="of the table of strategies")
    parser.add_argument("--strategy", action="append", help="only this one; may be repeated; all where left out")
    parser.add_argument(
        "--draft-length", default="fixed", help="of the table: fixed, heuristic, confidence, cost-aware"
    )
    parser.add_argument("--chart", type=Path, help="draw the table of strategies here, as SVG")
    parser.add_argument(
        "--rounds", type=number_of, default=1, help="of the comparison with transformers; 0 leaves it out"
    )
    parser.add_argument(
        "--json", type=Path, help="save the figures here, flat; experiments.bench.FIELDS says what each means"
    )


def call(args: argparse.Namespace) -> None:
    """Check every option before models are loaded, then measure."""
    from specviz.decoding.engine import check_names  # noqa: PLC0415  # imports torch
    from specviz.experiments.bench import bench, conditions  # noqa: PLC0415

    strategies, prompts = args.strategy, args.prompts
    for path, what in ((args.json, "the figures"), (args.chart, "the chart")):
        if path:
            check_file(path, what)
    rounds = Knob("--rounds", 1, 0, 1000, 1, "", whole=True).check(args.rounds)
    if prompts is not None:
        prompts = Knob("--prompts", 1, 1, len(PRESETS), 1, "", whole=True).check(prompts)
    plain = RunSettings(temperature=args.temperature, max_new_tokens=args.tokens, draft_length=args.draft_length)
    settings = [replace(plain, k=k, strategy=name) for k in args.k for name in strategies or ["none"]]
    for each in settings:
        check_names(each)
    if args.random:
        from specviz.models.random_pair import random_pair  # noqa: PLC0415

        pair: Any = random_pair(args.random, args.dtype, args.device)
        strategies, prompts = strategies or RANDOM_STRATEGIES, prompts or 3
    else:
        pair = pair_of(args)
    result = bench(
        pair,
        list(dict.fromkeys(each.k for each in settings)),
        plain.max_new_tokens,
        strategies,
        plain.temperature,
        int(rounds),
        args.draft_length,
        prompts,
    )
    if args.json:
        write_text(args.json, json.dumps(result, indent=1, allow_nan=False), "the figures")
    if args.chart:
        write_text(args.chart, svg(result["rows"], f"{pair.target.name}, {conditions(result)}"), "the chart")
