"""Arguments of endpoints: each of the wrong kind is one sentence, derived from the signatures, on every way in."""

import asyncio
import json

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from specviz.core.settings import KNOBS, SettingsError
from specviz.sessions.arguments import CheckedCalls, check_kinds, complete
from specviz.ui.api import SIGNATURES, settings_of
from tests.ui import browser

TRACE = SIGNATURES["run_trace"]
USUAL = complete(TRACE, {"prompt": "Hi"})
TRUTHS = [name for name, value in USUAL.items() if isinstance(value, bool)]
TEXTS = [name for name in USUAL if name not in TRUTHS and name not in KNOBS]


def test_all_arguments_are_looked_at():
    assert set(TRUTHS) == {"chat", "measure_alone", "with_trace"} and len(TEXTS) == 9
    assert check_kinds(TRACE, USUAL) == USUAL


@pytest.mark.parametrize("name", TRUTHS)
def test_truths_are_taken_or_rejected_and_never_misread(name):
    for value in (True, 1, "true", "True", "1"):
        assert check_kinds(TRACE, USUAL | {name: value})[name] is True
    for value in (False, 0, "false", "FALSE", "0"):
        assert check_kinds(TRACE, USUAL | {name: value})[name] is False
    for value in ("yes", "", 2, -1, 1.5, None, [True], {}, "on" * 100):
        with pytest.raises(SettingsError, match=f"^{name} must be on or off") as told:
            check_kinds(TRACE, USUAL | {name: value})
        assert len(str(told.value)) < 120


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_never_made_of_something_else(name):
    for value in (5, True, {"a": 1}, [1], ["a", None], 2.5):
        with pytest.raises(SettingsError, match=f"The {name} must be a text"):
            check_kinds(TRACE, USUAL | {name: value})


@pytest.mark.parametrize("name", KNOBS)
def test_a_number_is_never_made_of_something_else(name):
    for value in ("4", None, True, [1], {}):
        with pytest.raises(SettingsError, match=KNOBS[name].label):
            settings_of(check_kinds(TRACE, USUAL | {name: value}))


def test_lists_and_lines():
    asked = USUAL | {"stop": ["END", "\\nabla"], "options": ["width=3"]}
    assert settings_of(check_kinds(TRACE, asked)).stop == ("END", "\\nabla")
    assert settings_of(check_kinds(TRACE, asked)).options == {"width": 3}
    assert settings_of(USUAL | {"stop": "a\\nb\n\\\\nabla\u2028", "options": "width=3\n\nheight=2"}).stop == (
        "a\nb",
        "\\nabla\u2028",
    )
    assert settings_of(USUAL | {"stop": None, "options": None}).stop == ()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"prompt": "Hi", "max_tokens": 3}, "There is no argument max_tokens; use prompt, strategy"),
        ({"k": 2}, "The argument prompt is missing"),
        ([], "The argument prompt is missing"),
        (["Hi"] * 40, "Give at most 19 values"),
        ("Hi", "as a JSON object"),
        (None, "as a JSON object"),
        ({"prompt": "Hi", "x" * 500: 1}, "There is no argument xxxxx"),
    ],
)
def test_unknown_and_missing_ones(given, sentence):
    with pytest.raises(SettingsError, match=sentence):
        complete(TRACE, given)


def ask(path, content):
    """Status and body of the answer of the middleware alone, or of what it hands on."""
    sent, handed = [], []

    async def inner(scope, receive, send):
        handed.append(json.loads((await receive())["body"]))

    async def receive():
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"content-length", b"3")]}
    asyncio.run(CheckedCalls(inner, SIGNATURES)(scope, receive, send))
    return (200, handed[0]) if handed else (sent[0]["status"], json.loads(sent[1]["body"])["error"])


def test_what_a_call_becomes_before_gradio_sees_it():
    assert ask("/gradio_api/call/v2/run_trace", b'{"prompt": "Hi"}') == (200, USUAL | {"prompt": "Hi"})
    assert ask("/below/gradio_api/call/run_trace/", b'{"data": ["Hi"]}')[1]["data"] == list(USUAL.values())
    for path, content, status, words in (
        ("v2/run_trace", b"{", 422, "not JSON"),
        ("v2/run_trace", b"[" * 5000, 422, "not JSON"),
        ("v2/run_trace", b"3", 422, "JSON object"),
        ("run_trace", b"{}", 422, '{"data": [value'),
        ("run_trace", b'{"data": 3}', 422, '{"data": [value'),
        ("v2/run_it", b"{}", 404, "There is no endpoint run_it; use generate, run_trace."),
    ):
        told = ask(f"/gradio_api/call/{path}", content)
        assert told[0] == status and words in told[1] and "\n" not in told[1]


def test_over_http_and_the_client():
    url = f"{browser.address()}gradio_api/call"
    answer = httpx.post(f"{url}/v2/run_trace", json={"prompt": "Hi", "max_tokens": 3}, timeout=60)
    assert answer.status_code == 422 and "no argument max_tokens" in answer.json()["error"]
    begun = httpx.post(f"{url}/run_trace", json={"data": ["Hi", "greedy", 2]}, timeout=60)
    told = httpx.get(f"{url}/run_trace/{begun.json()['event_id']}", timeout=60).text
    assert "event: complete" in told
    client = Client(browser.address(), verbose=False)
    with pytest.raises(AppError, match="measure_alone must be on or off"):
        client.predict("Hi", measure_alone="yes", api_name="/run_trace")
    answer = json.loads(
        client.predict("Hi", stop=["\x00"], max_new_tokens=2, with_trace="false", api_name="/run_trace")
    )
    assert answer["trace"] is None
