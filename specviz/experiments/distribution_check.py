"""Whole runs through the real engine, against the exact product of the target's probabilities.

A pair of six words (`models.toy`) writes a few words again and again, each time with another seed, and how often each
text came is held against its probability: the product of the target's own rows. Nothing is replayed or simplified here:
drafting, the block pass, the walk, caches and coins are those of every run.

Example: ``check = WholeRuns("speculative sampling", RunSettings(strategy="greedy", k=2)); check.more(100)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from specviz.core.sampling import shape
from specviz.core.settings import NO_DRAFT, RunSettings
from specviz.decoding import engine
from specviz.drafting.chain import chain, drawn
from specviz.drafting.parts import on_draft_model
from specviz.experiments.position_replay import ARGMAX, FROM_P
from specviz.metrics.lossless import Array, Counts
from specviz.models.cached import CachedModel
from specviz.models.toy import WORDS, toy_pair
from specviz.verification.wrong import FROM_THE_TARGET

if TYPE_CHECKING:
    from torch import Tensor

    from specviz.models.pair import Pair

LENGTH = 3
PROMPT = (0, 1, 2)
SETTINGS = RunSettings(k=2, temperature=1.0, max_new_tokens=LENGTH)
STRATEGIES = ("sampling", "greedy", "sampled tree", "beam search", NO_DRAFT)
"""One that draws, one that chooses, trees of both, and the target alone."""


def argmax_as_drawn(logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
    """The mistake "argmax judged as a draw" in a drafter: the argmax, and a distribution that it was not drawn from."""
    _, probs = drawn(logits, history, settings, coin)
    return int(probs.argmax()), probs


mistaken_drafter = on_draft_model(partial(chain, pick=argmax_as_drawn))


class WholeRuns:
    """Runs of one rule (of `RULES`, or a wrong one) that were made so far, counted by what they wrote.

    `probs` [outcomes]: probability of each text of `LENGTH` words, by the target alone.
    """

    def __init__(self, rule: str, settings: RunSettings = SETTINGS, pair: Pair | None = None) -> None:
        self.rule = rule
        self.pair = pair or toy_pair()
        # a wrong rule takes the place of a right one
        right = "speculative sampling" if rule in (FROM_P, ARGMAX) else rule
        strategy = "greedy" if rule == ARGMAX else settings.strategy
        self.settings = replace(settings, rule=right, strategy=strategy, max_new_tokens=LENGTH)
        engine.check(self.pair, self.settings)
        self.probs = exact(self.pair, self.settings)
        self.counts: Counts = np.zeros(len(self.probs), dtype=np.int64)
        self.runs = 0

    def more(self, runs: int) -> None:
        """Make that many more, with the next seeds."""
        size = self.pair.target.vocab_size
        for seed in range(self.runs, self.runs + runs):
            settings = replace(self.settings, seed=seed)
            run = engine.start(self.pair, PROMPT, settings)
            if self.rule == FROM_P:
                run.judge = FROM_THE_TARGET
            if self.rule == ARGMAX:
                run.drafters["greedy"] = mistaken_drafter(run.readers)
            while not run.finished(settings):
                engine.step(run, settings)
            self.counts[np.ravel_multi_index(run.output_ids, (size,) * LENGTH)] += 1
        self.runs += runs


def exact(pair: Pair, settings: RunSettings) -> Array:
    """Probability of each text of `LENGTH` words after `PROMPT`, [words ** LENGTH], float64."""
    reader, size = CachedModel(pair.target), pair.target.vocab_size
    probs = np.ones((size,) * LENGTH)
    for length in range(LENGTH):
        for before in product(range(size), repeat=length):
            ids = [*PROMPT, *before]
            row = shape(reader.logits(ids).cpu().double(), [ids], settings)[0].numpy()
            probs[before] *= row.reshape(size, *[1] * (LENGTH - length - 1))
    return probs.reshape(-1)


def texts() -> list[str]:
    """What each outcome says, in the order of `exact`."""
    return [" ".join(words) for words in product(WORDS, repeat=LENGTH)]
