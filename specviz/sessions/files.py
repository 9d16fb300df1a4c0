"""Traces in and out of the page: the gallery's recordings, a run saved as a file, a file opened as a recording.

Plain functions of one JSON value, called straight from the view's script. Whatever a file holds, the answer is a whole
recording or one sentence. A saved run is exactly what `Trace.to_json` writes.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from specviz.core.settings import SpecvizError
from specviz.core.words import language, once_per_language, say, sentence, spoken
from specviz.decoding.knobs import own_knobs
from specviz.export.page import to_html
from specviz.metrics.telling_step import first_telling
from specviz.recordings import gallery
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.stops import write_stops
from specviz.sessions.visitors import Visitors
from specviz.traces.trace import DAMAGED, MAX_TRACE_CHARS, Trace, TraceError
from specviz.views import wire

log = logging.getLogger("specviz")
MOST_OPENED = 16
"""Opened files that are kept for studies, whoever opened them, as long as their text is no longer than that of the
longest file; the oldest goes first."""


class Files:
    """Bound to the visitors and the decode queue of one app. `opening`: a sentence beside the first recording."""

    def __init__(self, visitors: Visitors, queue: DecodeQueue, opening: str = "") -> None:
        self.visitors = visitors
        self.queue = queue
        self.opening = opening
        self._opened: OrderedDict[str, tuple[Trace, int]] = OrderedDict()
        self._lock = threading.Lock()  # visitors open files in several threads at once

    def functions(self) -> list[Callable[..., Any]]:
        """For `gr.HTML(server_functions=…)`, under these names."""

        def recordings(asked: Any) -> list[dict[str, str]]:
            return recordings_here()

        def recording(asked: Any) -> str:
            if name := _field(asked, "name"):
                return recording_named(str(name))
            return wire.pack(json.loads(recording_named(gallery.FIRST_RECORDING)) | {"opening": spoken(self.opening)})

        def opened(asked: Any) -> str:
            return self.open(_field(asked, "text"))

        def saved(asked: Any) -> dict[str, str]:
            return self.save(asked)

        def as_page(asked: Any) -> dict[str, str]:
            return self.as_page(asked)

        return [recordings, recording, opened, saved, as_page]

    def open(self, text: Any) -> str:
        """A file's text as the page gets it, or a sentence that says what is wrong with it.

        The trace is kept for a while, under an id that nobody can guess, so that it can be studied.
        """
        kept = secrets.token_urlsafe(12)
        try:
            trace, answer = read_text(text, kept)
        except SpecvizError as error:
            return wire.pack({"error": str(error)})
        with self._lock:
            self._opened[kept] = trace, len(text)
            while len(self._opened) > MOST_OPENED or (
                len(self._opened) > 1 and sum(size for _, size in self._opened.values()) > MAX_TRACE_CHARS
            ):
                self._opened.popitem(last=False)
        return answer

    def kept(self, kept: str) -> Trace:
        """A file that was opened a while ago. Raises TraceError where it is no longer here."""
        if (found := self._opened.get(kept)) is None:
            raise TraceError(sentence("files.too_old"))
        return found[0]

    def save(self, asked: Any) -> dict[str, str]:
        """The text and a file name of run `r` so far, or of the recording `name`."""
        try:
            trace, name = self._asked(asked)
            return {"json": trace.to_json(), "file": name + ".json"}
        except SpecvizError as error:
            return {"error": str(error)}

    def as_page(self, asked: Any) -> dict[str, str]:
        """The same run, or the opened file `kept`, as one HTML document that opens at its step number `step`."""
        try:
            trace, name = self._asked(asked)
            plan, step = gallery.RECORDINGS.get(str(_field(asked, "name"))), _field(asked, "step")
            page = to_html(
                trace,
                title=spoken(plan.title) if plan else "",
                step=step if isinstance(step, int) and step > 0 else None,
                language=language(),
            )
            return {"html": page, "file": name + ".html"}
        except SpecvizError as error:
            return {"error": str(error)}

    def _asked(self, asked: Any) -> tuple[Trace, str]:
        """The recording `name`, the opened file `kept`, or the run `r` so far, and how its file is named.

        Raises SpecvizError where there is none.
        """
        if name := _field(asked, "name"):
            return gallery.read(str(name)), f"specviz-{name}"
        if kept := _field(asked, "kept"):
            trace = self.kept(str(kept))
            return trace, file_name(trace)
        visitor = self.visitors.by_run(str(_field(asked, "r") or ""))
        if visitor is None or visitor.run is None:
            raise SpecvizError(say("files.no_run"))
        # between two steps, so that text and steps belong together
        trace = self.queue.submit(visitor.run.trace).result()
        return trace, file_name(trace)


def recordings_here() -> list[dict[str, str]]:
    """Name, title and one line of each recording that is there, then the same of each comparison.

    `slow`: words before the title of a recording that is slower than the target alone. `kind`: "run" or "comparison".
    A recording that cannot be read is listed without its speed-up; choosing it says what is wrong.
    """
    found = [
        {"kind": "run", "name": name, "title": spoken(gallery.RECORDINGS[name].title)} | _figures(name)
        for name in gallery.present()
    ]
    here = ((name, gallery.COMPARISONS[name]) for name in gallery.comparisons_present())
    return found + [
        {"kind": "comparison", "name": name, "title": spoken(plan.title), "line": spoken(plan.line), "slow": ""}
        for name, plan in here
    ]


def _figures(name: str) -> dict[str, str]:
    line = spoken(gallery.RECORDINGS[name].line)
    try:
        speed_up, slow = gallery.recorded_speed_up(name), gallery.slow(name)
    except TraceError as error:
        log.warning("the recording %s cannot be read: %s", name, error)
        return {"line": line, "slow": ""}
    if speed_up:
        line = say("recordings.speed_up", line=line, gain=f"{speed_up:.2f}")
    return {"line": line, "slow": spoken(slow)}


@once_per_language
def recording_named(name: str) -> str:
    """A gallery recording as the page gets it, or a sentence."""
    try:
        trace, plan = gallery.read(name), gallery.RECORDINGS[name]
        start = min(plan.start or first_telling(trace.steps), len(trace.steps))
        return _answer(trace, name=name, title=spoken(plan.title), start=start)
    except SpecvizError as error:
        return wire.pack({"error": str(error)})


def read_text(text: Any, kept: str) -> tuple[Trace, str]:
    """A file's text as a trace, and as the page gets it. Raises TraceError, one sentence, for whatever else it holds."""
    if not isinstance(text, str):
        raise TraceError(sentence("files.not_text"))
    try:
        trace = Trace.from_json(text)
        return trace, _answer(trace, kept=kept)
    except SpecvizError:
        raise
    except Exception as error:  # values of a kind that no trace holds, wherever they turn up
        log.info("a trace could not be shown: %s: %s", type(error).__name__, error)
        raise TraceError(DAMAGED) from error


def controls_of(trace: Trace) -> dict[str, Any]:
    """Where the controls must stand to run live what the recording began with; the pair is left as it is.

    Knobs of single strategies, draft lengths and rules that it does not name go back to their defaults.
    """
    if not trace.steps:
        return {}
    settings = trace.steps[0].settings.to_dict()
    options = settings.pop("options")
    stop = write_stops(settings.pop("stop"))
    usual = {name: knob.default for name, knob in own_knobs().items()}
    return {**usual, **settings, **options, "stop": stop, "prompt": trace.prompt}


def file_name(trace: Trace) -> str:
    """How a saved run is named without its ending: "specviz-what-is-photosynthesis"."""
    words = re.sub(r"[^a-z0-9]+", "-", trace.prompt.lower())[:40].strip("-")
    return f"specviz-{words or 'run'}"


def _answer(trace: Trace, **more: Any) -> str:
    # strict: a figure that is no number is an error here, not in the browser
    return wire.pack({"recording": wire.recording(trace), "controls": controls_of(trace), **more})


def _field(asked: Any, name: str) -> Any:
    return asked.get(name) if isinstance(asked, dict) else None
