"""``python -m specviz record``: make the recordings of the gallery again, each beside the target alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from specviz.commands.base import add_model_options, pair_of
from specviz.core.output_files import check_folder
from specviz.core.settings import SpecvizError

HELP = "make the gallery's recordings and comparisons anew, each with the target alone"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which recordings, where to, and the pair."""
    add_model_options(parser)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--to", type=Path, help="another folder than assets/traces and assets/comparisons")
    # the number format in which identical output at temperature 0 is a promise
    parser.set_defaults(dtype="float32")


def call(args: argparse.Namespace) -> None:
    """Check names and folders, then record one after another."""
    from specviz.recordings import gallery, studio  # noqa: PLC0415  # imports torch

    known = [*gallery.RECORDINGS, *gallery.COMPARISONS]
    if unknown := sorted(set(args.only) - set(known)):
        raise SpecvizError(f"There is no recording named {unknown[0]!r}; choose one of: {', '.join(known)}.")
    for folder in [args.to] if args.to else [gallery.TRACES, gallery.COMPARED]:
        check_folder(folder, "the recordings")
    pair, names = pair_of(args), args.only or known
    if warning := studio.check(pair, names):
        print(warning, file=sys.stderr)
    for name in names:
        if name in gallery.COMPARISONS:
            compared = studio.make_comparison(pair, name, args.to or gallery.COMPARED)
            print(studio.told_comparison(name, compared), flush=True)
        else:
            print(studio.told(name, studio.make(pair, name, args.to or gallery.TRACES)), flush=True)
