"""A file of the page is compressed once, and a browser gets what the app would have sent."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import pytest
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from specviz.ui import compressed, scripts
from specviz.views.page import SCRIPTS, SCRIPTS_AT

VIEW = f"{SCRIPTS_AT}/view.js"
IFRAME = "/static/js/iframeResizer.contentWindow.min.js"
BR = {"accept-encoding": "br"}


@pytest.fixture(scope="module")
def client():
    with gr.Blocks() as demo:
        gr.Markdown("a page")
    options = {"middleware": [Middleware(compressed.CompressedOnce)], "routes": scripts.routes()}
    return TestClient(gr.routes.App.create_app(demo, app_kwargs=options))


@pytest.fixture
def made(monkeypatch):
    """Sizes of what was compressed; nothing is kept from before."""
    sizes = []
    real = compressed._compressed
    monkeypatch.setattr(compressed, "KEPT", {})
    monkeypatch.setattr(compressed, "_compressed", lambda answer: (sizes.append(len(answer.body)), real(answer))[1])
    return sizes


def test_the_second_visitor_gets_what_was_compressed_for_the_first(client, made):
    first, second = (client.get(VIEW, headers=BR) for _ in range(2))
    for answer in (first, second):
        assert answer.content == SCRIPTS["view.js"] and answer.headers["content-encoding"] == "br"
        assert int(answer.headers["content-length"]) < len(answer.content)
        assert "immutable" in answer.headers["cache-control"] and "Accept-Encoding" in answer.headers["vary"]
    assert made == [len(SCRIPTS["view.js"])]


def test_one_file_is_kept_once_however_its_address_is_written(client, made):
    name = next(path.name for path in Path(gr.__file__).parent.glob("templates/frontend/assets/index-*.css"))
    for folder in ("", "%2e/", "%2e/%2e/"):
        assert client.get(f"/assets/{folder}{name}", headers=BR).status_code == 200
    assert len(made) == len(compressed.KEPT) == 1


def test_gradio_s_own_files_too_and_each_by_itself(client, made):
    sizes = [len(client.get(path, headers=BR).content) for path in (IFRAME, VIEW)]
    assert made == sizes


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (VIEW, {"accept-encoding": "identity"}, 200),
        (VIEW, {"accept-encoding": "gzip"}, 200),
        (VIEW + "x.js", BR, 404),
        ("/assets/../../nothing.js", BR, 404),
        ("/config", BR, 200),
    ],
)
def test_other_requests_are_answered_as_ever_and_nothing_of_them_is_kept(client, made, path, headers, status):
    assert client.get(path, headers=headers).status_code == status
    assert made == [] and compressed.KEPT == {}


def test_files_named_by_their_content_are_asked_for_once(client, made):
    name = next(path.name for path in Path(gr.__file__).parent.glob("templates/frontend/assets/index-*.js"))
    answer = client.get(f"/assets/{name}", headers=BR)
    assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
    assert "immutable" not in client.get(IFRAME, headers=BR).headers.get("cache-control", "")
