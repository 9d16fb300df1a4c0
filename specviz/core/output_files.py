"""Files and folders that a command is asked to write: checked before the work, and written with one sentence for an error.

Example: ``check_file(Path("/nowhere/x.json"), "the trace")`` raises "There is no folder '/nowhere' to save the trace in; …".
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from specviz.core.settings import SpecvizError


def check_file(path: Path, what: str) -> None:
    """Raise SpecvizError where `path` cannot be written. Leaves no file behind; what a file holds stays as it is."""
    if not path.parent.is_dir():
        raise SpecvizError(f"There is no folder {str(path.parent)!r} to save {what} in; create it first.")
    if path.is_dir():
        raise SpecvizError(f"{str(path)!r} is a folder; name a file to save {what} in.")
    if path.exists() and not path.is_file():  # a pipe or a device: opening it would be seen at its other end
        if not os.access(path, os.W_OK):
            raise SpecvizError(f"{str(path)!r} is not writable; name another file to save {what} in.")
        return
    new = not path.exists()
    try:
        with path.open("ab"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise _cannot(path, what, error) from error


def check_folder(path: Path, what: str) -> None:
    """Make the folder `path` where it is missing. Raises SpecvizError where that or a file in it cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise SpecvizError(
            f"{what[0].upper()}{what[1:]} cannot be saved in {str(path)!r} ({error.strerror}); choose another folder."
        ) from error


def write_text(path: Path, text: str, what: str) -> None:
    """Write `text` in UTF-8. Raises SpecvizError, such as for a disk that is full by now."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _cannot(path, what, error) from error


def _cannot(path: Path, what: str, error: OSError) -> SpecvizError:
    return SpecvizError(
        f"{what[0].upper()}{what[1:]} could not be saved in {str(path)!r} ({error.strerror}); name another file."
    )
