"""One position replayed: the rule is asked again and again with fresh draws and coins, or once for all of them exactly.

Many draws cost little: those that have come the same way (the same siblings rejected) stand before the same question, so
the rule answers each question once and numbers decide how many go on. Knows nothing of models or text.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import sentence
from specviz.metrics.lossless import Array, Counts, Stand
from specviz.verification import RULES, Rule, rule_of
from specviz.verification.wrong import ARGMAX_HELP, FROM_THE_TARGET, argmax_as_drawn

FROM_P = sentence("lossless.correction_from_p")
ARGMAX = sentence("lossless.argmax_as_sample")
WRONG: dict[str, str] = {FROM_P: FROM_THE_TARGET.help, ARGMAX: ARGMAX_HELP}
"""Rules that exist to be seen to fail, with what they do."""
MOST_WAYS = 20_000
"""Ways to reject all siblings, beyond which the exact outcome is not summed up."""


@dataclass(slots=True, eq=False)
class Replay:
    """A rule at a position."""

    rule: Rule
    stand: Stand
    _answers: dict[tuple[int, ...], tuple[float, Tensor]] = field(default_factory=dict)

    def draws(self, count: int, generator: np.random.Generator) -> Counts:
        """How often each symbol comes out of `count` replays: [symbols]."""
        emitted: Counts = np.zeros(len(self.stand.texts), dtype=np.int64)
        self._draw((), torch.from_numpy(self.stand.target), count, generator, emitted)
        return emitted

    def outcome(self) -> Array | None:
        """The distribution of what comes out, summed over all ways: [symbols]; None where there are too many ways."""
        if self.stand.drawn != "chosen" and len(self.stand.texts) ** len(self.stand.siblings) > MOST_WAYS:
            return None
        emitted = np.zeros(len(self.stand.texts))
        self._sum((), torch.from_numpy(self.stand.target), 1.0, emitted)
        return emitted

    def _ask(self, rejected: tuple[int, ...], symbol: int, left: Tensor, draft: Array) -> tuple[float, Tensor]:
        """Chance to accept `symbol`, and the residual after rejecting it."""
        way = (*rejected, symbol)
        if way not in self._answers:
            probs = torch.from_numpy(draft)
            self._answers[way] = self.rule.accept_prob(symbol, left, probs), self.rule.residual(symbol, left, probs)
        return self._answers[way]

    def _draw(
        self, rejected: tuple[int, ...], left: Tensor, count: int, generator: np.random.Generator, emitted: Counts
    ) -> None:
        draft = self.stand.source(rejected)
        drawn = _drawn(left.numpy() if draft is None else draft, count, generator)
        if draft is None:  # no sibling left: the correction
            emitted += np.bincount(drawn, minlength=len(emitted))
            return
        coins = generator.random(count)
        for symbol in np.unique(drawn).tolist():
            accept, rest = self._ask(rejected, symbol, left, draft)
            tried = coins[drawn == symbol]
            accepted = int((tried < accept).sum())
            emitted[symbol] += accepted
            if accepted < len(tried):
                self._draw((*rejected, symbol), rest, len(tried) - accepted, generator, emitted)

    def _sum(self, rejected: tuple[int, ...], left: Tensor, weight: float, emitted: Array) -> None:
        draft = self.stand.source(rejected)
        if draft is None:
            emitted += weight * left.numpy()
            return
        for symbol in draft.nonzero()[0].tolist():
            accept, rest = self._ask(rejected, symbol, left, draft)
            emitted[symbol] += weight * draft[symbol] * accept
            if accept < 1:
                self._sum((*rejected, symbol), rest, weight * draft[symbol] * (1 - accept), emitted)


def replay_of(name: str, stand: Stand, settings: RunSettings) -> Replay:
    """The rule of that name, in `RULES` or `WRONG`, at `stand`; its knobs as they stand in `settings`.

    Raises SpecvizError where the position cannot show it.
    """
    if name in RULES:
        return Replay(rule_of(replace(settings, rule=name)), stand)
    if name == FROM_P:
        return Replay(FROM_THE_TARGET, stand)
    if name != ARGMAX:
        raise SpecvizError(sentence("errors.rule_unknown", name=repr(name), known=", ".join([*RULES, *WRONG])))
    softmax = stand.own if stand.drawn == "chosen" else stand.draft
    if softmax is None:
        raise SpecvizError(sentence("errors.no_softmax"))
    chosen = stand.siblings[0] if stand.drawn == "chosen" else int(softmax.argmax())
    if softmax[chosen] <= 0:
        raise SpecvizError(sentence("errors.no_probability"))
    return Replay(argmax_as_drawn(torch.from_numpy(softmax)), stand.only(chosen))


def _drawn(probs: Array, count: int, generator: np.random.Generator) -> Counts:
    """`count` symbols by inverse transform, as `sampling.draw` takes one; a symbol of probability 0 never comes."""
    cumulative = probs.cumsum()
    found: Counts = np.searchsorted(cumulative, generator.random(count) * cumulative[-1], side="right")
    return np.minimum(found, probs.nonzero()[0][-1])
