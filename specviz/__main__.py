"""The command line: the same names as in a notebook. ``python -m specviz run --prompt "Once upon a time"``.

Every setting of `RunSettings` is an option by its own name; `run` prints what happened and can save the trace.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from specviz.core.output_files import check_file, check_folder, write_text
from specviz.core.records import Fate, StepRecord
from specviz.core.settings import KNOBS, Knob, RunSettings, SpecvizError, number_of, options_of
from specviz.distill import command
from specviz.traces.trace import Trace, TraceError

PLAIN_MARKS = {Fate.ACCEPTED: "=", Fate.REJECTED: "x", Fate.UNTESTED: ".", Fate.RESAMPLED: "~", Fate.BONUS: "+"}
"""For a console that cannot show the others."""
MARKS = {Fate.ACCEPTED: "✓", Fate.REJECTED: "✗", Fate.UNTESTED: "·", Fate.RESAMPLED: "↻", Fate.BONUS: "+"}


def main(argv: list[str] | None = None) -> int:
    """0, or 1 after an error, which is one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a token the console's encoding lacks must not end the run
            stream.reconfigure(errors="backslashreplace")
    args = _parser().parse_args(argv)
    try:
        return int(args.command(args) or 0)
    except SpecvizError as error:
        print(f"specviz: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="specviz", description="Watch speculative decoding token by token.")
    parts = parser.add_subparsers(required=True, metavar="COMMAND")

    run = parts.add_parser("run", help="decode one prompt and print every step")
    _model_options(run)
    text = run.add_mutually_exclusive_group(required=True)
    text.add_argument("--prompt", help="text to continue or, with --chat, to answer")
    text.add_argument("--prompt-ids", help="token ids instead of a text: 5,10,3")
    for name in ("strategy", "draft_length", "rule"):
        run.add_argument(f"--{name.replace('_', '-')}", default=getattr(RunSettings(), name))
    for name, knob in KNOBS.items():
        # numbers are read as they come and checked by RunSettings, so that its sentence is the one that is read
        run.add_argument(
            f"--{name.replace('_', '-')}", default=getattr(RunSettings(), name), type=number_of, help=knob.help
        )
    run.add_argument("--stop", action="append", default=[], help="a stop string; may be given several times")
    run.add_argument(
        "--option", action="append", default=[], metavar="NAME=NUMBER", help="an own knob of strategy or draft length"
    )
    run.add_argument("--chat", action="store_true", help="send the prompt through the chat template")
    run.add_argument("--baseline", action="store_true", help="measure the target alone too, and keep it in the trace")
    run.add_argument("--json", type=Path, help="save the trace here")
    run.add_argument("--costs", type=Path, metavar="TRACE", help="a saved trace whose measured costs hold for this run")
    run.set_defaults(command=_run)

    models = parts.add_parser("models", help="list the models and pairs known by name")
    models.set_defaults(command=_models)

    record = parts.add_parser(
        "record", help="make the gallery's recordings and comparisons anew, each with the target alone"
    )
    _model_options(record)
    record.add_argument("--only", action="append", default=[], metavar="NAME", help="only this one; may be repeated")
    record.add_argument("--to", type=Path, help="another folder than assets/traces and assets/comparisons")
    # the number format in which identical output at temperature 0 is a promise
    record.set_defaults(command=_record, dtype="float32")

    distill = parts.add_parser(
        "distill", help="make a draft for a target from its own answers; goes on where it stopped"
    )
    command.add_options(distill, number_of)
    distill.set_defaults(command=command.distill)

    bench = parts.add_parser("bench", help="measure speed on this machine, as ratios in one run")
    _model_options(bench)
    bench.add_argument(
        "--random", metavar="SIZE", help="instead of models: random weights of a size (tiny, 1b, 7b, 13b)"
    )
    bench.add_argument(
        "--prompts", type=number_of, help="only the first so many examples; with --random 3 where left out"
    )
    bench.add_argument("--tokens", type=number_of, default=128, help="the longest output of each prompt")
    bench.add_argument("--k", type=number_of, nargs="+", default=[4], help="one or several speculation lengths")
    bench.add_argument("--temperature", type=number_of, default=0, help="of the table of strategies")
    bench.add_argument("--strategy", action="append", help="only this one; may be repeated; all where left out")
    bench.add_argument("--draft-length", default="fixed", help="of the table: fixed, heuristic, confidence, cost-aware")
    bench.add_argument("--chart", type=Path, help="draw the table of strategies here, as SVG")
    bench.add_argument(
        "--rounds", type=number_of, default=1, help="of the comparison with transformers; 0 leaves it out"
    )
    bench.add_argument("--json", type=Path, help="save the figures here, flat; bench.FIELDS says what each means")
    bench.set_defaults(command=_bench)
    return parser


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target", default="default", help="name of a pair or a model of the catalogue, hub id or folder"
    )
    parser.add_argument("--draft", default=None, help="catalogue name, hub id or folder")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")


