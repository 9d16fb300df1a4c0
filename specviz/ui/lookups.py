"""What the browser asks for outside the stream: missed steps, details of a step, the first recording, loading state.

Plain functions of one JSON value, called straight from the view's script; they wait for no queue and no model. Runs are
found by their unguessable id only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from specviz.models.describe import describe
from specviz.settings import SpecvizError
from specviz.trace import Trace
from specviz.ui.drive import resting, state_of
from specviz.ui.shelf import Key, Shelf
from specviz.ui.visitors import Visitors
from specviz.views import wire

TRACES = Path(__file__).resolve().parents[2] / "assets" / "traces"
FIRST_RECORDING = "explanation.json"
MOST_STEPS = 500


class Lookups:
    """Bound to the visitors and the shelf of one app."""

    def __init__(self, visitors: Visitors, shelf: Shelf, default: Key) -> None:
        self.visitors = visitors
        self.shelf = shelf
        self.default = default

    def functions(self) -> list[Callable[..., Any]]:
        """For `gr.HTML(server_functions=…)`, under these names."""

        def resync(asked: Any) -> dict[str, Any]:
            return self.resync(_dict(asked))

        def details(asked: Any) -> dict[str, Any]:
            return self.details(_dict(asked))

        def status(asked: Any) -> dict[str, Any]:
            return self.status()

        def recording(asked: Any) -> dict[str, Any]:
            return first_recording()

        return [resync, details, status, recording]

    def resync(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Steps of run `r` from number `f` on, at most `MOST_STEPS`, and how the run stands."""
        visitor, first = self.visitors.by_run(str(asked.get("r"))), asked.get("f")
        if visitor is None or visitor.run is None or not isinstance(first, int) or first < 0:
            return {"gone": True}
        run = visitor.run
        state = "playing" if visitor.busy.locked() else resting(run)
        content = state_of(visitor, first, state, most=MOST_STEPS, head=first == 0) | {
            "r": visitor.run_id,
            "n": len(run.steps),
        }
        if run.baseline is not None:
            content["b"] = wire.baseline(run.baseline)
        if state != "playing":
            content["text"] = run.text
        return content

    def details(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Both distributions at each place of step `i` of run `r`."""
        visitor, index = self.visitors.by_run(str(asked.get("r"))), asked.get("i")
        if visitor is None or visitor.run is None or not isinstance(index, int):
            return {"gone": True}
        steps = visitor.run.steps
        return wire.detail(steps[index]) if 0 <= index < len(steps) else {"gone": True}

    def status(self) -> dict[str, Any]:
        """How far the default pair is."""
        entry = self.shelf.ask(self.default)
        pair = describe(entry.pair) if entry.pair else None
        return {"state": entry.state, "say": entry.say, "progress": entry.progress, "pair": pair}


@cache
def first_recording() -> dict[str, Any]:
    """The real run that is on screen before any model is loaded."""
    path = TRACES / FIRST_RECORDING
    try:
        trace = Trace.from_json(path.read_text(encoding="utf-8"))
    except (OSError, SpecvizError) as error:
        return {"recording": None, "title": f"The recording cannot be read ({error}); press Play for a live run."}
    return {"recording": wire.recording(trace), "title": path.stem}


def _dict(asked: Any) -> dict[str, Any]:
    if isinstance(asked, str):
        try:
            asked = json.loads(asked)
        except ValueError:
            return {}
    return asked if isinstance(asked, dict) else {}
