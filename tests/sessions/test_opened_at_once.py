"""Many visitors open files at the same time."""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from specviz.sessions import files as files_module
from specviz.sessions.files import MOST_OPENED, Files


def test_files_opened_at_once_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    monkeypatch.setattr(files_module, "read_text", lambda text, kept: (nothing, kept))
    files = Files(nothing, nothing)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(files.open, ["a"] * 4000))
    finally:
        sys.setswitchinterval(before)
    assert len(answers) == 4000
    assert len(files._opened) == MOST_OPENED
