"""The page in every language of the catalogue: ``?lang=de`` in its address is German, no or an unknown ``lang`` English.

The page is built once per language. All of these pages have the same components and events; only the first one's handlers
run, in the language of the page that calls them. Gradio's own `I18n` would not do: it follows the browser, not the
address, and knows no texts that handlers send.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import gradio as gr
from starlette.requests import Request

from specviz.core.words import DEFAULT, language, languages, speaking
from specviz.views import page
from specviz.views.markup import inline_script

FIX = inline_script(page.SCRIPTS[page.IN_HEAD].decode())


def language_of(request: Any) -> str:
    """The ``lang`` of the page that sends `request` (Starlette's or Gradio's), empty where there is none.

    Events carry the parameters of the page's address. Calls of server functions do not: they name the page as referrer.
    """
    given = request.query_params.get("lang")
    if given is None and request.method == "POST":
        given = parse_qs(urlsplit(request.headers.get("referer") or "").query).get("lang", [""])[0]
    return given or ""


class Blocks(gr.Blocks):
    """A page that Gradio serves in the language that is spoken (`specviz.core.words`); handlers speak the visitor's.

    Example: ``with Blocks() as demo: …``, then for German ``demo.translations["de"] = german.config``.
    """

    translations: dict[str, dict[str, Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.translations = {}
        super().__init__(*args, **kwargs)

    @property
    def config(self) -> Any:
        """What a browser gets to draw the page."""
        there = self.translations.get(language())
        return self._config if there is None else translated(self._config, there)

    @config.setter
    def config(self, value: Any) -> None:
        self._config = value

    async def call_function(
        self,
        block_fn: Any,
        processed_input: list[Any],
        iterator: Any = None,
        requests: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Call a handler, or ask a generator for its next item, in the language of the page that asks."""
        request = requests[0] if isinstance(requests, list) else requests
        with speaking(language_of(request) if request else DEFAULT):
            return await super().call_function(block_fn, processed_input, iterator, requests, *args, **kwargs)


def translated(config: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """`config` with the texts of the page in another language, which has the same components and events."""
    return config | {
        "title": there["title"],
        "components": _each(config["components"], there["components"], "props"),
        "dependencies": _each(config["dependencies"], there["dependencies"], "js"),
    }


def _each(ours: list[dict[str, Any]], theirs: list[dict[str, Any]], part: str) -> list[dict[str, Any]]:
    return [own | {part: other[part]} for own, other in zip(ours, theirs, strict=True)]


def in_all_languages(build: Callable[[], Blocks]) -> Blocks:
    """The page in the default language, with its translations."""
    first = build()
    for code in languages():
        if code != DEFAULT:
            with speaking(code):
                first.translations[code] = build().config
    return first


class SpokenRequests:
    """ASGI middleware: each request is answered in the language of its page, and the document names that language."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        with speaking(language_of(Request(scope))):
            await self.app(scope, receive, _marking(send) if scope["method"] == "GET" else send)


def _marking(send: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    start: dict[str, Any] | None = None

    async def marked(message: dict[str, Any]) -> None:
        nonlocal start
        if message["type"] == "http.response.start" and _is_document(message["headers"]):
            start = message  # its length is known once the body is
            return
        if start is not None:
            body = in_language(message["body"].decode()).encode()
            others = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            await send(start | {"headers": [*others, (b"content-length", b"%d" % len(body))]})
            message, start = message | {"body": body}, None
        await send(message)

    return marked


def _is_document(headers: list[tuple[bytes, bytes]]) -> bool:
    return dict(headers).get(b"content-type", b"").startswith(b"text/html")


def in_language(html: str) -> str:
    """Gradio's document with the language that is spoken as its own, before any of Gradio's scripts runs."""
    named = html.replace('lang="en"', f'lang="{language()}"', 1)
    return named.replace("<head>", "<head>" + FIX, 1)
