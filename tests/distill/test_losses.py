"""The loss over part of a vocabulary, against the plain one over all of it."""

import pytest
import torch

from specviz.distill.losses import cross_entropy, draft_logprobs, rejection_chance, sample_vocabulary

VOCABULARY, POSITIONS, TOP = 40, 7, 5


@pytest.fixture
def case():
    chance = torch.Generator().manual_seed(3)
    logits = torch.randn(POSITIONS, VOCABULARY, generator=chance) * 2
    target = torch.log_softmax(torch.randn(POSITIONS, VOCABULARY, generator=chance) * 2, -1)
    logprobs, ids = target.topk(TOP)
    return logits, ids, logprobs


def plain(logits, ids, logprobs):
    """Written anew from the definition, one position at a time, in float64."""
    total = 0.0
    for row, named, logs in zip(logits.double(), ids, logprobs.double(), strict=True):
        draft, target = torch.softmax(row, 0), logs.exp()
        total -= (target * draft[named].log()).sum() + (1 - target.sum()) * (1 - draft[named].sum()).log()
    return float(total / len(logits))


def test_with_all_ids_in_the_sample_the_loss_is_the_full_one(case):
    logits, ids, logprobs = case
    sample = sample_vocabulary(ids, logprobs, VOCABULARY, random_ids=VOCABULARY)
    assert sorted(sample.ids.tolist()) == list(range(VOCABULARY))
    assert float(cross_entropy(logits[:, sample.ids], sample)) == pytest.approx(plain(logits, ids, logprobs), rel=1e-5)


def test_few_random_ids_estimate_the_normaliser_without_bias(case):
    logits, ids, logprobs = case
    ids, logprobs = ids[:, :1], logprobs[:, :1]  # so that most of the vocabulary is left to chance
    whole = torch.logsumexp(logits, -1)
    chance = torch.Generator().manual_seed(0)
    found = []
    for _ in range(3000):
        sample = sample_vocabulary(ids, logprobs, VOCABULARY, 8, chance)
        found.append(torch.logsumexp(logits[:, sample.ids] + sample.log_weights, -1).exp())
    mean = torch.stack(found).mean(0)
    assert torch.allclose(mean / whole.exp(), torch.ones(POSITIONS), atol=0.05)


def test_the_chance_of_rejection_is_one_minus_the_overlap_when_all_tokens_are_known(case):
    logits, _, _ = case
    target = torch.log_softmax(logits.flip(0) * 0.7, -1)
    logprobs, ids = target.topk(VOCABULARY)
    sample = sample_vocabulary(ids, logprobs, VOCABULARY, 0)
    overlap = torch.minimum(torch.softmax(logits, -1), target.exp()).sum(-1).mean()
    assert float(rejection_chance(logits[:, sample.ids], sample)) == pytest.approx(1 - float(overlap), abs=1e-5)


def test_an_id_that_the_student_lacks_has_no_probability_and_no_share_in_the_loss(case):
    logits, ids, logprobs = case
    small = int(ids[0, 0])  # the first position's likeliest token is the first that the student has not
    sample = sample_vocabulary(ids, logprobs, small, VOCABULARY)
    top, _ = draft_logprobs(logits[:, sample.ids], sample)
    assert top[0, 0] == -torch.inf and sample.target_probs[0, 0] == 0
    assert torch.isfinite(cross_entropy(logits[:, sample.ids], sample))
    assert float(rejection_chance(logits[:, sample.ids], sample)) < 1


def test_gradients_are_finite_where_the_student_is_certain(case):
    logits, ids, logprobs = case
    sure = torch.zeros_like(logits).scatter_(1, ids[:, :1], 200.0).requires_grad_()
    sample = sample_vocabulary(ids, logprobs, VOCABULARY, VOCABULARY)
    cross_entropy(sure[:, sample.ids], sample).backward()
    assert torch.isfinite(sure.grad).all()
