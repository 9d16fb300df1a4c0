"""Compare strategies on the visitor's prompt in one click: lanes take turns, the table fills while they run.

No Gradio here but what it is pulled by: a generator of what is seen. A turn is one step of one lane, so nobody waits longer for
a comparison than for any other run; Stop, another comparison and a closed tab end it within one step and keep the table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from specviz.core.settings import NO_DRAFT, SettingsError, SpecvizError
from specviz.core.words import once_per_language, say, sentence, spoken
from specviz.decoding import baseline
from specviz.drafting import STRATEGIES
from specviz.experiments.compare import Comparison, lanes_of
from specviz.experiments.compared import ALONE, Compared
from specviz.metrics.comparison import table
from specviz.recordings import gallery
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.job import Claim
from specviz.sessions.model_cache import ModelCache, until_loaded
from specviz.sessions.visitors import Visitor
from specviz.views import comparison, wire
from specviz.views.amounts import amount
from specviz.views.elements import rule_named
from specviz.views.race import race

if TYPE_CHECKING:
    from specviz.core.settings import RunSettings
    from specviz.models.pair import Pair

FRAME_S = 1.0
"""The table is drawn anew this often: it is a whole piece of page, and drawing eats the cores that decode."""
USUAL = ("greedy", "sampling", "beam search", "prompt lookup")
CHOICES = [name for name in STRATEGIES if name != NO_DRAFT]


class Seen(NamedTuple):
    """What the page shows of a comparison: what is going on, table and strips (HTML), and the race (JSON).

    The race comes at the end only: nothing is to be played while lanes are being timed.
    """

    say: str
    table: str = ""
    race: str = ""


class Comparing:
    """What compares: the cache of models and the decode queue."""

    def __init__(self, model_cache: ModelCache, queue: DecodeQueue) -> None:
        self.model_cache = model_cache
        self.queue = queue

    def compare(self, claim: Claim, visitor: Visitor, strategies: Sequence[str]) -> Iterator[Seen]:
        """What is to be seen, again and again, while `claim` is current. Errors are told as what is going on."""
        seen = Seen("")
        try:
            for seen in self._compare(claim, visitor, strategies):
                yield seen
        except SpecvizError as error:
            yield seen._replace(say=str(error))

    def _compare(self, claim: Claim, visitor: Visitor, strategies: Sequence[str]) -> Iterator[Seen]:
        settings, prompt = visitor.controls.settings(), visitor.controls.prompt
        if not strategies:
            raise SettingsError(sentence("sessions.compare_none"))
        pair = yield from until_loaded(
            self.model_cache.again(visitor.controls.models),
            lambda: claim.is_current,
            lambda coming: Seen(spoken(coming.say)),
        )
        if pair is None:
            return (yield Seen(say("sessions.stopped")))
        fits, left_out = sorted_by_fit(pair, strategies)
        if not fits:
            raise SpecvizError(sentence("sessions.none_fits", target=pair.target.name, left_out=left_out))
        lanes = lanes_of(settings, fits)
        for name in fits:
            if not STRATEGIES[name].ready(pair):
                yield Seen(say("sessions.preparing", name=name))
        both = Comparison(pair, prompt, lanes)
        told, how, before, own = 0.0, _words(settings), self.queue.taken, 0
        while claim.is_current:
            made, own = self.queue.submit(both.step).result(), own + 1
            if made is None:
                break
            if time.monotonic() - told >= FRAME_S:
                told = time.monotonic()
                words = say("sessions.comparing", share=f"{both.share:.0%}")
                yield Seen(f"{words} {left_out}", draw(both.compared(), how, going=True))
        if others := self.queue.taken - before - own:
            how += " " + say("sessions.compare_disturbed", steps=amount("steps", others))
        self.queue.submit(both.hold_against_alone).result()
        done = both.compared()
        words = say("sessions.compared" if done.ended else "sessions.compare_stopped")
        yield Seen(f"{words} {left_out}", draw(done, how), wire.pack(run_of(done)))


@once_per_language
def recorded(name: str) -> Seen:
    """A recorded comparison of the gallery, drawn as a live one is. Raises TraceError where it cannot be read."""
    done, plan = gallery.read_comparison(name), gallery.COMPARISONS[name]
    where = done.traces[ALONE].pair
    words = {"target": where.get("target"), "dtype": where.get("dtype"), "settings": _words(plan.settings)}
    how = say("recordings.comparison_how", prompt=plan.prompt, **words)
    return Seen(say("recordings.comparison", title=plan.title), draw(done, how), wire.pack(run_of(done)))


def draw(done: Compared, how: str, going: bool = False) -> str:
    """The lanes so far as a piece of page; `going`: more of them is to come."""
    found = table({name: [trace] for name, trace in done.traces.items()}, ALONE, sure=done.ended)
    how += " " + say("sessions.compare_sure") if done.ended else ""
    return comparison.html(found, done.traces, ALONE, how, ended=done.ended, going=going)


def run_of(done: Compared) -> dict[str, Any]:
    """The lanes as a race (`views.race`), with the verdict on each lane's text."""
    verdicts = {name: baseline.verdict(trace.baseline) for name, trace in done.traces.items() if trace.baseline}
    return race(done.traces, ALONE, verdicts)


def sorted_by_fit(pair: Pair, strategies: Sequence[str]) -> tuple[list[str], str]:
    """Those that fit the pair, and a sentence about those that do not."""
    reasons = {name: STRATEGIES[name].fits(pair) for name in strategies if name in STRATEGIES}
    reported = [say("sessions.left_out_reason", name=name, reason=reason) for name, reason in reasons.items() if reason]
    left_out = say("sessions.left_out", reasons=", ".join(reported)) if reported else ""
    return [name for name, reason in reasons.items() if reason is None], left_out


def _words(settings: RunSettings) -> str:
    return say(
        "sessions.compare_settings",
        k=settings.k,
        length=settings.draft_length,
        temperature=f"{settings.temperature:g}",
        tokens=amount("tokens", settings.max_new_tokens),
        rule=rule_named(settings.rule),
        seed=settings.seed,
    )
