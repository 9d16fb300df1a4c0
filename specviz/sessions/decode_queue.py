"""One thread that decodes for everybody, one step at a time, first come first served.

Runs are interleaved step by step; what a visitor waits for a turn lies outside all measured phases. One fixed thread,
because each thread that calls torch keeps a team of helper threads of its own; steps from twelve changing threads took
0 to 16 % longer (median 4 %, default pair on two cores).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


class DecodeQueue:
    """A queue of steps, for any number of threads. `taken`: turns that were begun so far, whoever's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode")
        self._open: list[Future[object]] = []
        self.taken = 0

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Stand in the queue. Cancel the future to leave it. `work` speaks the language of whoever submits it."""
        context = copy_context()

        def counted() -> T:
            self.taken += 1  # in the one thread of the pool
            return work()

        with self._lock:  # so that the list has the order of the queue, and nobody's entry is lost
            future = self._pool.submit(context.run, counted)
            self._open = [f for f in self._open if not f.done()] + [future]  # type: ignore[list-item]
        return future

    def ahead(self, future: Future[T]) -> int:
        """How many turns come before this one."""
        with self._lock:
            waiting = [f for f in self._open if not f.done()]
        return waiting.index(future) if future in waiting else 0  # type: ignore[arg-type]
