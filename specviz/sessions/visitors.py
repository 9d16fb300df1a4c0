"""Who is here: each visitor's controls and run, and when they are forgotten.

Plain objects and locks, no Gradio, no models. A visitor is found by the session's hash, a run by an unguessable id.
Nothing here is shared between visitors.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specviz.core.settings import RunSettings

if TYPE_CHECKING:
    from specviz.decoding.state import Run
    from specviz.experiments.sweep import Outcome, Rows

MAX_VISITORS = 32
IDLE_S = 30 * 60


@dataclass(slots=True)
class Swept:
    """A visitor's sweeps so far. `claims` counts what was begun or stopped: who holds an old number ends.

    `done`: outcomes by what was measured. `rows`: rows once made of them.
    """

    claims: int = 0
    done: dict[str, Outcome] = field(default_factory=dict)
    rows: Rows = field(default_factory=dict)


@dataclass(slots=True)
class Visitor:
    """One browser tab. `values`: what its controls stand at, checked only when a step needs them.

    `driver` counts claims: whoever drives a run holds a number, and stops when a later claim has changed it, so there
    are never two drivers on one run and Pause takes effect within one step. `holder`: the number of who drives now;
    `taken`: the number under which another tab took the run over, 0 if none did; `fetching`: the driver waits for models;
    `emptied`: the number of the last Reset, of whoever drove before which nothing is told any more.
    `doing`: what the last claim was for, "step", "play" or "measure", or empty. `begun`: the last press of each study's button.
    `comparing` counts comparisons begun and stopped, likewise; `swept`: sweeps, with what they found. `unfolded`: studies
    that are open on the page. `turns`: how many turns its driver took.
    """

    values: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    run_id: str = ""
    made_from: tuple[Any, ...] = ()
    drawn_seed: int = field(default_factory=lambda: secrets.randbelow(2**31))
    driver: int = 0
    doing: str = ""
    holder: int = 0
    taken: int = 0
    fetching: bool = False
    emptied: int = 0
    comparing: int = 0
    turns: int = 0
    swept: Swept = field(default_factory=Swept)
    unfolded: set[str] = field(default_factory=set)
    begun: dict[str, threading.Event] = field(default_factory=dict)
    # target, draft and dtype as typed: what was loaded last; at first the default pair
    worked: tuple[str, str, str] = ("default", "", "auto")
    seen: float = field(default_factory=time.monotonic)
    busy: threading.Lock = field(default_factory=threading.Lock)
    # one counter for all messages of this tab; the browser drops what it has seen. It begins at the clock's milliseconds,
    # so that a tab whose run another took over and who is a new visitor now goes on with higher numbers
    seq: int = field(default_factory=lambda: time.time_ns() // 1_000_000)

    def claim(self, doing: str = "") -> int:
        """Take over driving; whoever drove before stops before its next step."""
        self.driver += 1
        self.doing = doing
        return self.driver

    @property
    def driven(self) -> bool:
        """Whether somebody drives the run and goes on doing so."""
        return self.busy.locked() and self.holder == self.driver

    def at_it(self, doing: str) -> bool:
        """Whether the run is driven for this already, and nobody waits for models first."""
        return self.driven and self.doing == doing and not self.fetching

    def settings(self) -> RunSettings:
        """The controls as they stand now. Raises SettingsError."""
        names = RunSettings.__dataclass_fields__
        values = {name: value for name, value in self.values.items() if name in names}
        if "seed" in values and values["seed"] is None:  # a blank seed is a fresh one for each run
            values["seed"] = self.drawn_seed
        return RunSettings(**values)

    @property
    def origin(self) -> tuple[Any, ...]:
        """What a run is made from and cannot change midway; a run with another origin is begun anew."""
        models = (str(self.values.get(name) or "").strip() for name in ("target", "draft", "dtype"))
        return (*(self.values.get(name) for name in ("prompt", "chat", "seed")), *models)

    def adopt(self, run: Run) -> None:
        """Make `run` this visitor's, under a new id that nobody can guess."""
        self.run, self.run_id, self.made_from = run, secrets.token_urlsafe(12), self.origin
        self.drawn_seed = secrets.randbelow(2**31)

    def forget_run(self) -> None:
        """Back to the empty state."""
        self.emptied = self.claim()
        self.run, self.run_id = None, ""

    def next_seq(self) -> int:
        """Number of the next message."""
        self.seq += 1
        return self.seq


class Visitors:
    """The visitors that were here last; the longest unseen is forgotten first, caches and all."""

    def __init__(self, limit: int = MAX_VISITORS, idle_s: float = IDLE_S) -> None:
        self.limit = limit
        self.idle_s = idle_s
        self._all: OrderedDict[str, Visitor] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: str | None) -> Visitor:
        """The visitor of this session, made on first sight."""
        key = session or "nobody"
        with self._lock:
            visitor = self._all.setdefault(key, Visitor())
            visitor.seen = time.monotonic()
            self._all.move_to_end(key)
            self._sweep()
            return visitor

    def by_run(self, run_id: str) -> Visitor | None:
        """The visitor whose run has this id, or None."""
        with self._lock:
            return next((v for v in self._all.values() if run_id and v.run_id == run_id), None)

    def adopt(self, run_id: str, session: str | None) -> Visitor | None:
        """The visitor with this run, from now on that of `session`: its page was loaded again, or its tab copied.

        The later page takes over: whoever drives the run stops within a step, and the earlier page, if it is still
        there, is a new visitor from now on.
        """
        key = session or "nobody"
        with self._lock:
            old = next((k for k, v in self._all.items() if run_id and v.run_id == run_id), None)
            if old is None or old == key:
                return None if old is None else self._all[key]
            visitor, other = self._all.pop(old), self._all.pop(key, None)
            if other is not None:
                other.claim()
            self._all[key] = visitor
            visitor.taken, visitor.seen = visitor.claim(), time.monotonic()
            return visitor

    def pairs_in_use(self) -> list[Any]:
        """Pairs that some visitor's run was started with."""
        with self._lock:
            return [v.run.pair for v in self._all.values() if v.run is not None]

    def _sweep(self) -> None:
        now = time.monotonic()
        # a run that is being driven is never forgotten, however many came after
        idle = [k for k, v in self._all.items() if not v.busy.locked()]
        surplus = len(self._all) - self.limit
        for place, key in enumerate(idle[:-1]):
            if place < surplus or now - self._all[key].seen > self.idle_s:
                del self._all[key]
