"""Sweep strategies and K for a visitor: cell after cell, in turns with everybody, stopped and taken up again at will.

No Gradio here but what it is pulled by: a generator of what is seen. A turn is one step of one lane. What is done is kept
with the visitor, in memory, under what was measured: the same choices again run only what is missing, other choices keep
the cells that still fit. Pictures are drawn between cells only, while nothing is being timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from specviz.core.prompts import PRESETS
from specviz.core.runtime import Clock
from specviz.core.settings import SettingsError, SpecvizError
from specviz.core.words import say, sentence, spoken
from specviz.drafting import STRATEGIES
from specviz.experiments import sweep
from specviz.experiments.sweep import Cell, Prompt
from specviz.models.cached import CachedModel
from specviz.sessions.comparing import sorted_by_fit
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.job import Claim
from specviz.sessions.model_cache import ModelCache, until_loaded
from specviz.sessions.sweep_results import SweepResults
from specviz.sessions.visitors import Visitor
from specviz.views import sweep as view
from specviz.views import wire
from specviz.views.amounts import amount
from specviz.views.elements import rule_named

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair

OWN = sentence("sweep.own_prompt")
FRAME_S = 1.0
"""The line and the bar change this often."""
DRAWING_S = 0.4
"""After a cell the pictures are drawn anew; the next one begins when that is over."""
PACE_TEXT, PACE_PASSES = 24, 4


@dataclass(frozen=True, slots=True)
class Choice:
    """What a visitor chose to sweep over; everything else is as the controls stand. `tokens` of each output."""

    strategies: Sequence[str]
    ks: Sequence[int]
    temperatures: Sequence[float]
    prompts: Sequence[str]
    tokens: int


class Seen(NamedTuple):
    """What the page shows: line and bar (HTML), pictures and files (JSON), the table (HTML)."""

    progress: str
    pictures: str = ""
    table: str = ""


class Sweeping:
    """What sweeps: the cache of models and the decode queue."""

    def __init__(self, model_cache: ModelCache, queue: DecodeQueue) -> None:
        self.model_cache = model_cache
        self.queue = queue
        self._paces: WeakKeyDictionary[LoadedModel, float] = WeakKeyDictionary()

    def plan(self, visitor: Visitor, choice: Choice) -> str:
        """What this choice would take, in a sentence or two; with a time where the models are loaded."""
        try:
            cells = cells_of(visitor, choice)
        except SpecvizError as error:
            return str(error)
        missing = [cell for cell in cells if cell.key not in visitor.swept.done]
        pair = self.model_cache.loaded(visitor.controls.models)
        return _plan(cells, missing, None if pair is None else self._seconds(pair, missing))

    def sweep(self, claim: Claim, visitor: Visitor, choice: Choice) -> Iterator[Seen]:
        """What is to be seen, again and again, until all cells are done or `claim` ends."""
        seen = Seen("")
        try:
            for seen in self._sweep(claim, visitor, choice):
                yield seen
        except SpecvizError as error:
            yield seen._replace(progress=view.progress(0, 0, 0, str(error)))

    def _sweep(self, claim: Claim, visitor: Visitor, choice: Choice) -> Iterator[Seen]:
        swept = visitor.swept
        cells_of(visitor, choice)  # what is wrong with the choice is told before anything is loaded for it
        pair = yield from until_loaded(
            self.model_cache.again(visitor.controls.models),
            lambda: claim.is_current,
            lambda coming: Seen(view.progress(0, 0, 0, spoken(coming.say))),
        )
        if pair is None:
            return (yield Seen(view.progress(0, 0, 0, say("sessions.stopped"))))
        fits, left_out = sorted_by_fit(pair, choice.strategies)
        if not fits:
            raise SpecvizError(sentence("sessions.none_fits", target=pair.target.name, left_out=left_out))
        cells = cells_of(visitor, replace(choice, strategies=fits))
        missing = [cell for cell in cells if cell.key not in swept.done]
        note = f" {left_out}" if left_out else ""
        shown = drawn(swept, cells)
        yield shown(_plan(cells, missing, self._seconds(pair, missing)) + note)
        began = time.monotonic()
        for at, cell in enumerate(missing):
            if not STRATEGIES[cell.settings.strategy].ready(pair):
                yield shown(say("sessions.preparing", name=cell.settings.strategy) + note)
            both, told = sweep.begin(pair, cell), 0.0
            while claim.is_current and self.queue.submit(both.step).result() is not None:
                if time.monotonic() - told >= FRAME_S:
                    told = time.monotonic()
                    left = (told - began) / at * (len(missing) - at - both.share) if at else None
                    yield shown(_line(cell, left) + note, both.share, cell)
            if not claim.is_current:
                yield shown(say("sessions.sweep_stopped", cells=_cells(len(missing) - at)) + note)
                return
            self.queue.submit(both.hold_against_alone).result()
            swept.keep(cell, sweep.outcome(both))
            shown = drawn(swept, cells)
            if cell is not missing[-1]:
                yield shown(_named(missing[at + 1]) + note, 0.0, missing[at + 1])
                time.sleep(DRAWING_S)
        yield shown(say("sessions.sweep_done") + note)

    def _seconds(self, pair: Pair, missing: Sequence[Cell]) -> float:
        """How long these will take, taking each lane for as fast as the target alone."""
        return 2 * sum(cell.settings.max_new_tokens for cell in missing) * self._pace(pair)

    def _pace(self, pair: Pair) -> float:
        """Seconds of one target pass over one position here: a handful of passes, a turn each, once a model."""
        if pair.target not in self._paces:
            reader, clock = CachedModel(pair.target), Clock({pair.target.device})
            ids = [(7 * i + 3) % pair.target.vocab_size for i in range(min(PACE_TEXT, pair.target.context))]

            def one(length: int) -> float:
                clock.lap()
                reader.logits(ids[:length])
                return clock.lap()

            lengths = range(max(1, len(ids) - PACE_PASSES), len(ids) + 1)
            times = [self.queue.submit(partial(one, length)).result() for length in lengths]
            # kept, so a busy moment must not decide: others on the machine only ever add time
            self._paces[pair.target] = min(times[1:] or times)
        return self._paces[pair.target]


def cells_of(visitor: Visitor, choice: Choice) -> list[Cell]:
    """The cells of a choice, or SettingsError with what is missing in it."""
    for what, chosen in (
        ("strategy", choice.strategies), ("k", choice.ks), ("temperature", choice.temperatures), ("prompt", choice.prompts)
    ):  # fmt: skip
        if not chosen:
            raise SettingsError(sentence(f"sessions.sweep_no_{what}"))
    settings = replace(visitor.controls.settings(), max_new_tokens=choice.tokens)
    own = Prompt(OWN, visitor.controls.prompt, settings.chat)
    known = {name: Prompt(name, preset.prompt, preset.chat) for name, preset in PRESETS.items()}
    prompts = [own if name == OWN else known[name] for name in choice.prompts]
    if not all(prompt.text for prompt in prompts):
        raise SettingsError(sentence("sessions.sweep_empty_prompt"))
    strategies, ks = [n for n in STRATEGIES if n in choice.strategies], sorted(set(choice.ks))
    temperatures = sorted(set(choice.temperatures))
    return sweep.grid(prompts, settings, strategies, ks, temperatures, " · ".join(visitor.controls.models))


def drawn(swept: SweepResults, cells: Sequence[Cell]) -> Any:
    """``shown(line, share, cell)``: what is seen with the cells that are done by now; pictures and table are made once."""
    found = sweep.table(cells, swept.done, swept.rows)
    done = sum(cell.key in swept.done for cell in cells)
    pictures, table = "", ""
    if not found.empty:
        data = {"pictures": view.pictures(found), "csv": view.csv(found), "jsonl": view.json_lines(found)}
        pictures, table = wire.pack(data), view.html(found, _note(cells))

    def shown(line: str, share: float = 0.0, cell: Cell | None = None) -> Seen:
        number = done + 1 if cell is not None else done
        bar = view.progress(number, len(cells), (done + share) / len(cells), line, going=cell is not None)
        return Seen(bar, pictures, table)

    return shown


def _plan(cells: Sequence[Cell], missing: Sequence[Cell], seconds: float | None) -> str:
    tokens = f"{2 * sum(cell.settings.max_new_tokens for cell in missing):,}"
    words, here = _cells(len(cells)), len(cells) - len(missing)
    if not missing:
        return say("sessions.sweep_nothing_left", cells=words)
    if here:
        words = say("sessions.sweep_here", cells=words, done=here)
    if seconds is None:
        return say("sessions.sweep_plan", cells=words, tokens=tokens)
    return say("sessions.sweep_plan_timed", cells=words, tokens=tokens, time=_time(seconds))


def _cells(n: int) -> str:
    return say("sessions.sweep_cells", n=n, count=f"{n:,}")


def _line(cell: Cell, left: float | None) -> str:
    name = _named(cell)
    return name if left is None else say("sessions.sweep_left", cell=name, time=_time(left))


def _named(cell: Cell) -> str:
    return say("sessions.sweep_cell", strategy=cell.settings.strategy, k=cell.settings.k, prompt=cell.prompt.name)


def _time(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _note(cells: Sequence[Cell]) -> str:
    prompts = len({cell.prompt for cell in cells})
    warmth = say("sessions.and").join(f"{t:g}" for t in sorted({cell.settings.temperature for cell in cells}))
    settings = cells[0].settings
    over = say("sessions.sweep_over_prompts", prompts=prompts) if prompts > 1 else say("sessions.sweep_over_steps")
    return say(
        "sessions.sweep_settings",
        tokens=amount("tokens", settings.max_new_tokens),
        temperatures=warmth,
        rule=rule_named(settings.rule),
        seed=settings.seed,
        over=over,
    )
