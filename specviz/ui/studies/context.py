"""What a study may use: who asks, where the controls stand, the run on screen, and the ways to wire an event.

A study is a function ``add(context)`` that makes its widgets and wires them. Example of a study that looks at the run on
screen whenever it is opened, whenever that run pauses or ends, and when asked::

    with gr.Accordion("Where the time went", open=False) as unfolded:
        again = gr.Button("Look again")
        drawn = Piece("")
    context.looks(unfolded, again, lambda trace: views.timeline.html(trace), drawn)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import gradio as gr

from specviz.core.settings import SpecvizError
from specviz.core.words import say
from specviz.recordings import gallery
from specviz.sessions.job import Claim
from specviz.sessions.services import Services
from specviz.sessions.visitors import Visitor
from specviz.traces.trace import Trace
from specviz.ui.panel import Panel

SHOWN_JS = "(_, ...rest) => [document.querySelector('#sv-view .sv-root')?.dataset.shown ?? '', ...rest]"
"""Puts what is on screen into the first input; the browser alone knows (`assets/live.js`)."""
SENT_S = 5.0
"""A frame is sent much sooner, unless its tab is gone."""
Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class StudyContext:
    """Bound to one app. `panel`: all controls; `quick`, `long`: keywords of events that answer at once or stream; of the
    latter the latest press counts (`latest`)."""

    services: Services
    panel: Panel
    view: gr.HTML
    quick: dict[str, Any]
    long: dict[str, Any]

    def visitor(self, request: gr.Request) -> Visitor:
        """Who asks."""
        return self.services.visitors.of(request.session_hash)

    def settled(self, request: gr.Request, raw: Sequence[Any]) -> Visitor:
        """Who asks, with the controls (`panel.widgets`, in order) written down."""
        visitor = self.visitor(request)
        visitor.controls.take(dict(zip(self.panel.names, raw, strict=True)))
        return visitor

    def latest(self, request: gr.Request, job: str, work: Callable[[Claim], Iterable[Seen]]) -> Iterator[Any]:
        """What `work` gives for a new claim on the visitor's job, until a later press: that has the last word.

        A work that was superseded ends with a frame that changes nothing (`gr.skip`).
        """
        claim = self.visitor(request).jobs[job].claim()
        try:
            for seen in work(claim):
                claim.delivered.clear()
                if not claim.is_latest:
                    # Gradio sends the last frame once more at the end: let that be one that changes nothing
                    yield gr.skip()
                    return
                yield seen
                claim.delivered.set()  # Gradio has sent it: it asks for the next
        finally:
            claim.delivered.set()

    def stops(self, button: gr.Button, job: str) -> None:
        """Let `button` end the visitor's job, which says so itself."""

        def stop(request: gr.Request) -> None:
            self.visitor(request).jobs[job].stop()

        button.click(stop, None, None, **self.quick)

    def supersede(self, request: gr.Request, job: str) -> None:
        """From now on nothing comes of the job any more; returns once what is on its way has been sent."""
        self.visitor(request).jobs[job].silence(SENT_S)

    def on_screen(self, shown: str) -> Trace:
        """The run or recording that the browser shows (`SHOWN_JS`), as far as it has come. Raises SpecvizError."""
        try:
            asked = json.loads(shown or "{}")
        except ValueError:
            asked = {}
        if not isinstance(asked, dict):
            raise SpecvizError(say("studies.no_run"))
        if asked.get("name"):
            return gallery.read(str(asked["name"]))
        if asked.get("kept"):
            return self.services.files.kept(str(asked["kept"]))
        visitor = self.services.visitors.by_run(str(asked.get("r") or ""))
        if visitor is None or visitor.run is None:
            raise SpecvizError(say("studies.no_run"))
        # between two steps, so that text and steps belong together
        return self.services.queue.submit(visitor.run.trace).result()

    def looks(
        self,
        unfolded: gr.Accordion,
        again: gr.Button | None,
        draw: Callable[[Trace], Any],
        outputs: Any,
        line: Any = None,
    ) -> None:
        """Call `draw` with the run on screen when the study is unfolded, when a run comes to rest meanwhile, and on
        `again`, if given. `draw` returns values for `outputs` (one, or a list of them); what is wrong is shown as text in the
        first of `outputs`, or in `line` where that is given."""
        told = [outputs] if not isinstance(outputs, list) else outputs
        told = told if line is None else [line, *told]
        hidden, name = gr.Textbox(visible=False), f"study {unfolded.elem_id}"

        def put(values: list[Any]) -> Any:
            return values if len(told) > 1 else values[0]  # Gradio takes a list of one for a value

        def look(shown: str) -> Any:
            try:
                found = draw(self.on_screen(shown))
            except SpecvizError as error:
                # the explanation of another run must not stay below the sentence that there is none
                rest = [gr.update(value="") if isinstance(part, gr.HTML) else gr.update() for part in told[1:]]
                return put([str(error), *rest])
            found = found if isinstance(found, list) else [found]
            return put(found if line is None else ["", *found])

        def open_(shown: str, request: gr.Request) -> Any:
            self.visitor(request).unfolded.add(name)
            return look(shown)

        def close(request: gr.Request) -> None:
            self.visitor(request).unfolded.discard(name)

        def rested(shown: str, request: gr.Request) -> Any:
            if name in self.visitor(request).unfolded:
                return look(shown)
            return put([gr.update()] * len(told))

        unfolded.expand(open_, hidden, told, js=SHOWN_JS, **self.quick)
        unfolded.collapse(close, None, None, **self.quick)
        if again is not None:
            again.click(look, hidden, told, js=SHOWN_JS, **self.quick)
        self.view.rested(rested, hidden, told, js=SHOWN_JS, **self.quick)
