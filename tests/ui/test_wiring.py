"""How the page's events are declared, without a browser."""

from __future__ import annotations

import pytest

from specviz.ui import app
from specviz.ui.panel import TABLES
from tests.sessions.handlers import load


@pytest.fixture(scope="module")
def config():
    return app.build(load, preload=False).config


def test_of_values_set_in_quick_succession_the_last_is_always_heard(config):
    names = {f"sv-{name.replace('_', '-')}" for name in (*TABLES, "k", "target", "draft", "preset", "prompt")}
    controls = {
        item["id"]: item["props"]["elem_id"] for item in config["components"] if item["props"].get("elem_id") in names
    }
    assert set(controls.values()) == names
    heard = set()
    for event in config["dependencies"]:
        for target, kind in event["targets"]:
            # what the browser answers alone is done before the next
            if target in controls and kind in ("input", "change") and event["backend_fn"]:
                assert event["trigger_mode"] in ("always_last", "multiple"), (controls[target], kind)
                heard.add(controls[target])
    assert heard == names
