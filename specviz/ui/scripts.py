"""Offers the page's modules to browsers, each at an address that changes with their content.

Not through Gradio's static files: those take the type of a file from the machine's registry, which on some machines calls
scripts plain text, and browsers run no such module; and they say nothing of how long a file may be kept.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from specviz.views.page import SCRIPTS, SCRIPTS_AT

FOREVER = "public, max-age=31536000, immutable"


def routes() -> list[Route]:
    """For the app that Gradio makes (`app_kwargs`)."""
    return [Route(SCRIPTS_AT + "/{name:path}", _module)]


def _module(request: Request) -> Response:
    found = SCRIPTS.get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("No such script.", status_code=404)
    return Response(found, media_type="text/javascript", headers={"Cache-Control": FOREVER})
