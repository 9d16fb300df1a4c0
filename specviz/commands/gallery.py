"""``python -m specviz gallery``: all recordings as a folder of pages with an index, ready for a static host."""

from __future__ import annotations

import argparse
from pathlib import Path

from specviz.core.words import languages

HELP = "write all recordings as pages, with an index, for a static host"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where to, and the language of the pages."""
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder; it is made where it is missing")
    parser.add_argument("--language", default="en", choices=languages(), help="the language of the pages")


def call(args: argparse.Namespace) -> None:
    """Write the pages and print their names."""
    from specviz.export.site import write_site  # noqa: PLC0415  # imports torch

    for path in write_site(args.out, args.language):
        print(path)
