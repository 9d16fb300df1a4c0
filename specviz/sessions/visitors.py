"""Who is here: each visitor's controls, run and jobs, and when they are forgotten.

Plain objects and locks, no Gradio, no models. A visitor is found by the session's hash, a run by an unguessable id.
Nothing here is shared between visitors.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from specviz.sessions.control_values import ControlValues
from specviz.sessions.job import Jobs
from specviz.sessions.run_job import RunJob
from specviz.sessions.shown_run import ShownRun
from specviz.sessions.sweep_results import SweepResults

if TYPE_CHECKING:
    from specviz.decoding.state import Run

MAX_VISITORS = 32
IDLE_S = 30 * 60


def _numbers() -> Iterator[int]:
    # from the clock's milliseconds on, so that a tab whose run another took over and who is a new visitor now goes on
    # with higher numbers
    return count(time.time_ns() // 1_000_000 + 1)


@dataclass(slots=True)
class Visitor:
    """One browser tab. Each part has a module of its own, and only that changes it.

    `driver`: the job of driving the run; `jobs`: those of the studies. `unfolded`: studies that are open on the page.
    `told`: number of the last message.
    """

    controls: ControlValues = field(default_factory=ControlValues)
    shown: ShownRun = field(default_factory=ShownRun)
    driver: RunJob = field(default_factory=RunJob)
    jobs: Jobs = field(default_factory=Jobs)
    swept: SweepResults = field(default_factory=SweepResults)
    unfolded: set[str] = field(default_factory=set)
    told: int = 0
    seen: float = field(default_factory=time.monotonic)
    _numbers: Iterator[int] = field(default_factory=_numbers)

    @property
    def run(self) -> Run | None:
        """The run on screen, None on an empty page."""
        return self.shown.run

    def adopt(self, run: Run) -> None:
        """Make `run` this visitor's."""
        self.shown.put(run, self.controls.origin)
        self.controls.draw_seed()

    def forget_run(self) -> None:
        """Back to the empty page."""
        self.driver.empty()
        self.shown.clear()

    def next_seq(self) -> int:
        """Number of the next message, one count for all of this tab; the browser drops what it has seen."""
        self.told = next(self._numbers)
        return self.told


class Visitors:
    """The visitors that were here last; the longest unseen is forgotten first, caches and all."""

    def __init__(self, limit: int = MAX_VISITORS, idle_s: float = IDLE_S) -> None:
        self.limit = limit
        self.idle_s = idle_s
        self._all: OrderedDict[str, Visitor] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: str | None) -> Visitor:
        """The visitor of this session, made on first sight.

        A caller without a session is a new visitor at each call, whom nobody finds again.
        """
        if not session:
            return Visitor()
        with self._lock:
            visitor = self._all.setdefault(session, Visitor())
            visitor.seen = time.monotonic()
            self._all.move_to_end(session)
            self._sweep()
            return visitor

    def by_run(self, run_id: str) -> Visitor | None:
        """The visitor whose run has this id, or None."""
        with self._lock:
            return next((v for v in self._all.values() if run_id and v.shown.id == run_id), None)

    def adopt(self, run_id: str, session: str | None) -> Visitor | None:
        """The visitor with this run, from now on that of `session`: its page was loaded again, or its tab copied.

        The later page takes over: whoever drives the run stops within a step, and the earlier page, if it is still
        there, is a new visitor from now on. A caller without a session takes nothing over.
        """
        with self._lock:
            old = next((k for k, v in self._all.items() if run_id and v.shown.id == run_id), None)
            if old is None or not session:
                return None
            if old == session:
                return self._all[session]
            visitor, other = self._all.pop(old), self._all.pop(session, None)
            if other is not None:
                other.driver.stop()
            self._all[session] = visitor
            visitor.driver.hand_over()
            visitor.seen = time.monotonic()
            return visitor

    def pairs_in_use(self) -> list[Any]:
        """Pairs that some visitor's run was started with."""
        with self._lock:
            return [v.run.pair for v in self._all.values() if v.run is not None]

    def _sweep(self) -> None:
        now = time.monotonic()
        # a run that is being driven is never forgotten, however many came after
        idle = [k for k, v in self._all.items() if not v.driver.is_held]
        surplus = len(self._all) - self.limit
        for rank, key in enumerate(idle[:-1]):
            if rank < surplus or now - self._all[key].seen > self.idle_s:
                del self._all[key]
