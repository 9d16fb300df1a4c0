"""The app as a host starts it: on a Space, with no network, no GPU and nothing fetched before."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from specviz.ui.app import launch_options

ROOT = Path(__file__).resolve().parents[1]


def test_on_a_space_without_network_it_starts_and_runs_on_what_came_with_the_code(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "SPACE_ID": "owner/space",
        "SPECVIZ_OFFLINE": "1",
        "SPECVIZ_CACHE": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hub"),
        "CUDA_VISIBLE_DEVICES": "",
        "GRADIO_SERVER_PORT": str(port),
    }
    log = tmp_path / "app.log"
    with open(log, "w") as stream:
        app = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=stream, stderr=stream)
    try:
        url = f"http://127.0.0.1:{port}/"
        for _ in range(240):
            assert app.poll() is None, log.read_text()
            try:
                if httpx.get(url, timeout=5).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.5)
        asked = {"prompt": "Once upon a time", "strategy": "prompt lookup", "max_new_tokens": 4, "with_trace": False}
        started = httpx.post(f"{url}gradio_api/call/v2/run_trace", json=asked, timeout=60)
        event = started.json()["event_id"]
        told = httpx.get(f"{url}gradio_api/call/run_trace/{event}", timeout=120).text.strip().split("\n")[-1]
        found = json.loads(json.loads(told.removeprefix("data: "))[0])["summary"]
        assert found["tokens"] == 4 and found["target"] == "smollm2-draft-small"
    finally:
        app.terminate()
        app.wait(20)
    words = log.read_text()
    assert "public URL" not in words and "gradio.live" not in words and "Traceback" not in words, words


def test_nothing_is_shared_with_the_world_by_default():
    assert not launch_options().get("share")
