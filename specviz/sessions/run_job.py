"""The job of driving a visitor's run: one claim at a time holds the run; Reset and another page end it for good."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from specviz.sessions.job import Claim, Job

POLL_S = 0.05


class RunJob(Job):
    """Claims for "step", "play", "measure" or "load", of which one at a time holds the run.

    `loaded`: target, draft and dtype, as typed, that were loaded last. `turns_taken`: how many turns its claims took.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loaded: tuple[str, str, str] = ("default", "", "auto")  # at first the default pair
        self.turns_taken = 0
        self._busy = threading.Lock()
        self._holder: Claim | None = None
        self._fetching = False
        self._emptied = self._handed_over = 0

    @contextmanager
    def hold(self, claim: Claim) -> Iterator[bool]:
        """Be the only one that changes the run; False where another claim came before this one's turn to hold it.

        Waits for the holder before, which ends within a step.
        """
        while not self._busy.acquire(timeout=POLL_S):
            if not claim.is_current:
                yield False
                return
        self._holder = claim
        try:
            yield True
        finally:
            self._busy.release()

    @property
    def is_held(self) -> bool:
        """Whether a claim holds the run, even one that is about to end."""
        return self._busy.locked()

    @property
    def is_driven(self) -> bool:
        """Whether the claim that holds the run goes on doing so."""
        holder = self._holder
        return self.is_held and holder is not None and holder.is_current

    @property
    def is_fetching(self) -> bool:
        """Whether the holder waits for models."""
        return self._fetching

    def is_doing(self, purpose: str) -> bool:
        """Whether the run is driven for this purpose already, and its models are here."""
        latest = self.latest
        return self.is_driven and not self._fetching and latest is not None and latest.purpose == purpose

    @contextmanager
    def fetching(self) -> Iterator[None]:
        """Around the wait for models."""
        self._fetching = True
        try:
            yield
        finally:
            self._fetching = False

    def has_loaded(self, models: tuple[str, str, str]) -> None:
        """Write down which models arrived last: target, draft and dtype as typed."""
        self.loaded = models

    def took_turn(self) -> None:
        """Count one turn; in the decoding thread only."""
        self.turns_taken += 1

    def empty(self) -> None:
        """Reset: end the current claim; nothing that it or earlier ones have to say reaches the page any more."""
        self._emptied = self.stop()

    def hand_over(self) -> None:
        """Another page goes on with the run: end the current claim, whose page is told so."""
        self._handed_over = self.stop()

    def was_emptied(self, claim: Claim) -> bool:
        """Whether a Reset came after this claim."""
        return claim.number <= self._emptied

    def was_handed_over(self, claim: Claim) -> bool:
        """Whether another page took the run over after this claim."""
        return claim.number <= self._handed_over
