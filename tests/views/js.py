"""Runs modules of `assets/` outside the page: in node where there is one, else in Chromium.

Example: ``run(["dom.js"], "niceCeil(7)")`` is 8.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from specviz.core.assets import ASSETS
from specviz.core.words import catalogue
from specviz.views import page, page_files, palette


def run(files: Sequence[str], expression: str, given: Any = None) -> Any:
    """Value of `expression`, in which what the modules export has its name; `GIVEN` is the plain data `given`."""
    return json.loads(_node(files, expression, given) if shutil.which("node") else _chromium(files, expression, given))


def _program(at: str, files: Sequence[str], expression: str, given: Any) -> str:
    """An async function's body: modules come from the address `at`, CONFIG gets the palette and the English words."""
    body = json.dumps(f"return ({expression});")
    words = {section: catalogue()[section] for section in page_files.SPOKEN}
    return f"""
        const modules = await Promise.all({json.dumps(["config.js", *files])}.map((name) => import({json.dumps(at)} + name)));
        const names = Object.assign({{ GIVEN: {json.dumps(given)} }}, ...modules);
        names.configure({json.dumps({"palette": palette.plain(), "words": words})});
        return JSON.stringify(new Function(...Object.keys(names), {body})(...Object.values(names)));
    """


def _node(files: Sequence[str], expression: str, given: Any) -> str:
    program = _program(ASSETS.as_uri() + "/", files, expression, given)
    done = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=f"(async () => {{{program}}})().then((found) => process.stdout.write(found));",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _chromium(files: Sequence[str], expression: str, given: Any) -> str:
    from tests.ui import browser  # noqa: PLC0415 - starts torch, and is not needed where node is

    with browser.browser() as chromium:
        shown = chromium.new_page()
        browser.offer_scripts(shown)
        return str(shown.evaluate(f"async () => {{{_program(page.SCRIPTS_AT + '/', files, expression, given)}}}"))
