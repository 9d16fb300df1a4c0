"""What the browser asks for outside the stream: missed steps, a run after a reload, details of a step, loading state.

Plain functions of one JSON value, called straight from the view's script; they wait for no queue and no model. Runs are
found by their unguessable id only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from specviz.core.words import spoken
from specviz.models.describe import described
from specviz.sessions.frames import resting, state_of
from specviz.sessions.model_cache import Key, ModelCache
from specviz.sessions.visitors import Visitors
from specviz.views import wire

MOST_STEPS = 500


class Lookups:
    """Bound to the visitors and the models of one app."""

    def __init__(self, visitors: Visitors, model_cache: ModelCache, default: Key) -> None:
        self.visitors = visitors
        self.model_cache = model_cache
        self.default = default

    def functions(self) -> list[Callable[..., Any]]:
        """For `gr.HTML(server_functions=…)`, under these names."""

        def resync(asked: Any) -> dict[str, Any]:
            return self.resync(_dict(asked))

        def details(asked: Any) -> dict[str, Any]:
            return self.details(_dict(asked))

        def status(asked: Any) -> dict[str, Any]:
            return self.status()

        return [resync, details, status]

    def resync(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Steps of run `r` from number `f` on, at most `MOST_STEPS`, and how the run stands; `head`: its prompt and models, too.

        `seq` of the answer is the number of the last message that was sent before it.
        `back`: a page that has just been loaded asks; whoever drove the run for the page before it is about to end.
        """
        visitor, first = self.visitors.by_run(str(asked.get("r"))), asked.get("f")
        if visitor is None or visitor.run is None or not isinstance(first, int) or first < 0:
            return {"gone": True}
        run, told = visitor.run, visitor.told  # before all else: what is sent from now on is newer than this answer
        state = "playing" if visitor.driver.is_driven and not asked.get("back") else resting(run)
        head = first == 0 or bool(asked.get("head"))
        content = state_of(visitor, first, state, most=MOST_STEPS, head=head) | {
            "r": visitor.shown.id,
            "n": len(run.steps),
            "seq": told,
        }
        if run.baseline is not None:
            content["b"] = wire.baseline(run.baseline)
        if state != "playing":
            content["text"] = run.text
        return content

    def details(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Both distributions at each position of step `i` of run `r`, and what it drafted `with` if with no model of the pair."""
        visitor, index = self.visitors.by_run(str(asked.get("r"))), asked.get("i")
        if visitor is None or visitor.run is None or not isinstance(index, int):
            return {"gone": True}
        steps = visitor.run.steps
        if not 0 <= index < len(steps):
            return {"gone": True}
        drafter = visitor.run.drafters.get(steps[index].settings.strategy)
        return wire.detail(steps[index]) | ({"with": drafter.about} if drafter and drafter.about else {})

    def status(self) -> dict[str, Any]:
        """How far the default pair is."""
        entry = self.model_cache.ask(self.default)
        pair = described(entry.pair) if entry.pair else None
        return {"state": entry.state, "say": spoken(entry.say), "progress": entry.progress, "pair": pair}


def _dict(asked: Any) -> dict[str, Any]:
    if isinstance(asked, str):
        try:
            asked = json.loads(asked)
        except ValueError:
            return {}
    return asked if isinstance(asked, dict) else {}
