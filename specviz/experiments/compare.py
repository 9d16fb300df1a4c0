"""Several ways to draft, side by side on one prompt: the same coins, and the same noise of the machine.

Each lane is a run of its own. The lane with the fewest tokens takes the next step, so all of them move through the text
together and a moment in which the machine is slow is slow for all. The target alone is a lane like any other.

Example: ``for lane in Comparison(pair, prompt, lanes_of(settings, ["greedy", "beam search"])).steps(): ...``
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specviz.core.settings import NO_DRAFT, RunSettings, SettingsError
from specviz.core.words import sentence
from specviz.decoding import baseline, engine
from specviz.drafting import STRATEGIES, make_ready
from specviz.experiments.compared import ALONE, Compared

if TYPE_CHECKING:
    from specviz.decoding.state import Run
    from specviz.models.pair import Pair
    from specviz.models.where import Progress
    from specviz.traces.trace import Trace


def lanes_of(settings: RunSettings, strategies: Sequence[str]) -> dict[str, RunSettings]:
    """The target alone, then `settings` with each strategy. All have one seed: the same coin at the same position."""
    lanes = {ALONE: replace(settings, strategy=NO_DRAFT, k=0)}
    return lanes | {name: replace(settings, strategy=name) for name in dict.fromkeys(strategies) if name != NO_DRAFT}


def fitting(pair: Pair) -> list[str]:
    """Strategies that this pair can draft with, in the order of their table."""
    return [name for name, strategy in STRATEGIES.items() if name != NO_DRAFT and strategy.fits(pair) is None]


@dataclass(slots=True)
class Lane:
    """One run of the comparison."""

    name: str
    settings: RunSettings
    run: Run | None = None
    """None until its prompt is first looked at."""
    read: bool = False
    """Whether all of the prompt has been read."""

    @property
    def done(self) -> bool:
        """Whether nothing more can come."""
        return self.run is not None and self.run.finished(self.settings)

    @property
    def length(self) -> int:
        """Tokens written; -1 before the prompt was read, so that reading comes first."""
        return len(self.run.output_ids) if self.run is not None and self.read else -1


class Comparison:
    """The lanes of one prompt. Raises SpecvizError for a lane that does not fit, before any takes a step.

    What the strategies draft with is made here where it is missing (`Strategy.prepare`); models are read in `step` only.
    """

    def __init__(
        self,
        pair: Pair,
        prompt: str | Sequence[int],
        lanes: Mapping[str, RunSettings],
        progress: Progress | None = None,
    ) -> None:
        if not lanes:
            raise SettingsError(sentence("errors.compare_none"))
        for settings in lanes.values():
            engine.check(pair, settings)
        for settings in lanes.values():
            make_ready(pair, settings.strategy, progress)
        self.pair = pair
        self.prompt = prompt
        self.lanes = [Lane(name, settings) for name, settings in lanes.items()]

    @property
    def share(self) -> float:
        """How much is done, 0 … 1."""
        wanted = sum(lane.settings.max_new_tokens for lane in self.lanes)
        made = sum(lane.settings.max_new_tokens if lane.done else max(0, lane.length) for lane in self.lanes)
        return made / wanted

    @property
    def next(self) -> Lane | None:
        """The lane whose turn it is, None when all have ended."""
        return min((lane for lane in self.lanes if not lane.done), key=lambda lane: lane.length, default=None)

    def step(self) -> Lane | None:
        """One step of the lane whose turn it is (the first ones read its prompt, piece by piece); None at the end."""
        if (lane := self.next) is None:
            return None
        if lane.run is None:
            lane.run = engine.begin(self.pair, self.prompt, lane.settings)
        if lane.read:
            engine.step(lane.run, lane.settings)
        else:
            lane.read = not engine.read(lane.run)
        return lane

    def steps(self) -> Iterator[Lane]:
        """To the end, one lane's step at a time."""
        while (lane := self.step()) is not None:
            yield lane

    def hold_against_alone(self) -> None:
        """Compare each lane's text with that of the target alone, as far as both have come; may take a pass a lane."""
        alone = next((lane.run for lane in self.lanes if lane.name == ALONE), None)
        for lane in self.lanes:
            if alone is not None and lane.run is not None and lane.run is not alone and alone.steps and lane.run.steps:
                lane.run.baseline = baseline.compare(lane.run, alone)

    def traces(self) -> dict[str, Trace]:
        """The runs so far."""
        return {lane.name: lane.run.trace() for lane in self.lanes if lane.run is not None}

    def compared(self) -> Compared:
        """The same as one frozen object: what is drawn, raced and saved."""
        return Compared(self.traces(), ended=self.next is None)
