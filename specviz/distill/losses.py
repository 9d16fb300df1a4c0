"""What a student is taught: the target's probabilities of its likeliest tokens, and one bucket for all others.

The student's normaliser would need all of the vocabulary, most of the cost of a small model. It is estimated over the
ids that the target names anywhere in the batch and some random ones, which stand for the rest with a weight. With
random ids enough for the whole rest the estimate is exact.

Example: of 49,152 ids a batch of 2,000 positions names some 6,000; with 1,024 random ones the loss costs a seventh.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_NONE_LEFT = -1e-6
"""Log of the share of likeliest tokens in a student's distribution, at most: so that its tail has a logarithm."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Part of a vocabulary. `ids` [size]; `log_weights` [size]: 0 for a named id, log of how many ids a random one
    stands for; `index` [positions, top]: where each of the target's likeliest ids is in `ids`; `known` [positions, top]:
    whether the student has it at all; `target_probs` [positions, top], 0 where it has not; `tail_probs` [positions]: what the
    target gives to all others."""

    ids: Tensor
    log_weights: Tensor
    index: Tensor
    known: Tensor
    target_probs: Tensor
    tail_probs: Tensor


def sample_vocabulary(
    top_ids: Tensor, top_logprobs: Tensor, vocab_size: int, random_ids: int, generator: torch.Generator | None = None
) -> Sample:
    """All ids below `vocab_size` in `top_ids` [positions, top], and `random_ids` more of the others (all, if so many).

    `generator` lives on the CPU, so that the draw is the same on every device.
    """
    known = top_ids < vocab_size
    named, index = torch.unique(torch.where(known, top_ids, 0), return_inverse=True)
    others = torch.ones(vocab_size, dtype=torch.bool, device=named.device)
    others[named] = False
    rest = others.nonzero()[:, 0]
    weight = 0.0
    if random_ids < len(rest):
        drawn = torch.randint(len(rest), (random_ids,), generator=generator).to(rest.device)
        weight = float(torch.log(torch.tensor(len(rest) / max(1, random_ids))))
        rest = rest[drawn]
    log_weights = torch.cat([torch.zeros(len(named)), torch.full((len(rest),), weight)]).to(named.device)
    probs = top_logprobs.exp()
    tail = (1 - probs.sum(-1)).clamp(min=0.0)  # float16 log-probabilities may add up to a little more than 1
    return Sample(torch.cat([named, rest]), log_weights, index, known, torch.where(known, probs, 0.0), tail)


def draft_logprobs(logits: Tensor, sample: Sample) -> tuple[Tensor, Tensor]:
    """The student's log-probabilities of the target's likeliest ids [positions, top], and of all others together [positions].

    `logits`: [positions, size] over `sample.ids`, any float format. An id that the student does not have is -inf.
    """
    logits = logits.float()
    normaliser = torch.logsumexp(logits + sample.log_weights, dim=-1)
    top = logits.gather(1, sample.index) - normaliser[:, None]
    top = top.masked_fill(~sample.known, -torch.inf)
    named = torch.logsumexp(torch.where(sample.known, top, -1e30), dim=-1)
    return top, torch.log(-torch.expm1(named.clamp(max=_NONE_LEFT)))


def cross_entropy(logits: Tensor, sample: Sample) -> Tensor:
    """Mean over positions of -Σ target_probs · log draft_probs, over the likeliest ids and one bucket for all others.

    Probability that the target gives to an id that the student does not have is left out.
    """
    top, tail = draft_logprobs(logits, sample)
    named = (sample.target_probs * top.masked_fill(~sample.known, 0.0)).sum(-1)
    return -(named + sample.tail_probs * tail).mean()


def rejection_chance(logits: Tensor, sample: Sample) -> Tensor:
    """Mean over positions of Σ max(0, target_probs - draft_probs) over the likeliest ids: the chance, as far as they tell,
    that speculative sampling rejects a draft (1 - overlap; Leviathan et al. 2023, arXiv 2211.17192, section 3.3)."""
    top, _ = draft_logprobs(logits, sample)
    return torch.relu(sample.target_probs - top.exp()).sum(-1).mean()
