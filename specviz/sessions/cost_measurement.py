"""What drafting and verifying cost here: measured for the run on screen when asked, a pass a turn, with progress.

No Gradio: a generator of sentences that ends in costs. A turn is one pass of the target or one draft, so nobody waits
longer for it than for a step; Stop, another request and a closed tab end it within one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from specviz.core.settings import MAX_K, SpecvizError
from specviz.core.words import say, sentence, spoken
from specviz.decoding import calibration
from specviz.drafting import STRATEGIES, make_ready
from specviz.metrics.pace import Pace, pace, with_costs
from specviz.models.describe import describe
from specviz.sessions.model_cache import until_loaded

if TYPE_CHECKING:
    from specviz.core.records import Costs
    from specviz.core.settings import RunSettings
    from specviz.models.pair import Pair
    from specviz.sessions.decode_queue import DecodeQueue
    from specviz.sessions.job import Claim
    from specviz.sessions.model_cache import ModelCache
    from specviz.sessions.visitors import Visitor
    from specviz.traces.trace import Trace

SAME = ("target", "draft", "dtype", "draft_dtype", "device")
"""What must agree between a trace and a pair for costs of the one to hold for the other."""


class CostMeasurement:
    """Bound to the models and the decode queue of one app; remembers what it measured, by what ran where."""

    def __init__(self, model_cache: ModelCache, queue: DecodeQueue) -> None:
        self.model_cache = model_cache
        self.queue = queue
        self._here: dict[tuple[Any, ...], Costs] = {}

    def known(self, trace: Trace, here: bool = False, strategy: str = "") -> Pace:
        """What is known of the run: by its own steps, else by the costs frozen with it, else by those measured here.
        `here`: by those measured here before all others. `strategy`: else the last that drafted."""
        found, settings = pace(trace, strategy), _settings(trace, strategy)
        if settings is None:
            return found
        frozen = trace.costs.get(calibration.kept_under(settings))
        mine = self._here.get(_name(trace.pair, settings))
        if mine and (here or not (found.known or frozen)):
            return with_costs(found, mine, _nodes(settings), "here", MAX_K)
        if frozen and not found.known:
            return with_costs(found, frozen, _nodes(settings), "frozen", MAX_K)
        return found

    def measure(self, claim: Claim, visitor: Visitor, trace: Trace) -> Generator[str, None, bool]:
        """Sentences of progress; returns whether it was measured (False: `claim` ended). Raises SpecvizError."""
        settings = _settings(trace)
        if settings is None:
            unknown = next((s.strategy for s in reversed(trace.steps) if s.tokens), None)
            nothing = f"{say('speed.no_strategy')} {say('findings.draft_first')}"
            raise SpecvizError(nothing if unknown is None else sentence("sessions.cost_unknown", name=unknown))
        pair = visitor.run.pair if visitor.run is not None and _same(trace.pair, visitor.run.pair) else None
        if pair is None:
            pair = yield from until_loaded(
                self.model_cache.again(visitor.controls.models),
                lambda: claim.is_current,
                lambda coming: spoken(coming.say),
            )
        if pair is None:
            return False
        if not _same(trace.pair, pair):
            names = " ← ".join(str(trace.pair.get(name)) for name in ("target", "draft") if trace.pair.get(name))
            kind = " in ".join(str(trace.pair.get(name)) for name in ("device", "dtype"))
            known = names or sentence("sessions.cost_unknown_pair")
            raise SpecvizError(sentence("sessions.cost_other_pair", names=known, kind=kind))
        if reason := STRATEGIES[settings.strategy].fits(pair):
            raise SpecvizError(sentence("sessions.cost_not_measurable", name=settings.strategy, reason=reason))
        yield say("sessions.cost_measuring")
        make_ready(pair, settings.strategy)
        slices = calibration.in_slices(pair, settings)
        while claim.is_current:
            done = self.queue.submit(lambda: calibration.advance(slices)).result()
            if not isinstance(done, float):
                self._here[_name(trace.pair, settings)] = done
                return True
            yield say("sessions.cost_measuring_share", share=f"{done:.0%}")
        return False


def _settings(trace: Trace, strategy: str = "") -> RunSettings | None:
    """Those of the last step that drafted, with this strategy where one is named."""
    # a file of another version may name a strategy that is unknown here
    drafting = (s for s in reversed(trace.steps) if s.tokens and s.strategy in STRATEGIES)
    drafted = (s.settings for s in drafting if strategy in ("", s.strategy))
    return next(drafted, None)


def _nodes(settings: RunSettings) -> Callable[[int], int]:
    strategy = STRATEGIES.get(settings.strategy)
    return lambda k: strategy.nodes(k, settings) if strategy else k


def _name(pair: Any, settings: RunSettings) -> tuple[Any, ...]:
    return (*(pair.get(name) for name in SAME), calibration.kept_under(settings))


def _same(told: Any, pair: Pair) -> bool:
    here = describe(pair)
    return all(told.get(name) == here[name] for name in SAME)