def _pair(args: argparse.Namespace) -> Any:
    from specviz.models.loading import load_pair  # noqa: PLC0415  # torch is loaded only when a model is needed

    def progress(fraction: float | None, sentence: str) -> None:
        print(sentence if fraction is None else f"{sentence} {fraction:.0%}", file=sys.stderr)

    pair = load_pair(args.target, args.draft, dtype=args.dtype, device=args.device, progress=progress)
    for note in pair.notes:  # such as another pair than the one asked for
        print(f"note: {note}", file=sys.stderr)
    return pair


def _settings(args: argparse.Namespace) -> RunSettings:
    fields = {name: getattr(args, name) for name in (*KNOBS, "strategy", "draft_length", "rule", "chat")}
    return RunSettings(**fields, stop=tuple(args.stop), options=options_of(args.option))


def _run(args: argparse.Namespace) -> None:
    settings = _settings(args)
    prompt: str | list[Any] = args.prompt
    if args.prompt_ids is not None:
        prompt = [number_of(part.strip()) for part in args.prompt_ids.split(",") if part.strip()]
    from specviz.decoding import baseline, engine  # noqa: PLC0415

    engine.check_names(settings)  # before models are loaded for it
    if args.json:
        check_file(args.json, "the trace")
    costs = None if args.costs is None else _costs_in(args.costs)
    pair = _pair(args)
    run = engine.start(pair, prompt, settings, costs)
    while not run.finished(settings):
        print(_line(engine.step(run, settings)), flush=True)
    if args.baseline:
        single, alone = baseline.alone(run, settings)
        while not single.finished(alone):
            engine.step(single, alone)
        run.baseline = baseline.compare(run, single)
    trace = run.trace()
    if args.json:
        write_text(args.json, trace.to_json(), "the trace")
    _summary(trace)


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
    from specviz.core.plural import counted  # noqa: PLC0415
    from specviz.decoding.baseline import verdict  # noqa: PLC0415
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
        v = ", ".join(f"v({places - 1}) {ratio:.2f}" for places, ratio in costs.verify_cost)
        print(f"costs of {name}, in target passes: c {costs.cost_ratio:.2f}, {v}")
    if found["speed_up"]:
        alone = found["target_alone_tokens_per_s"]
        print(
            f"target alone {alone:.1f} tokens/s: speed-up {found['speed_up']:.2f}×; {verdict(trace.baseline, trace.steps)}"
        )


def _models(args: argparse.Namespace) -> None:
    from specviz.models.catalogue import MODELS, PAIRS  # noqa: PLC0415
    from specviz.models.standing import standing  # noqa: PLC0415

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


def _record(args: argparse.Namespace) -> None:
    from specviz.recordings import gallery, studio  # noqa: PLC0415
    from specviz.views.doubts import doubted  # noqa: PLC0415

    known = [*gallery.RECORDINGS, *gallery.COMPARISONS]
    if unknown := sorted(set(args.only) - set(known)):
        raise SpecvizError(f"There is no recording named {unknown[0]!r}; choose one of: {', '.join(known)}.")
    for folder in [args.to] if args.to else [gallery.TRACES, gallery.COMPARED]:
        check_folder(folder, "the recordings")
    pair, names = _pair(args), args.only or known
    if warning := studio.check(pair, names):
        print(warning, file=sys.stderr)
    for name in names:
        if name in gallery.COMPARISONS:
            compared = studio.make_comparison(pair, name, args.to or gallery.COMPARED)
            print(studio.told_comparison(name, compared), flush=True)
        else:
            trace = studio.make(pair, name, args.to or gallery.TRACES)
            print(
                studio.told(name, trace),
                *(f"⚠ {doubted(doubt)}" for doubt in studio.doubts(trace)),
                sep="\n",
                flush=True,
            )


RANDOM_STRATEGIES = ("greedy", "sampling", "beam search", "prompt lookup")
"""What a bench of random weights compares: a few minutes on a GPU, and no copies of a large model."""


def _bench(args: argparse.Namespace) -> None:
    from specviz.commands.bench import bench  # noqa: PLC0415
    from specviz.core.prompts import PRESETS  # noqa: PLC0415
    from specviz.decoding.engine import check_names  # noqa: PLC0415

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
        pair = _pair(args)
    bench(
        pair,
        list(dict.fromkeys(each.k for each in settings)),
        plain.max_new_tokens,
        strategies,
        plain.temperature,
        int(rounds),
        args.json,
        args.draft_length,
        args.chart,
        prompts,
    )


if __name__ == "__main__":
    sys.exit(main())
