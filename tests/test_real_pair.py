"""The real default pair, end to end: fetched, checked, decoded with, and played in a browser by the README's command.

Needs the network once (93 MB into the project's cache folder), then none.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from playwright.sync_api import sync_playwright

from specviz.core.settings import RunSettings
from specviz.decoding import baseline, engine
from specviz.metrics import count
from specviz.models.catalogue import DEFAULT_PAIR, MODELS, OFFLINE_PAIR, PAIRS
from specviz.models.loading import load_pair
from tests.ui.browser import ARGS, chromium_path

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def online():
    """What the other tests forbid: fetching."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SPECVIZ_OFFLINE", raising=False)
        yield


def test_the_default_pair_is_fetched_and_keeps_its_promise_in_float32(online):
    pair = load_pair("default", dtype="float32")
    assert pair.target.name in MODELS and pair.target.name not in PAIRS[OFFLINE_PAIR].targets, pair.notes
    assert pair.target.cache_mode == pair.draft.cache_mode == "rollback"
    settings = RunSettings(strategy="greedy", k=4, temperature=0, max_new_tokens=24, chat=True)
    run = engine.start(pair, "What is photosynthesis?", settings)
    engine.finish(run, settings)
    ids = torch.tensor([run.prompt_ids])
    plain = pair.target.model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=24,
        do_sample=False,
        eos_token_id=list(pair.target.eos_ids),
    )
    assert run.output_ids == plain[0, ids.shape[1] :].tolist()
    assert baseline.measure(run, settings).identical
    counts = count(run.steps)
    assert counts.accepted > 0 and counts.steps < 24  # the draft is of use


@pytest.mark.parametrize("strategy", ["feature head", "feature tree", "n-gram table", "4-bit copy"])
def test_what_comes_with_the_code_drafts_for_the_default_target_and_changes_nothing(online, strategy):
    pair = load_pair("default", dtype="float32")
    settings = RunSettings(strategy=strategy, k=3, temperature=0, max_new_tokens=24, chat=True)
    trace = engine.run(pair, "What is photosynthesis?", settings)
    alone = engine.run(pair, "What is photosynthesis?", replace(settings, strategy="none", k=0))
    assert trace.output_ids == alone.output_ids
    assert count(trace.steps).accepted >= 3 and trace.pair["drafted_with"][strategy]


def test_the_tiny_draft_agrees_less_often_at_a_lower_cost_and_changes_nothing(online):
    names = ("smollm2-draft-small", "smollm2-draft-tiny")
    settings = RunSettings(strategy="greedy", k=3, temperature=0, max_new_tokens=24, chat=True)
    small, tiny = (load_pair(PAIRS[DEFAULT_PAIR].targets[1], name, dtype="float32") for name in names)
    traces = [engine.run(pair, "What is photosynthesis?", settings) for pair in (small, tiny)]
    assert traces[0].output_ids == traces[1].output_ids
    assert all(count(trace.steps).accepted > 0 for trace in traces)
    assert MODELS[names[1]].parameters < 0.7 * MODELS[names[0]].parameters


def test_the_readmes_command_starts_an_app_that_plays_it_live(online, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if k != "SPECVIZ_OFFLINE"} | {"GRADIO_SERVER_PORT": str(port)}
    with open(tmp_path / "app.log", "w") as log:
        app = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}/"
        _wait_for(url, app, tmp_path / "app.log")
        with sync_playwright() as p:
            page = p.chromium.launch(executable_path=chromium_path(), args=ARGS).new_page()
            errors: list[str] = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(url)
            page.get_by_text("This is a recording of a real run").or_(
                page.get_by_text("a recording of a real run")
            ).first.wait_for()
            page.click("#sv-live")
            page.wait_for_function(
                "/in [1-9][0-9]* target passes?/.test(document.querySelector('.sv-root').innerText)"
                " && document.querySelector('.sv-pill').innerText.match(/Running|Finished/)",
                timeout=120_000,
            )
            page.click("#sv-pause")
            assert "SmolLM2-135M-Instruct" in page.inner_text(".sv-pair")
            assert not errors
    finally:
        app.terminate()
        app.wait(20)


def _wait_for(url: str, app: subprocess.Popen, log: Path) -> None:
    for _ in range(240):
        assert app.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())
