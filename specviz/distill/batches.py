"""A corpus → batches of texts of about one length, the same for the same seed and epoch.

Example: with 2048 tokens a batch, twelve texts of 160 to 170 tokens go together, filled up on the right. No mask is
needed for that in a causal model: what is on the right is never seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from specviz.distill.shards import Corpus


@dataclass(frozen=True, slots=True)
class Batch:
    """`input_ids`: [texts, positions]; `lengths`: [texts]. Of each answer position n: `positions` [n], the flat index in
    `input_ids` of the token before it; `top_ids`, `top_logprobs` [n, top] of the target there, at temperature 1;
    `temperature` [n] the answer was drawn at."""

    input_ids: Tensor
    lengths: Tensor
    positions: Tensor
    top_ids: Tensor
    top_logprobs: Tensor
    temperature: Tensor


def plan(corpus: Corpus, tokens: int, seed: int, epoch: int, held_out: bool = False) -> list[NDArray[np.int64]]:
    """Texts of each batch, no batch wider than `tokens` (or one text). Every text comes once an epoch."""
    chance = np.random.default_rng((seed, epoch))
    texts = np.flatnonzero(corpus.held_out == held_out)
    lengths = corpus.lengths[texts]
    # a little noise, so that a text meets other neighbours each time
    order = np.argsort(lengths * chance.uniform(0.95, 1.05, len(texts)), kind="stable")
    batches: list[NDArray[np.int64]] = []
    begin, widest = 0, 0
    for here, text in enumerate(order):
        width = max(widest, int(lengths[text]))
        if here > begin and width * (here + 1 - begin) > tokens:
            batches.append(texts[order[begin:here]])
            begin, width = here, int(lengths[text])
        widest = width
    if len(order):
        batches.append(texts[order[begin:]])
    return [batches[i] for i in chance.permutation(len(batches))]


def collate(corpus: Corpus, texts: NDArray[np.int64], device: torch.device, context: int | None = None) -> Batch:
    """The batch of these texts on `device`; texts longer than `context` lose their end."""
    lengths = corpus.lengths[texts]
    if context is not None:
        lengths = np.minimum(lengths, context)
    width = int(lengths.max())
    column = np.arange(width)
    inside = column < lengths[:, None]
    index = np.minimum(corpus.starts[texts][:, None] + column, len(corpus.ids) - 1)
    input_ids = np.where(inside, corpus.ids[index], 0).astype(np.int64)
    prompts = corpus.prompt_lengths[texts]
    answers = np.maximum(lengths - prompts, 0)
    within = np.arange(int(answers.sum())) - np.repeat(np.cumsum(answers) - answers, answers)
    positions = np.repeat(np.arange(len(texts)) * width + prompts - 1, answers) + within
    rows = np.repeat(corpus.first[texts], answers) + within

    def tensor(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)

    return Batch(
        input_ids=tensor(input_ids),
        lengths=tensor(lengths),
        positions=tensor(positions),
        top_ids=tensor(corpus.top_ids[rows].astype(np.int64)),
        top_logprobs=tensor(corpus.top_logprobs[rows].astype(np.float32)),
        temperature=tensor(np.repeat(corpus.temperature[texts], answers)),
    )
