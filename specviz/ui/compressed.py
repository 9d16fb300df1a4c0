"""Compresses a file of the page once, not for every visitor.

Gradio compresses each answer anew, with Brotli where the browser takes that: 0.7 s of processor time for the files of one
page load (8 MB with plotly), so a class that opens one link keeps a small machine busy for half a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from posixpath import normpath
from typing import Any

import brotli
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from specviz.ui.scripts import FOREVER
from specviz.views.page import PLOTLY, SCRIPTS_AT

FOLDERS = ("/assets/", "/static/", SCRIPTS_AT + "/", f"/file={PLOTLY}/")
"""What lies there never changes while the app runs."""
TYPES = (".js", ".css", ".json", ".svg")
HASHED = "/assets/"
"""Files whose names change with their content: a browser that has one need not ask again, and Gradio says nothing of it."""
QUALITY = 5
"""Of 11, one more than Gradio's: the first visitor waits for it."""
KEPT: dict[str, Response] = {}
"""By path, however it is written; of installed packages, so every app of a process has the same."""


class CompressedOnce:
    """ASGI middleware: keeps the compressed answers to requests for files of the page.

    It lies inside Gradio's own compression, which leaves alone what is compressed already. Gradio's frontend has a fixed
    number of files, about 5 MB when compressed; only answers with status 200 are kept, so no address adds to them.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        if not _is_file(scope):
            return await self.app(scope, receive, send)
        path = normpath(scope["path"])  # else each way to write an address, as "/assets/./x.js", would be kept
        if path not in KEPT:
            answer = await _answer(self.app, scope, receive)
            if answer.status_code != 200 or "content-encoding" in answer.headers:
                return await answer(scope, receive, send)
            if HASHED in path:
                answer.headers["cache-control"] = FOREVER
            KEPT[path] = await asyncio.to_thread(_compressed, answer)
        await KEPT[path](scope, receive, send)


def _is_file(scope: Any) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    path, headers = scope["path"], Headers(scope=scope)
    inside = any(folder in path for folder in FOLDERS) and path.endswith(TYPES)
    return inside and "br" in headers.get("accept-encoding", "") and "range" not in headers


async def _answer(app: Callable[..., Awaitable[None]], scope: Any, receive: Any) -> Response:
    """What the app answers, as a whole."""
    start: dict[str, Any] = {}
    parts: list[bytes] = []

    async def take(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    await app(scope, receive, take)
    answer = Response(b"".join(parts), start["status"])
    answer.raw_headers = list(start["headers"])
    return answer


def _compressed(answer: Response) -> Response:
    body = brotli.compress(answer.body, mode=brotli.MODE_TEXT, quality=QUALITY)
    kept = Response(body, 200)
    kept.raw_headers = [(name, value) for name, value in answer.raw_headers if name != b"content-length"]
    headers = MutableHeaders(raw=kept.raw_headers)
    headers["content-length"] = str(len(body))
    headers["content-encoding"] = "br"
    headers.add_vary_header("Accept-Encoding")
    return kept
