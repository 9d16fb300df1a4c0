"""One kind of work of one visitor: the latest press of its button wins, and Stop ends it.

The work holds the claim that its press made, and looks at it between two steps::

    claim = job.claim()
    while claim.is_current:
        step()

So a claim costs its holder nothing but a look, and nobody waits for work that was told to end.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


def _set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """One press of a button. `number`: 1 for the first press of its job. `purpose`: what it was pressed for.

    `delivered`: set while nothing that the work has said is still on its way to the browser.
    """

    job: Job
    number: int
    purpose: str = ""
    delivered: threading.Event = field(default_factory=_set_event)

    @property
    def is_current(self) -> bool:
        """Whether the work goes on: no later press, no Stop."""
        return self.job.is_current(self)

    @property
    def is_latest(self) -> bool:
        """Whether no later press was made, stopped or not: what this work has to say last is still of interest."""
        return self.job.latest is self


class Job:
    """Presses of one button, for any number of threads. `latest`: the claim of the last press, None before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self.latest: Claim | None = None

    def claim(self, purpose: str = "", share: bool = False) -> Claim:
        """The claim of a new press, which ends all others.

        `share`: where the current claim was made for the same purpose, that one, so that both go on.
        """
        with self._lock:
            before = self.latest
            if share and before is not None and not self._stopped and before.purpose == purpose:
                return before
            return self._next(purpose)

    def stop(self) -> int:
        """End the current work, if any. Returns the number of the latest claim, 0 before the first."""
        with self._lock:
            self._stopped = True
            return self.latest.number if self.latest else 0

    def silence(self, timeout_s: float) -> None:
        """End the current work, whose last word is lost; returns once what it has said is delivered, or after so long."""
        with self._lock:
            before, _ = self.latest, self._next("")
            self._stopped = True
        if before is not None:
            before.delivered.wait(timeout_s)

    def is_current(self, claim: Claim) -> bool:
        """Whether `claim` is the latest and was not stopped."""
        with self._lock:
            return self.latest is claim and not self._stopped

    def _next(self, purpose: str) -> Claim:
        self._stopped = False
        self.latest = Claim(self, self.latest.number + 1 if self.latest else 1, purpose)
        return self.latest


class Jobs:
    """The jobs of one visitor by name; each is made when it is first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def __getitem__(self, name: str) -> Job:
        with self._lock:
            return self._jobs.setdefault(name, Job())
