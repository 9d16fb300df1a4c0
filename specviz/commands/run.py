"""The command ``run``: decode one prompt, print every step, and save the trace where asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.commands.base import add_model_options, pair_of
from specviz.core.output_files import check_file, write_text
from specviz.core.plural import counted
from specviz.core.records import Fate, StepRecord
from specviz.core.settings import KNOBS, RunSettings, number_of, options_of
from specviz.traces.trace import Trace, TraceError

HELP = "decode one prompt and print every step"

PLAIN_MARKS = {Fate.ACCEPTED: "=", Fate.REJECTED: "x", Fate.UNTESTED: ".", Fate.RESAMPLED: "~", Fate.BONUS: "+"}
"""For a console that cannot show the others."""
MARKS = {Fate.ACCEPTED: "✓", Fate.REJECTED: "✗", Fate.UNTESTED: "·", Fate.RESAMPLED: "↻", Fate.BONUS: "+"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Every setting of `RunSettings` is an option by its own name."""
    add_model_options(parser)
    text = parser.add_mutually_exclusive_group(required=True)
    text.add_argument("--prompt", help="text to continue or, with --chat, to answer")
    text.add_argument("--prompt-ids", help="token ids instead of a text: 5,10,3")
    for name in ("strategy", "draft_length", "rule"):
        parser.add_argument(f"--{name.replace('_', '-')}", default=getattr(RunSettings(), name))
    for name, knob in KNOBS.items():
        # numbers are read as they come and checked by RunSettings, so that its sentence is the one that is read
        parser.add_argument(
            f"--{name.replace('_', '-')}", default=getattr(RunSettings(), name), type=number_of, help=knob.help
        )
    parser.add_argument("--stop", action="append", default=[], help="a stop string; may be given several times")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=NUMBER", help="an own knob of strategy or draft length"
    )
    parser.add_argument("--chat", action="store_true", help="send the prompt through the chat template")
    parser.add_argument(
        "--baseline", action="store_true", help="measure the target alone too, and keep it in the trace"
    )
    parser.add_argument("--json", type=Path, help="save the trace here")
    parser.add_argument(
        "--costs", type=Path, metavar="TRACE", help="a saved trace whose measured costs hold for this run"
    )


def call(args: argparse.Namespace) -> None:
    """Decode, print each step when it is done, and then the summary."""
    settings = _settings(args)
    prompt: str | list[Any] = args.prompt
    if args.prompt_ids is not None:
        prompt = [number_of(part.strip()) for part in args.prompt_ids.split(",") if part.strip()]
    from specviz.decoding import baseline, engine  # noqa: PLC0415  # imports torch

    engine.check_names(settings)  # before models are loaded for it
    if args.json:
        check_file(args.json, "the trace")
    costs = None if args.costs is None else _costs_in(args.costs)
    pair = pair_of(args)
    run = engine.start(pair, prompt, settings, costs)
    while not run.finished(settings):
        print(_line(engine.step(run, settings)), flush=True)
    if args.baseline:
        run.baseline = baseline.measure(run, settings)
    trace = run.trace()
    if args.json:
        write_text(args.json, trace.to_json(), "the trace")
    _summary(trace)


def _settings(args: argparse.Namespace) -> RunSettings:
    fields = {name: getattr(args, name) for name in (*KNOBS, "strategy", "draft_length", "rule", "chat")}
    return RunSettings(**fields, stop=tuple(args.stop), options=options_of(args.option))


def _costs_in(path: Path) -> Any:
    try:
        return Trace.from_json(path.read_text(encoding="utf-8")).costs
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"The trace {str(path)!r} cannot be read; give a file saved with --json.") from error


def _marks() -> Mapping[Fate, str]:
    try:
        "".join(MARKS.values()).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return PLAIN_MARKS
    return MARKS


def _line(step: StepRecord) -> str:
    marks = _marks()
    tokens = [*step.tokens, *([step.extra] if step.extra else [])]
    shown = " ".join(f"{marks[t.fate]}{t.text!r}" for t in tokens)
    return f"{step.index:4}  {shown}  {step.step_s * 1e3:.0f} ms"


def _summary(trace: Any) -> None:
    from specviz.decoding.baseline import verdict  # noqa: PLC0415  # imports torch
    from specviz.metrics import count  # noqa: PLC0415
    from specviz.metrics.summary import summary  # noqa: PLC0415

    counts, found = count(trace.steps), summary(trace)
    print(f"\n{trace.text}\n")
    print("  ".join(f"{mark} {fate}" for fate, mark in _marks().items()))
    print(
        f"{counted(counts.emitted, 'token')} in {counted(counts.steps, 'target pass', 'target passes')}, stopped by {trace.stop}"
    )
    if found["lossless"] is False:
        print("not lossless: a rule of this run changes the output")
    print(f"acceptance rate (of tested) {counts.acceptance_rate}; of drafted {counts.drafted_share}")
    if found["tokens_per_s"]:
        # acceptance alone says little: whoever drafts one sure token a pass has a rate of 1
        drafted = counts.mean_draft_length
        print(f"drafted {drafted} a pass; block efficiency, tokens a pass: {counts.block_efficiency}")
        print(f"{found['tokens_per_s']:.1f} tokens/s")
    for name, costs in trace.costs.items():
        v = ", ".join(f"v({positions - 1}) {ratio:.2f}" for positions, ratio in costs.verify_cost)
        print(f"costs of {name}, in target passes: c {costs.cost_ratio:.2f}, {v}")
    if found["speed_up"]:
        alone = found["target_alone_tokens_per_s"]
        print(
            f"target alone {alone:.1f} tokens/s: speed-up {found['speed_up']:.2f}×; {verdict(trace.baseline, trace.steps)}"
        )
