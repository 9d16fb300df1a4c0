"""``python -m specviz export``: a saved trace or a recording of the gallery as one HTML document."""

from __future__ import annotations

import argparse
from pathlib import Path

from specviz.core.words import languages, speaking, spoken
from specviz.traces.trace import Trace, TraceError

HELP = "write a run as one HTML file that plays without a network"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which run, where to, and how the page begins."""
    parser.add_argument("run", metavar="TRACE_OR_RECORDING", help="a saved trace, or the name of a recording")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it; else NAME.html in this folder")
    parser.add_argument("--title", default="", help="the heading; else that of the recording, or the prompt")
    parser.add_argument("--step", type=int, help="the step that it opens at, from 1")
    parser.add_argument("--language", default="en", choices=languages(), help="the language of the page")


def call(args: argparse.Namespace) -> None:
    """Read the run, write the page, print where it is."""
    from specviz.export.page import to_html  # noqa: PLC0415
    from specviz.recordings import gallery  # noqa: PLC0415  # imports torch

    title, start = args.title, args.step
    if args.run in gallery.RECORDINGS:
        trace, plan = gallery.read(args.run), gallery.RECORDINGS[args.run]
        with speaking(args.language):
            title, start = title or spoken(plan.title), start or plan.start
    else:
        trace = _saved(Path(args.run), list(gallery.RECORDINGS))
    out = args.out or Path(f"{Path(args.run).stem}.html")
    text = to_html(trace, out, title=title, step=start, language=args.language)
    print(f"{out}: {len(trace.steps)} steps, {len(text.encode()) / 1000:.0f} kB")


def _saved(path: Path, recordings: list[str]) -> Trace:
    try:
        return Trace.from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(recordings)
        raise TraceError(
            f"The trace {str(path)!r} cannot be read; give a saved trace, or the name of a recording: {known}."
        ) from error
