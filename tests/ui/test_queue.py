"""When the app is full: whoever has no room is told so at once, the page still loads, and who got in is served."""

import json
import threading
import time

import httpx
import pytest

from specviz.ui import app
from tests.ui import browser

BUSY = {"prompt": "hi", "max_new_tokens": 3, "with_trace": False}


@pytest.fixture
def full(monkeypatch):
    """An app with room for one run and one more in the queue, whose models come when the event is set."""
    gate = threading.Event()
    pair = browser.default_pair()

    def load(target, draft, dtype="auto", progress=None):
        gate.wait(60)
        return pair

    monkeypatch.setattr(app, "ACTIVE_RUNS", 1)
    monkeypatch.setattr(app, "QUEUE", 1)
    monkeypatch.setattr(browser, "load", load)
    demo, address = browser.launch()
    yield f"{address}gradio_api/call", address, gate
    gate.set()
    demo.close()


def test_beyond_its_bound_the_queue_says_that_it_is_full(full):
    url, address, gate = full

    def ask():
        return httpx.post(f"{url}/v2/run_trace", json=BUSY, timeout=20)

    running = ask().json()["event_id"]
    # the first one leaves the queue for its place among the active ones within a moment
    for _ in range(200):
        if (waiting := ask()).status_code == 200:
            break
        time.sleep(0.05)
    refused = ask()
    assert waiting.status_code == 200 and refused.status_code == 503 and "Queue is full" in refused.text
    assert httpx.get(address, timeout=20).status_code == 200
    gate.set()
    for event in (running, waiting.json()["event_id"]):
        kind, told = httpx.get(f"{url}/run_trace/{event}", timeout=60).text.strip().split("\n")[-2:]
        assert kind == "event: complete"
        assert json.loads(json.loads(told.removeprefix("data: "))[0])["summary"]["tokens"] == 3
