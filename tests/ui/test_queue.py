"""When calls fill their places: one more is told so in a sentence, and the page goes on as if there were none."""

import json
import threading

import httpx
import pytest

from specviz.sessions.visitors import MAX_VISITORS
from specviz.ui import api, app
from tests.ui import browser
from tests.ui.browser import Visit

HELD = {"prompt": "hi", "max_new_tokens": 3, "with_trace": False, "target": "held"}


@pytest.fixture
def full(monkeypatch):
    """An app with room for one call and one that waits; the model "held" comes when the event is set."""
    gate = threading.Event()
    pair = browser.default_pair()

    def load(target, draft, dtype="auto", progress=None):
        if target == "held":
            gate.wait(60)
        return pair

    monkeypatch.setattr(api, "API_RUNS", 1)
    monkeypatch.setattr(api, "API_WAITING", 1)
    monkeypatch.setattr(browser, "load", load)
    demo, address = browser.launch()
    yield address, gate, demo
    gate.set()
    demo.close()


def ask(address):
    answer = httpx.post(f"{address}gradio_api/call/v2/run_trace", json=HELD, timeout=20)
    assert answer.status_code == 200, answer.text
    return answer.json()["event_id"]


def answer_of(address, event):
    """Kind and data of the last event."""
    told = httpx.get(f"{address}gradio_api/call/run_trace/{event}", timeout=60).text
    kind, data = told.strip().split("\n")[-2:]
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_calls_that_nobody_reads_keep_no_visitor_waiting(full, desk):
    address, gate, _ = full
    first, second = ask(address), ask(address)
    for _ in range(40):  # as many as the page has places, and more: all but two are turned away
        third = ask(address)
    kind, told = answer_of(address, third)
    assert (kind, told["error"]) == ("error", api.BUSY)
    visit = Visit(desk.new_page(), address)
    visit.press("play")
    visit.wait_state("Finished")
    visit.page.close()
    gate.set()
    for event in (first, second):
        kind, told = answer_of(address, event)
        assert kind == "complete" and json.loads(told[0])["summary"]["tokens"] == 3


def test_whoever_waits_too_long_is_told_so(full, monkeypatch):
    monkeypatch.setattr(api, "WAIT_S", 0.2)
    address, _, _ = full
    ask(address)
    kind, told = answer_of(address, ask(address))
    assert (kind, told["error"]) == ("error", api.BUSY)


def test_sessions_are_few_and_whoever_stays_is_kept_while_others_pass(full):
    _, _, demo = full
    holder = demo.app.state_holder
    stays = holder["stays"]
    for passing in range(50):  # each with a tab and a call, which has a session of its own
        _ = holder[f"tab {passing}"], holder[f"call {passing}"]
    assert holder["stays"] is stays
    for passing in range(2 * app.SESSIONS):
        _ = holder[f"more {passing}"]
    assert len(holder.session_data) == app.SESSIONS <= 8 * MAX_VISITORS
    assert "stays" not in holder
