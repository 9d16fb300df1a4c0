"""Control values, a loader and messages for tests of the handlers, without a browser."""

from __future__ import annotations

import json

from specviz.core.settings import SpecvizError
from tests.conftest import tiny_pair

KEY = ("target12", "draft12", "")
VALUES = {
    "prompt": "w1 w2",
    "strategy": "sampling",
    "k": 3,
    "max_new_tokens": 30,
    "chat": False,
    "seed": 1,
    "target": KEY[0],
    "draft": KEY[1],
    "dtype": "",
}


def load(target, draft, dtype="auto", progress=None):
    progress(0.5, f"Loading {target} …")
    if target == "missing":
        raise SpecvizError("There is no model named missing; check the name.")
    return tiny_pair(target, draft or None)


def told(messages):
    return [json.loads(text) for text in messages]
