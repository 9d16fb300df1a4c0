"""The cache of models: loaded once per process, in the background, kept while somebody uses them.

A pair that nobody's run uses is put away before another is loaded, so memory holds at most `LIMIT` unused pairs.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from specviz.core.settings import SpecvizError
from specviz.core.words import sentence

if TYPE_CHECKING:
    from specviz.models.pair import Pair

LIMIT = 2
RETRY_S = 30
POLL_S = 0.05
STALLED_S = 15 * 60
"""Whoever waits for a pair gives up when its loading has reported nothing for so long; the loading itself goes on."""
BEGUN = sentence("sessions.begun")
OTHERS_FIRST = sentence("sessions.others_first")
FAULT = sentence("sessions.load_fault")
STALLED = sentence("sessions.stalled", minutes=STALLED_S // 60)
log = logging.getLogger("specviz")

Said = TypeVar("Said")
Key = tuple[str, str, str]
"""Target, draft, dtype as typed."""


@dataclass(slots=True)
class Loading:
    """State of one pair. `progress` 0…1 or None where it cannot be told. `reported`: when it was, on the clock of
    `time.monotonic`; None while other models come first. `say`: a sentence, to be `spoken` to each who waits."""

    state: Literal["loading", "ready", "error"] = "loading"
    say: str = BEGUN
    progress: float | None = None
    reported: float | None = None
    pair: Pair | None = None
    ended: float = 0.0
    crashed: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def report(self, progress: float | None, say: str) -> None:
        """Write down how far it is."""
        self.progress, self.say, self.reported = progress, say, time.monotonic()

    def looks(self) -> Iterator[bool]:
        """Whether there is news, at each look until `done` is set; the caller pauses for `POLL_S` between two looks.

        Raises NotLoaded after `STALLED_S` without a report.
        """
        told = None
        while not self.done.is_set():
            if self.reported is not None and time.monotonic() - self.reported > STALLED_S:
                raise NotLoaded(STALLED, crashed=False)
            before, told = told, (self.say, self.progress)
            yield told != before

    def arrived(self) -> Pair:
        """The pair, once `done` is set. Raises NotLoaded where it could not be loaded."""
        if self.pair is None:
            raise NotLoaded(self.say, self.crashed)
        return self.pair


class NotLoaded(SpecvizError):
    """The wanted pair could not be loaded. `crashed`: by a fault of the program, not of the wish."""

    def __init__(self, say: str, crashed: bool) -> None:
        super().__init__(say)
        self.crashed = crashed


class ModelCache:
    """Pairs by what was asked for."""

    def __init__(self, load: Callable[..., Pair], in_use: Callable[[], list[Pair]] = list) -> None:
        self._load = load
        self._in_use = in_use
        self._pairs: OrderedDict[Key, Loading] = OrderedDict()
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def ask(self, key: Key) -> Loading:
        """State of this pair; starts loading it in the background on first sight, or again some time after an error."""
        with self._lock:
            entry = self._pairs.get(key)
            if entry and entry.state == "error" and time.monotonic() - entry.ended > RETRY_S:
                entry = None
            if entry is None:
                # set here: whoever asked looks before the thread has begun
                entry = self._pairs[key] = Loading(say=OTHERS_FIRST if self._one_at_a_time.locked() else BEGUN)
                threading.Thread(target=self._fill, args=(key, entry), name="load-pair", daemon=True).start()
            self._pairs.move_to_end(key)
            return entry

    def loaded(self, key: Key) -> Pair | None:
        """This pair if it is here; loads nothing."""
        with self._lock:
            entry = self._pairs.get(key)
            return entry.pair if entry else None

    def here(self) -> list[Pair]:
        """All pairs in memory."""
        with self._lock:
            return [entry.pair for entry in self._pairs.values() if entry.pair]

    def again(self, key: Key) -> Loading:
        """As `ask`, but a failed pair is tried again at once: somebody pressed the button."""
        with self._lock:
            if (entry := self._pairs.get(key)) and entry.state == "error":
                del self._pairs[key]
        return self.ask(key)

    def _fill(self, key: Key, entry: Loading) -> None:
        if self._one_at_a_time.locked():
            entry.say = OTHERS_FIRST
        with self._one_at_a_time:
            entry.report(None, BEGUN)
            self._make_room(key)
            target, draft, dtype = key
            try:
                entry.pair = self._load(target, draft or None, dtype=dtype or "auto", progress=entry.report)
                entry.progress, entry.say, entry.state = 1.0, sentence("sessions.ready"), "ready"
            except SpecvizError as error:
                entry.say, entry.state = error.sentence, "error"
            except Exception:  # a thread has nobody above it to tell: the page and the console are told
                log.exception("loading %s failed", key)
                entry.crashed = True
                entry.say, entry.state = FAULT, "error"
            finally:
                entry.ended = time.monotonic()
                entry.done.set()

    def _make_room(self, coming: Key) -> None:
        used = {id(pair) for pair in self._in_use()}
        with self._lock:
            idle = [k for k, e in self._pairs.items() if k != coming and e.pair and id(e.pair) not in used]
            for key in idle[: max(0, len(idle) - (LIMIT - 1))]:
                del self._pairs[key]
        gc.collect()


def until_loaded(
    loading: Loading, go_on: Callable[[], bool], say: Callable[[Loading], Said]
) -> Generator[Said, None, Pair | None]:
    """Wait for a pair, giving what `say` makes of its state whenever there is news; None as soon as `go_on` says no.

    Raises NotLoaded where it cannot be loaded, and where nothing was reported for `STALLED_S`.
    """
    for news in loading.looks():
        if not go_on():
            return None
        if news:
            yield say(loading)
        loading.done.wait(POLL_S)
    return loading.arrived()
