"""Runs files of `assets/` outside the page: in node where there is one, else in Chromium.

Example: ``run(["store.js"], "niceCeil(7)")`` is 8.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from specviz.views import page, palette


def run(files: Sequence[str], expression: str, given: Any = None) -> Any:
    """Value of `expression` after the files; `GIVEN` is the plain data `given`, CONFIG has the palette."""
    parts = [
        f"const CONFIG = {json.dumps({'palette': palette.plain()})}, GIVEN = {json.dumps(given)};",
        *[(page.ASSETS / name).read_text(encoding="utf-8") for name in files],
        f"return JSON.stringify({expression});",
    ]
    body = "(() => {\n" + "\n".join(parts) + "\n})()"
    return json.loads(_node(body) if shutil.which("node") else _chromium(body))


def _node(body: str) -> str:
    done = subprocess.run(
        ["node", "-"], input=f"process.stdout.write({body})", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _chromium(body: str) -> str:
    from tests.ui import browser  # noqa: PLC0415 - starts torch, and is not needed where node is

    with browser.browser() as chromium:
        return str(chromium.new_page().evaluate(body))
