"""Strategy × K × temperature × prompt: what each choice brings on this machine, with an interval.

A cell is one choice on one prompt, decoded in turns with the target alone (`compare`), so that a moment in which the
machine is slow is slow for both. Rows pool the prompts of a choice. Knows nothing of screens; nothing is drawn here.

Example::

    cells = grid([Prompt("Story", "Once upon a time", False)], RunSettings(), ["greedy"], [1, 4], [0], "tiny")
    done = {cell.key: measure(pair, cell) for cell in cells}
    table(cells, done)  # two rows
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from specviz.core.settings import NO_DRAFT, RunSettings
from specviz.experiments.compare import Comparison
from specviz.experiments.compared import ALONE
from specviz.metrics import comparison
from specviz.metrics.comparison import rate
from specviz.metrics.intervals import Outcome, columns

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.traces.trace import Trace


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text under a name that may be shown and saved. `chat`: through the chat template where the target has one."""

    name: str
    text: str
    chat: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement to make. `models`: which pair, in words that tell it from others."""

    prompt: Prompt
    settings: RunSettings
    models: str

    @property
    def key(self) -> str:
        """The same for two cells that measure the same thing, whatever else was chosen beside them."""
        prompt = [self.prompt.text, self.prompt.chat]
        return json.dumps([self.models, prompt, self.settings.to_dict()], sort_keys=True)

    @property
    def choice(self) -> tuple[float, str, int]:
        """What its row is about: temperature, strategy, K."""
        return self.settings.temperature, self.settings.strategy, self.settings.k

    def __str__(self) -> str:
        return f"{self.settings.strategy}, K = {self.settings.k}, “{self.prompt.name}”"


def grid(
    prompts: Sequence[Prompt],
    settings: RunSettings,
    strategies: Sequence[str],
    ks: Sequence[int],
    temperatures: Sequence[float],
    models: str,
) -> list[Cell]:
    """All cells, a prompt after the other; `settings` say everything else. The draft length is fixed: K is what varies."""
    fixed = replace(settings, draft_length="fixed")
    return [
        Cell(prompt, replace(fixed, strategy=strategy, k=k, temperature=temperature, chat=prompt.chat), models)
        for prompt in prompts
        for temperature in temperatures
        for strategy in strategies
        for k in ks
    ]


def begin(pair: Pair, cell: Cell) -> Comparison:
    """The cell's two lanes, to be stepped to the end. Raises SpecvizError for a strategy that does not fit."""
    codec = pair.target.codec
    ids = codec.encode(cell.prompt.text, cell.prompt.chat and bool(codec.has_chat_template))
    alone = replace(cell.settings, strategy=NO_DRAFT, k=0)
    return Comparison(pair, ids, {ALONE: alone, cell.settings.strategy: cell.settings})


def outcome(both: Comparison) -> Outcome:
    """What a finished comparison of `begin` leaves."""
    alone, lane = (_lean(trace) for trace in both.traces().values())
    return Outcome(lane, alone)


def measure(pair: Pair, cell: Cell) -> Outcome:
    """A cell from beginning to end, for whoever need not share the machine."""
    both = begin(pair, cell)
    for _ in both.steps():
        pass
    both.hold_against_alone()
    return outcome(both)


def _lean(trace: Trace) -> Trace:
    return replace(trace, steps=tuple(replace(step, positions=()) for step in trace.steps))


Rows = dict[tuple[str, ...], dict[str, Any]]
"""Rows by the keys of the cells they were made of: an interval costs more than all the rest of a row."""


def table(cells: Sequence[Cell], done: Mapping[str, Outcome], known: Rows | None = None) -> pd.DataFrame:
    """A row for each temperature, strategy and K, pooled over the prompts that are done; choices with none are left out.

    `temperature`, `strategy`, `k`, `prompts` and `prompts_wanted` (numbers), then the columns of
    `metrics.comparison.table`, `alone_tokens_per_s`, and for each of `metrics.intervals.INTERVALS` a `…_low` and `…_high`;
    NA where there is no denominator or too little to tell. `known`: rows made before, to which new ones are added.
    """
    groups: dict[tuple[float, str, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.choice, []).append(cell)
    known, rows = {} if known is None else known, []
    for choice, group in groups.items():
        here = tuple(cell.key for cell in group if cell.key in done)
        if not here:
            continue
        if here not in known:
            known[here] = row(choice, [done[key] for key in here])
        about = dict(zip(("temperature", "strategy", "k"), choice, strict=True))
        rows.append(about | {"prompts": len(here), "prompts_wanted": len(group)} | known[here])
    return pd.DataFrame(rows).convert_dtypes() if rows else pd.DataFrame()


def row(choice: tuple[float, str, int], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of one row of `table`, over all `outcomes` of a choice."""
    lanes = {ALONE: [o.alone for o in outcomes], choice[1]: [o.lane for o in outcomes]}
    made = {str(name): value for name, value in comparison.table(lanes, ALONE).to_dict("records")[1].items()}
    del made["lane"]
    made["alone_tokens_per_s"] = rate(lanes[ALONE])
    return made | columns(outcomes)
