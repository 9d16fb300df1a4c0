"""The command line: the same names as in a notebook. ``python -m specviz run --prompt "Once upon a time"``.

`specviz.commands` holds a file for each command; this file parses, dispatches and reports errors.
"""

from __future__ import annotations

import argparse
import io
import os
import sys

from specviz import __version__
from specviz.commands import COMMANDS
from specviz.core.settings import SpecvizError

CLOSED_PIPE = 141
"""The exit status of a program whose reader went away, as a shell reports it: 128 + SIGPIPE."""
EXTRAS = {"pandas": "tables", "gradio": "app", "plotly": "app", "mcp": "mcp"}
"""Package that only some commands need → the extra that installs it."""


def main(argv: list[str] | None = None) -> int:
    """0, or 1 after an error, which is one sentence on stderr; 141 where nobody reads the output any more."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a token the console's encoding lacks must not end the run
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _dispatched(argv)
        finally:
            sys.stdout.flush()  # here, so that a closed pipe is noticed before Python ends
    except BrokenPipeError:
        # Python flushes once more when it ends; what is left must go somewhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


def _dispatched(argv: list[str] | None) -> int:
    args = _parser().parse_args(argv)
    try:
        COMMANDS[args.command].call(args)
    except SpecvizError as error:
        print(f"specviz: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        install = f"pip install {error.name} or, in a checkout of specviz, pip install '.[{EXTRAS[error.name]}]'"
        print(f"specviz: {args.command} needs {error.name}, which is not installed; run {install}.", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="specviz", description="Watch speculative decoding token by token.")
    parser.add_argument("--version", action="version", version=f"specviz {__version__}")
    parts = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, command in COMMANDS.items():
        command.add_options(parts.add_parser(name, help=command.HELP))
    return parser


if __name__ == "__main__":
    sys.exit(main())
