"""What a pair's draft model would guess at every position of a finished output: one teacher-forced pass, in pieces.

Example: ``guessing = Guessing(pair, trace)``, ``while guessing.step(): ...``, then `metrics.counterfactual` with
``guessing.guesses`` and ``guessing.end_ids``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.core.sampling import penalise
from specviz.core.settings import SpecvizError
from specviz.core.words import sentence
from specviz.drafting.base import Readers
from specviz.drafting.parts import end_ids_of
from specviz.models.cached import CachedModel
from specviz.verification import RULES, is_lossless

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.traces.trace import Trace

PIECE = 128
"""Positions of the output read at once: between two pieces others can take a turn."""


def obstacle(trace: Trace) -> str | None:
    """None where every K follows from this run, else the reason why it does not."""
    if not trace.steps:
        return sentence("errors.k_no_step")
    if any(step.settings.temperature != 0 for step in trace.steps):
        return sentence("errors.k_sampled")
    if unknown := next((r for step in trace.steps if (r := step.settings.rule) not in RULES), None):
        return sentence("errors.k_rule_unknown", rule=repr(unknown))
    if any(not is_lossless(step.settings.rule) for step in trace.steps):
        return sentence("errors.k_lossy")
    if len({step.settings.repetition_penalty for step in trace.steps}) > 1:
        return sentence("errors.k_penalty")
    return None


class Guessing:
    """Greedy drafting's guesses over the output of `trace`. Raises SpecvizError where the run or the pair rules it out.

    `guesses[i]`: the token after prompt and `i` tokens of the output; None beyond the draft model's context. `end_ids`:
    tokens that end a draft of this pair.
    """

    def __init__(self, pair: Pair, trace: Trace) -> None:
        if reason := obstacle(trace):
            raise SpecvizError(sentence("errors.other_k", reason=reason))
        if pair.draft is None:
            raise SpecvizError(sentence("errors.no_guesses"))
        target = CachedModel(pair.target)
        self.reader = CachedModel(pair.draft, target.columns)
        self.end_ids = end_ids_of(Readers(target, self.reader))
        self.guesses: list[int | None] = []
        self._prompt, self._output = list(trace.prompt_ids), list(trace.output_ids)
        self._penalty = trace.steps[0].settings.repetition_penalty

    def step(self) -> bool:
        """Read the next piece; whether there is more to read."""
        first, known = len(self.guesses), len(self._prompt)
        context, length = self.reader.loaded.context, len(self._output)
        last = min(first + PIECE, length, context - known + 1)  # a text as long as the context still has a next token
        if last <= first:
            self.guesses += [None] * (length - first)
            return False
        ids = self._prompt + self._output[: last - 1]
        rows = self.reader.logits(ids, last=last - first)
        if self._penalty != 1:
            rows = penalise(rows, [ids[: known + position] for position in range(first, last)], self._penalty)
        self.guesses += rows.argmax(dim=-1).tolist()
        return len(self.guesses) < length
