"""What drafting and verifying cost on this machine: c and v(K), measured with the pair's own models, for "cost-aware".

Measured when a run first needs it, once per pair, strategy and its knobs in a process, never inside a timed phase: 20
short passes of the target and 4 drafts, the least times after a warm-up round. A run keeps the numbers it was given
(`Trace.costs`): two runs with the same numbers, seed and settings are the same run, whatever a clock says meanwhile.

Example: ``measured(pair, settings).verify_cost`` has (5, 1.14), v(4), for the default target on two cores.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from specviz.core.coins import coins_of
from specviz.core.costs import interpolated
from specviz.core.records import Costs
from specviz.core.runtime import Clock
from specviz.core.sampling import BadLogits
from specviz.core.settings import RunSettings
from specviz.drafting import STRATEGIES, Readers
from specviz.drafting.length import Price
from specviz.models.cached import CachedModel

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair

POSITIONS = (1, 2, 3, 5, 9)
DRAFTED = 4
ROUNDS = 3
TEXT = 32

_LOCK = threading.Lock()
_KEPT: WeakKeyDictionary[LoadedModel, WeakKeyDictionary[LoadedModel, dict[str, Costs]]] = WeakKeyDictionary()


def kept_under(settings: RunSettings) -> str:
    """What costs are kept under: the strategy and where its own knobs stand. Example: "beam search, width 3"."""
    known = STRATEGIES.get(settings.strategy)  # a file may name one that is not here
    knobs = known.knobs if known else {}
    stand = (f"{name} {settings.options.get(name, knob.default):g}" for name, knob in knobs.items())
    return ", ".join([settings.strategy, *stand])


def prices(kept: dict[str, Costs], pair: Pair, settings: RunSettings) -> Price:
    """``price(k)``: a step that drafts k deep, in target passes over one position: K·c + v, a tree's v by all its tokens.

    By the costs in `kept`; where they are missing they are measured at the first call, and kept.
    """

    def price(k: int) -> float:
        name = kept_under(settings)
        if name not in kept:
            kept[name] = measured(pair, settings)
        nodes = STRATEGIES[settings.strategy].nodes(k, settings) if k else 0
        return k * kept[name].cost_ratio + interpolated(kept[name].verify_cost)(nodes)

    return price


def measured(pair: Pair, settings: RunSettings) -> Costs:
    """The costs of this pair with this strategy, measured at the first call in this process."""
    with _LOCK:  # two at once would measure each other
        of_pair, name = _kept(pair), kept_under(settings)
        if name not in of_pair:
            of_pair[name] = _measure(pair, _bare(settings))
        return of_pair[name]


def known(pair: Pair, settings: RunSettings) -> Costs | None:
    """The costs if they have been measured in this process."""
    return _kept(pair).get(kept_under(settings))


def in_slices(pair: Pair, settings: RunSettings) -> Generator[float, None, Costs]:
    """The same a pass at a time, so that others can take a turn between two: yields the share done, from 0 to 1.

    Each `next` is one timed pass or draft; what was measured before in this process is returned without one.
    """
    of_pair, name = _kept(pair), kept_under(settings)
    if name not in of_pair:
        found = yield from _passes(pair, _bare(settings))
        of_pair.setdefault(name, found)
    return of_pair[name]


def advance(slices: Generator[float, None, Costs]) -> float | Costs:
    """One of `in_slices`: the share done, or at the end the costs."""
    try:
        return next(slices)
    except StopIteration as end:
        found: Costs = end.value
        return found


def _kept(pair: Pair) -> dict[str, Costs]:
    of_target = _KEPT.setdefault(pair.target, WeakKeyDictionary())
    return of_target.setdefault(pair.draft or pair.target, {})


def _bare(settings: RunSettings) -> RunSettings:
    return RunSettings(strategy=settings.strategy, options=settings.options)


def _measure(pair: Pair, settings: RunSettings) -> Costs:
    passes = _passes(pair, settings)
    while isinstance(found := advance(passes), float):
        pass
    return found


def _passes(pair: Pair, settings: RunSettings) -> Generator[float, None, Costs]:
    context = min(model.context for model in (pair.target, pair.draft) if model)
    size = max(1, min(TEXT, context - max(POSITIONS)))
    # a text that repeats itself, so that lookups have something to find
    ids = [(7 * (i % 8) + 3) % pair.target.vocab_size for i in range(size + max(POSITIONS))]
    positions = [n for n in POSITIONS if size - 1 + n <= pair.target.context]
    columns = pair.target.vocab_size
    readers = Readers(CachedModel(pair.target), CachedModel(pair.draft, columns) if pair.draft else None)
    drafter, target, coins = STRATEGIES[settings.strategy].start(readers), CachedModel(pair.target), coins_of(1)
    clock = Clock(pair.devices)
    drafts: list[float] = []
    passes: dict[int, list[float]] = {n: [] for n in positions}

    drafter.adopt(settings)
    drafter.catch_up(ids[:size])
    done, wanted = 0, (1 + ROUNDS) * (1 + len(positions))
    for _ in range(1 + ROUNDS):  # sizes take turns, so that a machine that slows down slows all of them
        depth = 0
        yield done / wanted
        clock.lap()
        with suppress(BadLogits):  # costs what the attempt costs; the step itself will tell
            draft = drafter.propose(ids[:size], DRAFTED, settings, coins, 0)
            depth = max((len(draft.path(node)) for node in range(len(draft.token_ids))), default=0)
        drafts.append(clock.lap() / max(1, depth))
        done += 1
        for n in positions:
            yield done / wanted
            clock.lap()
            target.logits(ids[: size - 1 + n], last=n)
            passes[n].append(clock.lap())
            done += 1
    # others on the machine only ever add time, and more positions never take less: so the least time seen of as many or more
    least = [min(min(passes[m][1:]) for m in positions if m >= n) for n in positions]
    return Costs(min(drafts[1:]) / least[0], tuple((n, s / least[0]) for n, s in zip(positions, least, strict=True)))
