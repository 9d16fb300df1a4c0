"""What the driver of a run waits for, telling the browser meanwhile: models, a prompt to be read, measured costs, its turn.

Generators of messages, as in `drive.py`; each ends where `claim`, that of the driver, is no longer current.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, TypeVar

from specviz.core.records import Costs
from specviz.core.settings import NO_DRAFT
from specviz.core.words import say, spoken
from specviz.decoding import calibration, engine
from specviz.drafting import LENGTHS
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.fallback_strategy import Workshop
from specviz.sessions.frames import frame, read_so_far
from specviz.sessions.job import Claim
from specviz.sessions.model_cache import ModelCache, until_loaded
from specviz.sessions.run_job import POLL_S
from specviz.sessions.visitors import Visitor

if TYPE_CHECKING:
    from specviz.decoding.state import Run
    from specviz.models.pair import Pair

PATIENCE_S = 1.0
T = TypeVar("T")
Told = Generator[str, None, T]
"""A part of a driver: yields messages, returns a T."""


class Waiting:
    """The cache of models, the decode queue, and the workshop where drafts are made."""

    def __init__(self, model_cache: ModelCache, queue: DecodeQueue) -> None:
        self.model_cache = model_cache
        self.queue = queue
        self.workshop = Workshop()

    def pair(self, visitor: Visitor, claim: Claim) -> Told[Pair | None]:
        """Wait for the visitor's pair to be loaded, saying how far it is; None after another claim."""
        wanted = visitor.controls.models
        with visitor.driver.fetching():
            pair = yield from until_loaded(
                self.model_cache.again(wanted),
                lambda: claim.is_current,
                lambda coming: frame(visitor, state="loading", say=spoken(coming.say), progress=coming.progress),
            )
        if pair is not None:
            visitor.driver.has_loaded(wanted)
        return pair

    def read(self, visitor: Visitor, claim: Claim, run: Run, state: str, words: str) -> Told[bool]:
        """What is left of a run's prompt, a turn for each piece; how far it is after each. False after another claim.

        `words`: the entry of the catalogue that says how far.
        """
        shown = visitor.run
        while not run.read:
            if not claim.is_current or (yield from self.turn(visitor, claim, lambda: engine.read(run))) is None:
                return False
            if not run.read and visitor.run is shown:
                share = run.positions_read / len(run.prompt_ids)
                yield frame(visitor, state=state, say=say(words, **read_so_far(run)), progress=share)
        return True

    def price(self, visitor: Visitor, claim: Claim, run: Run) -> Told[None]:
        """Measure what drafting costs where the draft length asks for it and this run has no answer yet, said before."""
        choice = self.workshop.choice(visitor, run.pair)
        settings = choice.settings
        if choice.wait or settings.draft_length not in LENGTHS or not LENGTHS[settings.draft_length].measures:
            return
        engine.check(run.pair, settings)
        name = calibration.kept_under(settings)
        if settings.k == 0 or settings.strategy == NO_DRAFT or name in run.costs:
            return
        if (found := calibration.known(run.pair, settings)) is None:
            what = say("sessions.pricing", name=settings.strategy)
            yield frame(visitor, state="loading", say=what)
            slices = calibration.in_slices(run.pair, settings)
            while found is None and claim.is_current:
                done = yield from self.turn(visitor, claim, lambda: calibration.advance(slices))
                found = done if isinstance(done, Costs) else None
                if found is None and visitor.run is run:
                    yield frame(visitor, state="loading", say=what, progress=done)
        if found is not None:
            run.costs[name] = found

    def turn(self, visitor: Visitor, claim: Claim | None, work: Callable[[], T]) -> Told[T | None]:
        """Do `work` when its turn comes; None if `claim` ended while it waited. Without a claim it stays in the queue."""

        def counted() -> T:
            visitor.driver.took_turn()
            return work()

        future, began, told = self.queue.submit(counted), time.monotonic(), False
        try:
            while True:
                try:
                    return future.result(POLL_S)
                except TimeoutError:
                    if future.done():
                        raise
                if claim is not None and not claim.is_current and future.cancel():
                    return None
                if not told and not future.running() and time.monotonic() - began > PATIENCE_S:
                    told, ahead = True, max(1, self.queue.ahead(future))
                    yield frame(visitor, state="waiting", say=say("sessions.waiting", n=ahead))
        finally:
            future.cancel()  # the tab was closed while we stood in the queue

    def others(self, visitor: Visitor) -> int:
        """How many turns have not been this visitor's: what happened between two calls disturbed what was timed."""
        return self.queue.taken - visitor.driver.turns_taken
