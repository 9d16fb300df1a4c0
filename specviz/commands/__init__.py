"""The command line, one file for each command. To add a command: one file and one line here."""

from collections.abc import Mapping

from specviz.commands import app, bench, distill, export, gallery, models, record, run
from specviz.commands.base import Command

COMMANDS: Mapping[str, Command] = {
    "app": app,
    "run": run,
    "export": export,
    "gallery": gallery,
    "models": models,
    "record": record,
    "distill": distill,
    "bench": bench,
}
"""In the order of `specviz --help`."""

__all__ = ["COMMANDS", "Command"]
