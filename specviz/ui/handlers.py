"""What the page's buttons and controls do: each handler finds who asks, writes controls down, and hands on to a driver.

Nothing here waits: a driver is a generator that Gradio pulls, and a control only writes down where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from specviz.core.prompts import PRESETS
from specviz.models.catalogue import PAIRS
from specviz.sessions import links
from specviz.sessions.next_action import MATTERS
from specviz.sessions.pair_choice import DEFAULT_TARGET, models_of
from specviz.sessions.services import Services
from specviz.sessions.visitors import Visitor
from specviz.ui.panel import Panel, hint, note
from specviz.views import wire


class Handlers:
    """Bound to the services and the controls of one app."""

    def __init__(self, services: Services, panel: Panel) -> None:
        self.services = services
        self.panel = panel

    def visitor(self, request: gr.Request) -> Visitor:
        """Who asks."""
        return self.services.visitors.of(request.session_hash)

    def settled(self, request: gr.Request, raw: tuple[Any, ...]) -> Visitor:
        """Who asks, with the controls (`panel.widgets`, in order) written down."""
        visitor = self.visitor(request)
        visitor.controls.take(dict(zip(self.panel.names, raw, strict=True)))
        return visitor

    # a generator function each, so that Gradio sees that they stream

    def play(self, request: gr.Request, *raw: Any) -> Iterator[str]:
        """Step until the run ends or somebody stops it."""
        yield from self.services.drivers.play(self.settled(request, raw), float("inf"))

    def step(self, request: gr.Request, *raw: Any) -> Iterator[str]:
        """One step."""
        yield from self.services.drivers.play(self.settled(request, raw), 1)

    def measure(self, request: gr.Request, *raw: Any) -> Iterator[str]:
        """The target alone."""
        yield from self.services.drivers.measure(self.settled(request, raw))

    def load(self, request: gr.Request, *raw: Any) -> Iterator[str]:
        """Load the chosen models."""
        yield from self.services.drivers.load(self.settled(request, raw))

    def pause(self, request: gr.Request) -> None:
        """Stop within a step."""
        self.visitor(request).driver.stop()

    def reset(self, request: gr.Request) -> str:
        """Back to the empty page."""
        visitor = self.visitor(request)
        visitor.forget_run()
        return wire.pack({"m": "clear", "seq": visitor.next_seq()})  # what has a lower number is too late

    def setter(self, name: str) -> Callable[[Any, gr.Request], Any]:
        """The handler of one control."""

        def handler(value: Any, request: gr.Request) -> Any:
            visitor = self.visitor(request)
            visitor.controls.take({name: value})
            return hint(visitor) if name in MATTERS else None

        return handler

    def explainer(self, name: str) -> Callable[[str], list[Any]]:
        """The handler of one menu: its help, and the own knobs of the chosen entry."""
        return lambda entry: self.panel.explain(name, entry)

    def fill(self, name: str, prompt: str, request: gr.Request) -> tuple[Any, Any, Any]:
        """Prompt, chat template and hint after an example was chosen."""
        chosen = PRESETS.get(name)
        # the menu's own word for a prompt that is no example, or the menu that followed the prompt
        if chosen is None or chosen.prompt == prompt:
            return gr.update(), gr.update(), gr.update()
        visitor = self.visitor(request)
        visitor.controls.take({"prompt": chosen.prompt, "chat": chosen.chat})
        return chosen.prompt, chosen.chat, hint(visitor)

    def arrive(self, arrival: str, request: gr.Request) -> list[Any]:
        """What a page that has just been loaded shows: view, then `panel.outputs`."""
        visitor, found, say = self.panel.arrive(self.services.visitors, request.session_hash, arrival)
        visitor.controls.take(found)
        updates = self.panel.put(found)
        if "target" not in found and "draft" not in found:
            updates[-1] = self.panel.pair_update({"target": DEFAULT_TARGET})
        return [note(visitor, say), *updates]

    def take_over(self, event: gr.EventData, request: gr.Request) -> list[Any]:
        """The controls as a recording has them."""
        found, _ = links.check(event._data or {})
        self.visitor(request).controls.take(found)
        return self.panel.put(found)

    def go_back(self, request: gr.Request) -> list[Any]:
        """The models that were loaded last."""
        visitor = self.visitor(request)
        models = dict(zip(("target", "draft", "dtype"), visitor.driver.loaded, strict=True))
        visitor.controls.take(models)
        return self.panel.put(models)

    def choose_pair(self, name: str, request: gr.Request, *raw: Any) -> Iterator[list[Any]]:
        """Target, draft, pair and view after the menu of pairs was turned: its models are loaded."""
        visitor, stood = self.visitor(request), dict(zip(self.panel.names, raw, strict=True))
        # the menu that followed the models typed below it, or the arrival, asks for nothing; and where the controls
        # stood then may be out of date by the time this is heard
        if name not in PAIRS or name == self.panel.pair_shown(stood):
            yield [gr.skip()] * 4  # nothing at all would empty them
            return
        target, draft = models_of(name)
        visitor.controls.take(stood | {"target": target, "draft": draft})
        yield [target, draft, self.panel.pair_update({"target": target, "draft": draft}), gr.skip()]
        for text in self.services.drivers.load(visitor):
            yield [gr.skip(), gr.skip(), gr.skip(), text]

    def own_pair(self, target: str, draft: str) -> Any:
        """The menu of pairs after target or draft were typed."""
        return self.panel.pair_update({"target": target or "", "draft": draft or ""})
