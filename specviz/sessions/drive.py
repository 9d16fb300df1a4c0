"""Drive a visitor's run and tell the browser about it: generators of JSON messages, each a small, numbered delta.

No Gradio here. A driver ends as soon as somebody else claims the run (Pause, Step, Reset, a second Play, the tab closed)
and never waits inside a step; what it waits for (a turn, a loading model, the chosen speed) lies between steps.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from specviz.core.settings import SpecvizError
from specviz.core.words import say, sentence
from specviz.decoding import baseline, engine
from specviz.models.describe import described
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.fallback_strategy import Choice
from specviz.sessions.frames import frame, message, read_so_far, resting
from specviz.sessions.job import Claim
from specviz.sessions.model_cache import ModelCache, NotLoaded
from specviz.sessions.next_action import stale
from specviz.sessions.run_job import POLL_S
from specviz.sessions.visitors import Visitor
from specviz.sessions.waiting import Told, Waiting
from specviz.views import wire
from specviz.views.amounts import amount

if TYPE_CHECKING:
    from specviz.core.records import StepRecord

FRAME_S = 0.2
"""At full speed steps are sent together this often, so that drawing does not eat the cores that decode."""
SPEEDS: dict[str, float] = {
    sentence("controls.speed_slowest"): 0.5,
    sentence("controls.speed_1"): 1,
    sentence("controls.speed_2"): 2,
    sentence("controls.speed_4"): 4,
    sentence("controls.speed_full"): float("inf"),
}
log = logging.getLogger("specviz")


class Drivers:
    """What drives runs: the cache of models and the decode queue."""

    def __init__(self, model_cache: ModelCache, queue: DecodeQueue) -> None:
        self.model_cache = model_cache
        self.waiting = Waiting(model_cache, queue)
        self.workshop = self.waiting.workshop

    def play(self, visitor: Visitor, limit: float) -> Iterator[str]:
        """At most `limit` steps of the visitor's run, begun anew where there is none or it has ended."""
        purpose, run = "step" if limit != float("inf") else "play", visitor.run
        same = run is not None and not run.stop and visitor.shown.made_from == visitor.controls.origin
        if purpose == "play" and same and visitor.driver.is_doing("play"):
            return iter(())  # pressed twice: it plays what the controls say
        # Step pressed again while a step is made is another step, not another driver
        claim = visitor.driver.claim(purpose, share=purpose == "step")
        return self._hold(visitor, claim, lambda claim: self._steps(visitor, claim, limit))

    def measure(self, visitor: Visitor) -> Iterator[str]:
        """The target alone on the run's prompt and settings, compared with the run so far."""
        if visitor.driver.is_doing("measure"):
            return _noted(visitor, "sessions.alone_already")
        return self._hold(visitor, visitor.driver.claim("measure"), lambda claim: self._alone(visitor, claim))

    def load(self, visitor: Visitor) -> Iterator[str]:
        """Load the pair that the visitor chose, with progress; the run so far is kept, and goes on where it has this pair."""
        pair, run = self.model_cache.loaded(visitor.controls.models), visitor.run
        if run and run.pair is pair and visitor.driver.is_driven and not visitor.driver.is_fetching:
            return _noted(visitor, "sessions.these")
        return self._hold(visitor, visitor.driver.claim("load"), lambda claim: self._load(visitor, claim))

    def _load(self, visitor: Visitor, claim: Claim) -> Iterator[str]:
        pair = yield from self.waiting.pair(visitor, claim)
        if pair is not None:
            state = resting(visitor.run) if visitor.run else "ready"
            yield frame(visitor, state=state, say=say("sessions.models_ready"), pair=described(pair))

    def _hold(self, visitor: Visitor, claim: Claim, work: Callable[[Claim], Iterator[str]]) -> Iterator[str]:
        """Be the only driver of this visitor's run; say in one sentence what went wrong, keep the run so far."""
        # closed in the middle, too, when the tab is
        with visitor.driver.hold(claim) as held, closing(self._told(visitor, claim, work)) as messages:
            for text in messages if held else ():
                # after a Reset what was under way is nothing on an empty page
                if not visitor.driver.was_emptied(claim):
                    yield text

    def _told(self, visitor: Visitor, claim: Claim, work: Callable[[Claim], Iterator[str]]) -> Told[None]:
        try:
            yield from work(claim)
            if visitor.driver.was_handed_over(claim):
                yield wire.pack(message(visitor, {"m": "taken", "say": say("sessions.taken")}))
        except NotLoaded as error:
            state = "error" if error.crashed else "not_done"
            yield frame(visitor, state=state, say=str(error), back=self._way_back(visitor))
        except SpecvizError as error:
            yield frame(visitor, state="not_done", say=str(error))
        except Exception as error:  # shown to the visitor in a sentence and to the host in full
            log.exception("driving a run failed")
            what = "sessions.step_memory" if isinstance(error, MemoryError) else "sessions.step_fault"
            yield frame(visitor, state="error", say=say(what))

    def _steps(self, visitor: Visitor, claim: Claim, limit: float) -> Iterator[str]:
        pair = yield from self.waiting.pair(visitor, claim)
        if pair is None:
            return
        if stale(visitor, pair):
            prompt, choice = visitor.controls.prompt, self.workshop.choice(visitor, pair)
            begun = yield from self.waiting.turn(visitor, claim, lambda: engine.begin(pair, prompt, choice.settings))
            if begun is None or not claim.is_current:  # reset or paused meanwhile: it is nobody's run
                yield frame(visitor, state=resting(visitor.run) if visitor.run else "ready")
                return
            # on screen before its prompt is read, which may take long: what was there is not this run's
            visitor.adopt(begun)
            state, words, progress = "loading" if choice.wait else "playing", choice.say, choice.progress
            if len(begun.prompt_ids) > engine.CHUNK:
                state, words, progress = "loading", say("sessions.reading", **read_so_far(begun)), 0.0
            yield frame(visitor, 0, state=state, head=True, say=words, progress=progress)
        run = visitor.run
        assert run is not None
        if not (yield from self.waiting.read(visitor, claim, run, "loading", "sessions.reading")):
            if visitor.run is run:
                yield frame(visitor, state="paused", say=say("sessions.reading_paused", **read_so_far(run)))
            return
        sent, made, last_frame, last_step, told = len(run.steps), 0, 0.0, 0.0, ""
        others = self.waiting.others(visitor)
        choice = Choice(visitor.controls.settings())

        def one() -> StepRecord | None:
            nonlocal choice
            # the controls are read when the turn comes: K, strategy, rule, temperature may change until then
            choice = self.workshop.choice(visitor, pair)
            return None if choice.wait else engine.step(run, choice.settings)

        while made < limit and claim.is_current and not run.finished(visitor.controls.settings()):
            if pause := _until_due(visitor, last_step):
                time.sleep(min(pause, POLL_S))
                continue
            yield from self.waiting.price(visitor, claim, run)
            if not claim.is_current:
                continue
            last_step = time.monotonic()
            step = yield from self.waiting.turn(visitor, claim, one)
            made += step is not None
            run.others += (now := self.waiting.others(visitor)) - others
            others = now
            if visitor.run is not run:
                return
            if choice.wait:
                last_step = 0.0
                if told != (told := f"{choice.say} {choice.progress}"):
                    yield frame(visitor, state="loading", say=choice.say, progress=choice.progress)
                time.sleep(POLL_S)
            elif time.monotonic() - last_frame >= FRAME_S or _speed(visitor) < float("inf"):
                last_frame, first, sent = time.monotonic(), sent, len(run.steps)
                yield frame(visitor, first, state="playing", say=choice.say, progress=choice.progress)
        if visitor.run is run:  # else it was reset: what is on screen is no longer ours
            yield frame(visitor, sent, state=resting(run), text=run.text, say=choice.say)

    def _alone(self, visitor: Visitor, claim: Claim) -> Iterator[str]:
        run = visitor.run
        if run is None or not run.output_ids:
            raise SpecvizError(sentence("sessions.play_first"))
        settings = visitor.controls.settings()
        both = yield from self.waiting.turn(visitor, claim, lambda: baseline.alone(run, settings, engine.begin))
        if both is None or not (
            yield from self.waiting.read(visitor, claim, both[0], "measuring", "sessions.alone_reading")
        ):
            if visitor.run is run:
                yield frame(visitor, state=resting(run), text=run.text)
            return
        single, settings = both
        told, wanted, before = 0.0, settings.max_new_tokens, self.waiting.others(visitor)
        while claim.is_current and not single.finished(settings):
            yield from self.waiting.turn(visitor, claim, lambda: engine.step(single, settings))
            if time.monotonic() - told > 0.25:
                told, done = time.monotonic(), len(single.output_ids)
                words = say("sessions.alone_measuring", part=f"{done:,}", tokens=amount("tokens", wanted))
                yield frame(visitor, state="measuring", say=words, progress=done / wanted)
        if visitor.run is not run:
            return
        if single.output_ids:
            single.others = self.waiting.others(visitor) - before
            run.baseline = yield from self.waiting.turn(visitor, None, lambda: baseline.compare(run, single))
        if run.baseline is not None:
            yield wire.pack(message(visitor, {"m": "baseline", "b": wire.baseline(run.baseline)}))
        if claim.is_current:
            found = baseline.verdict(run.baseline, run.steps) if run.baseline else None
        else:
            part, whole = f"{len(single.output_ids):,}", amount("tokens", wanted)
            found = say("sessions.alone_stopped", part=part, tokens=whole)
        yield frame(visitor, state=resting(run), text=run.text, say=found)

    def _way_back(self, visitor: Visitor) -> str | None:
        """Name of the pair that was loaded last, None if it is no longer here."""
        pair = self.model_cache.loaded(visitor.driver.loaded)
        return " ← ".join(model.name for model in (pair.target, pair.draft) if model) if pair else None


def _noted(visitor: Visitor, words: str) -> Iterator[str]:
    return iter([wire.pack(message(visitor, {"m": "note", "say": say(words), "passes": True}))])


def _speed(visitor: Visitor) -> float:
    return SPEEDS.get(str(visitor.controls.values.get("speed")), float("inf"))


def _until_due(visitor: Visitor, last_step: float) -> float:
    """Seconds until the chosen speed allows the next step."""
    return max(0.0, last_step + 1 / _speed(visitor) - time.monotonic()) if last_step else 0.0
