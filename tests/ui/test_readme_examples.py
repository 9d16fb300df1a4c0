"""The examples of docs/API.md, run as they are against an app with tiny models."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.metrics.summary import summary
from specviz.traces.trace import Trace
from tests.ui import browser

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "API.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(python|bash)\n(.*?)```", SECTION, re.S)


@pytest.fixture(scope="module")
def answers():
    """What each example prints, by the word that tells it from the others."""
    demo, url = browser.launch(mcp_server=True)
    found = {}
    for language, code in EXAMPLES:
        assert "http://127.0.0.1:7860" in code
        code = code.replace("http://127.0.0.1:7860", url.rstrip("/"))
        command = [sys.executable, "-c", code] if language == "python" else ["bash", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        found["mcp" if "mcp" in code else "client" if language == "python" else "curl"] = done.stdout
    yield found
    demo.close(verbose=False)


def test_there_is_an_example_for_each_way(answers):
    assert set(answers) == {"client", "curl", "mcp"}


def test_the_client_streams_records_and_gets_a_whole_trace(answers):
    *records, last = answers["client"].strip().splitlines()
    assert records[0].startswith("step 0 ") and records[-1].startswith("end ")
    rate, steps = last.split()
    assert 0 <= float(rate) <= 1 and int(steps) > 0


def test_plain_http_gets_the_summary_with_the_speed_up(answers):
    assert "event: complete" in answers["curl"]
    data = json.loads(re.search(r"^data: (\[.*)$", answers["curl"], re.M).group(1))
    answer = json.loads(data[0])
    assert answer["trace"] is None and answer["summary"]["same_as_alone"] is True
    assert answer["summary"]["tokens"] == 12 and answer["summary"]["speed_up"] > 0


def test_an_mcp_client_calls_it_as_a_tool(answers):
    assert "'tokens': 12" in answers["mcp"] and "'target_passes'" in answers["mcp"]


def test_the_trace_of_the_endpoint_is_the_one_python_makes():
    from gradio_client import Client  # noqa: PLC0415

    client = Client(browser.address(), verbose=False)
    answer = json.loads(client.predict("Hello", k=3, max_new_tokens=9, seed=4, api_name="/run_trace"))
    trace = Trace.from_json(json.dumps(answer["trace"]))
    assert answer["summary"] == summary(trace) | {
        name: answer["summary"][name]
        for name in ("tokens_per_s",)  # times are rounded in the trace
    }
    assert len(trace.output_ids) == 9 and trace.baseline is None
    for bad, sentence in ({"k": -1}, "K must be"), ({"target": "missing"}, "no model named"):
        with pytest.raises(Exception, match=sentence):
            client.predict("Hello", **bad, api_name="/run_trace")
