"""What a run is between two steps: plain data, and caches that only make it fast. `engine` makes and steps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specviz.core.records import BaselineRecord, Costs, StepRecord, StopReason
from specviz.core.settings import RunSettings
from specviz.drafting import STRATEGIES, Drafter, Readers, make_ready
from specviz.models.describe import describe
from specviz.traces.trace import Trace
from specviz.verification import Rule, lossy

if TYPE_CHECKING:
    from specviz.models.pair import Pair


@dataclass(slots=True)
class Run:
    """One run of one visitor. `seed` and `prompt_ids` are fixed at the start; all else may change between steps."""

    pair: Pair
    prompt: str
    prompt_ids: list[int]
    seed: int
    readers: Readers
    prefill_s: float = 0.0
    read: bool = False
    """Whether all of the prompt has been read (`read`); the first step reads what is left."""
    steps: list[StepRecord] = field(default_factory=list)
    output_ids: list[int] = field(default_factory=list)
    stop: StopReason | None = None
    cut: str | None = None
    """The text before a stop string, once there was one."""
    stops: dict[str, str] = field(default_factory=dict)
    """The stop strings of the last step, each with the output text at the time when it was set."""
    drafters: dict[str, Drafter] = field(default_factory=dict)
    baseline: BaselineRecord | None = None
    others: int = 0
    """Turns that others took between the steps: their times are those of a machine with more to do. Counted by whoever
    drives the run."""
    costs: dict[str, Costs] = field(default_factory=dict)
    """What "cost-aware" chooses by; given at the start or measured when first needed, and never altered after."""
    judge: Rule | None = None
    """Decides instead of the rule that settings name: a wrong one that a check must catch (`distribution_check`). Records
    do not name it, so such a run is counted and thrown away."""

    @property
    def ids(self) -> list[int]:
        """Prompt and output."""
        return self.prompt_ids + self.output_ids

    @property
    def positions_read(self) -> int:
        """How many tokens of the prompt have been read."""
        return (
            len(self.prompt_ids)
            if self.read
            else len(self.prompt_ids) - 1 - self.readers.target.behind(self.prompt_ids)
        )

    @property
    def text(self) -> str:
        """The output so far, decoded from the whole id list: without the end token, cut before a stop string."""
        if self.cut is not None:
            return self.cut
        end_ids = self.pair.target.eos_ids
        return self.pair.target.codec.decode(i for i in self.output_ids if i not in end_ids)

    def limit(self, settings: RunSettings) -> tuple[int, StopReason]:
        """How many more tokens fit, and what ends the run then."""
        length = settings.max_new_tokens - len(self.output_ids)
        context = self.pair.target.context - len(self.prompt_ids) - len(self.output_ids)
        return (length, StopReason.LENGTH) if length <= context else (context, StopReason.CONTEXT)

    def finished(self, settings: RunSettings) -> bool:
        """Whether nothing more can come. A run ended by length goes on when the limit is raised."""
        if self.stop in (None, StopReason.LENGTH):
            room, why = self.limit(settings)
            self.stop = None if room > 0 else why
        return self.stop is not None

    def drafter(self, strategy: str) -> Drafter:
        """The run's drafter of that strategy, begun when it is first used."""
        if strategy not in self.drafters:
            make_ready(self.pair, strategy)
            self.drafters[strategy] = STRATEGIES[strategy].start(self.readers)
        return self.drafters[strategy]

    def trace(self) -> Trace:
        """The run so far."""
        show = self.pair.target.codec.show
        return Trace(
            prompt=self.prompt,
            prompt_ids=tuple(self.prompt_ids),
            steps=tuple(self.steps),
            text=self.text,
            stop=self.stop,
            pair=describe(self.pair)
            | {"drafted_with": {n: d.about for n, d in self.drafters.items() if d.about}}
            # told in the saved file too, for whoever reads it without knowing the rules
            | {"lossless": not lossy(self.steps)},
            prefill_s=self.prefill_s,
            prompt_texts=tuple(show(i) for i in self.prompt_ids),
            baseline=self.baseline,
            costs=dict(self.costs),
            others=self.others,
        )
