"""The public endpoint, called as a script calls it."""

from __future__ import annotations

import json

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import specviz
from specviz.core.settings import RunSettings
from tests.ui import browser

PROMPT = "What is photosynthesis?"
SETTINGS = {"strategy": "sampling", "k": 3, "temperature": 0.7, "max_new_tokens": 40, "seed": 5}


@pytest.fixture(scope="module")
def client():
    return Client(browser.address(), verbose=False)


def records_of(client, prompt=PROMPT, **settings):
    job = client.submit(prompt, **settings, api_name="/generate")
    records = list(job)
    job.result()  # raises what ended the stream early
    return records


def test_the_records_of_a_stream_are_contiguous_and_end_in_the_text_that_python_gets(client):
    *steps, end = records_of(client, **SETTINGS)
    trace = specviz.run(browser.default_pair(), PROMPT, RunSettings(**SETTINGS, chat=True))
    assert [s["event"] for s in steps] == ["step"] * len(trace.steps) and end["event"] == "end"
    assert [s["index"] for s in steps] == list(range(len(steps)))
    assert [json.loads(s["wire"])["i"] for s in steps] == list(range(len(steps)))
    emitted = [i for s in steps for i in json.loads(s["emitted_ids"])]
    assert emitted == json.loads(end["emitted_ids"]) == [i for s in trace.steps for i in s.emitted_ids]
    assert steps[-1]["text"] == end["text"] == trace.text
    assert (end["stop"], len(emitted)) == ("length", 40)


def test_predict_gives_the_last_record(client):
    last = client.predict(PROMPT, **SETTINGS, api_name="/generate")
    assert last["event"] == "end" and last["text"] == records_of(client, **SETTINGS)[-1]["text"]


def test_a_draft_length_with_its_knob_and_the_costs_in_the_trace(client):
    *steps, _ = records_of(client, **SETTINGS, draft_length="confidence", options="confidence_threshold=1\n\n")
    assert {len(json.loads(s["wire"])["tok"]) for s in steps} <= {0, 1}
    asked = SETTINGS | {"draft_length": "cost-aware"}
    answer = json.loads(client.predict(PROMPT, **asked, api_name="/run_trace"))
    assert answer["trace"]["costs"]["sampling"]["cost_ratio"] > 0
    assert 0 <= answer["summary"]["mean_draft_length"] <= 3


def test_stop_strings_and_defaults(client):
    assert records_of(client)[-1]["stop"] == "length"
    end = records_of(client, **SETTINGS, stop="never written\\nthis\nF")[-1]
    assert end["stop"] == "stop string" and "F" not in end["text"]


BAD = [
    ({"k": -1}, "K must be a whole number from 0 to 32"),
    ({"k": 2.5}, "K must be a whole number from 0 to 32"),
    ({"k": 1e9}, "K must be a whole number from 0 to 32"),
    ({"k": None}, "K must be a whole number from 0 to 32"),
    ({"k": "x"}, "K must be a whole number from 0 to 32"),
    ({"k": float("nan")}, "K must be a whole number from 0 to 32"),
    ({"k": float("inf")}, "K must be a whole number from 0 to 32"),
    ({"k": True}, "K must be a whole number from 0 to 32"),
    ({"k": [4]}, "K must be a whole number from 0 to 32"),
    ({"max_new_tokens": 10**30}, "new tokens must be a whole number from 1 to 8,192"),
    ({"max_new_tokens": 0}, "new tokens must be a whole number from 1 to 8,192"),
    ({"temperature": -1}, "temperature must be a number from 0 to 100"),
    ({"temperature": float("nan")}, "temperature must be a number from 0 to 100"),
    ({"top_p": 2}, "top-p must be a number from 0 to 1"),
    ({"seed": -1}, "seed must be a whole number"),
    ({"strategy": "magic"}, "There is no strategy named 'magic'; choose one of"),
    ({"strategy": None}, "strategy must be a name"),
    ({"draft_length": "magic"}, "There is no draft length named 'magic'; choose one of"),
    ({"draft_length": None}, "draft_length must be a name"),
    ({"options": "confidence_threshold=2"}, "confidence threshold must be a number from 0 to 1"),
    ({"options": "children=nan"}, "children must be a whole number"),
    ({"options": "magic=1"}, "No strategy has a knob named 'magic'"),
    ({"rule": "magic"}, "There is no rule named 'magic'; choose one of"),
    ({"chat": "yes"}, "chat must be on or off"),
    ({"target": "missing"}, "There is no model named missing"),
    ({"prompt": "", "chat": False}, "Type a prompt first"),
    ({"prompt": "a" * 1_000_000}, "The prompt has 1,000,000 characters"),
    ({"prompt": "a" * 50_000}, "is 8192 tokens"),
    ({"prompt": None}, "The prompt must be a text"),
    ({"stop": "\n".join("abcdefghijk")}, "at most 8 stop strings"),
]


@pytest.mark.parametrize(("bad", "words"), BAD, ids=[str(b)[:30] for b, _ in BAD])
def test_a_bad_value_is_one_readable_sentence_and_the_app_goes_on(client, bad, words):
    # by hand, not through the client: that one refuses to send NaN, which the server must refuse to take
    url, body = f"{browser.address()}gradio_api/call", json.dumps({"prompt": PROMPT, **SETTINGS, **bad})
    started = httpx.post(f"{url}/v2/generate", content=body, headers={"Content-Type": "application/json"}, timeout=20)
    assert started.status_code == 200, started.text
    kind, told = httpx.get(f"{url}/generate/{started.json()['event_id']}", timeout=20).text.strip().split("\n")[-2:]
    assert kind == "event: error", told[:300]
    sentence = json.loads(told.removeprefix("data: "))["error"]
    assert words in sentence and "\n" not in sentence and len(sentence) < 300
    assert records_of(client, **SETTINGS | {"max_new_tokens": 3})[-1]["event"] == "end"


def test_the_client_raises_the_same_sentence(client):
    with pytest.raises(AppError, match=r"K must be a whole number from 0 to 32; you gave -1\."):
        records_of(client, k=-1)


def test_nothing_else_is_public(client):
    told = client.view_api(return_format="dict")
    assert list(told["named_endpoints"]) == ["/generate", "/run_trace"] and not told["unnamed_endpoints"]
