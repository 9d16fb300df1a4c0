"""Compare strategies on the visitor's prompt in one click: lanes take turns, the table fills while they run.

No Gradio here but what it is pulled by: a generator of what is seen. A turn is one step of one lane, so nobody waits longer for
a comparison than for any other run; Stop, another comparison and a closed tab end it within one step and keep the table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from specviz.core.plural import counted
from specviz.core.settings import NO_DRAFT, SettingsError, SpecvizError
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
from specviz.views.elements import rule_named
from specviz.views.race import race

if TYPE_CHECKING:
    from specviz.core.settings import RunSettings
    from specviz.models.pair import Pair

FRAME_S = 1.0
"""The table is drawn anew this often: it is a whole piece of page, and drawing eats the cores that decode."""
USUAL = ("greedy", "sampling", "beam search", "prompt lookup")
DISTURBED = " ⚠ {} of others came between: compare again when nobody else is here."
SURE = " In brackets: denominators, and 95 % intervals by bootstrap over the steps; another prompt may differ by more."
RECORDED = "A recorded comparison, “{}”. No model runs for it; press Compare for one with your own settings."
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
            raise SettingsError("Choose at least one strategy to compare with the target alone.")
        pair = yield from until_loaded(
            self.model_cache.again(visitor.controls.models), lambda: claim.is_current, lambda coming: Seen(coming.say)
        )
        if pair is None:
            return (yield Seen("Stopped."))
        fits, refused = sorted_by_fit(pair, strategies)
        if not fits:
            raise SpecvizError(f"None of these can draft for {pair.target.name}. {refused}")
        lanes = lanes_of(settings, fits)
        for name in fits:
            if not STRATEGIES[name].ready(pair):
                yield Seen(f"Getting {name!r} ready …")
        both = Comparison(pair, prompt, lanes)
        told, how, before, own = 0.0, _words(settings), self.queue.taken, 0
        while claim.is_current:
            made, own = self.queue.submit(both.step).result(), own + 1
            if made is None:
                break
            if time.monotonic() - told >= FRAME_S:
                told = time.monotonic()
                yield Seen(f"Comparing: {both.share:.0%} … {refused}", draw(both.compared(), how, going=True))
        if others := self.queue.taken - before - own:
            how += DISTURBED.format(counted(others, "step"))
        self.queue.submit(both.hold_against_alone).result()
        done = both.compared()
        say = f"{'Compared.' if done.ended else 'Stopped; the table holds what was done.'} {refused}"
        yield Seen(say, draw(done, how), wire.pack(run_of(done)))


@cache
def recorded(name: str) -> Seen:
    """A recorded comparison of the gallery, drawn as a live one is. Raises TraceError where it cannot be read."""
    done, plan = gallery.read_comparison(name), gallery.COMPARISONS[name]
    where = done.traces[ALONE].pair
    how = f"Prompt: “{plan.prompt}” Target {where.get('target')} in {where.get('dtype')}. {_words(plan.settings)}"
    return Seen(RECORDED.format(plan.title), draw(done, how), wire.pack(run_of(done)))


def draw(done: Compared, how: str, going: bool = False) -> str:
    """The lanes so far as a piece of page; `going`: more of them is to come."""
    found = table({name: [trace] for name, trace in done.traces.items()}, ALONE, sure=done.ended)
    how += SURE if done.ended else ""
    return comparison.html(found, done.traces, ALONE, how, ended=done.ended, going=going)


def run_of(done: Compared) -> dict[str, Any]:
    """The lanes as a race (`views.race`), with the verdict on each lane's text."""
    verdicts = {name: baseline.verdict(trace.baseline) for name, trace in done.traces.items() if trace.baseline}
    return race(done.traces, ALONE, verdicts)


def sorted_by_fit(pair: Pair, strategies: Sequence[str]) -> tuple[list[str], str]:
    """Those that fit the pair, and a sentence about those that do not."""
    reasons = {name: STRATEGIES[name].fits(pair) for name in strategies if name in STRATEGIES}
    refused = "; ".join(f"{name!r}: {reason}" for name, reason in reasons.items() if reason)
    return [name for name, reason in reasons.items() if reason is None], f"Left out: {refused}." if refused else ""


def _words(settings: RunSettings) -> str:
    return (
        f"K = {settings.k}, draft length {settings.draft_length}, temperature {settings.temperature:g}, "
        f"up to {counted(settings.max_new_tokens, 'token')}, "
        f"rule {rule_named(settings.rule)}, seed {settings.seed}: the same coins for all, and the lanes take turns."
    )
