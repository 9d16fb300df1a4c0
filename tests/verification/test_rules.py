"""Losslessness is an identity: Σ_x draft(x)·[a(x)·δ_x + (1 − a(x))·residual_x] = target. No sampling needed."""

from fractions import Fraction

import pytest
import torch

from specviz.sampling import one_hot
from specviz.verification import RULES

LOSSLESS = {name: rule for name, rule in RULES.items() if rule.lossless}
SIZE = 9


def distributions(seed, count):
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(2 * torch.randn(count, SIZE, generator=generator, dtype=torch.float64), -1)


def outcome(rule, target, drafts):
    """Exact distribution of what is emitted when siblings are tried one after another, each from its own draft."""
    if not drafts:
        return target
    total = torch.zeros(SIZE, dtype=torch.float64)
    for token in range(SIZE):
        chance = float(drafts[0][token])
        if chance == 0:
            continue
        accept = rule.accept_prob(token, target, drafts[0])
        total[token] += chance * accept
        if accept < 1:
            total += chance * (1 - accept) * outcome(rule, rule.residual(token, target, drafts[0]), drafts[1:])
    return total


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("siblings", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_lossless_rule_returns_the_target_distribution(name, siblings, seed):
    target, *drafts = distributions(seed, 1 + siblings)
    assert torch.allclose(outcome(LOSSLESS[name], target, drafts), target, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", LOSSLESS)
def test_point_masses_are_lossless_too(name):
    target = distributions(1, 1)[0]
    for first in range(SIZE):
        drafts = [one_hot(first, SIZE).double(), one_hot((first + 1) % SIZE, SIZE).double()]
        assert torch.allclose(outcome(LOSSLESS[name], target, drafts), target, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", LOSSLESS)
def test_filtered_distributions_with_zeros_are_lossless_too(name):
    target, draft = distributions(5, 2)
    target[3:], draft[:2] = 0, 0
    target, draft = target / target.sum(), draft / draft.sum()
    assert torch.allclose(outcome(LOSSLESS[name], target, [draft]), target, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", LOSSLESS)
def test_equal_distributions_leave_a_defined_residual(name):
    target = distributions(2, 1)[0]
    for token in range(SIZE):
        assert torch.isfinite(LOSSLESS[name].residual(token, target, target)).all()


def test_the_test_can_fail_resampling_from_the_plain_target_is_caught():
    class Broken(type(RULES["speculative sampling"])):
        def residual(self, token, target, draft):
            return target

    target, draft = distributions(0, 2)
    assert (outcome(Broken(), target, [draft]) - target).abs().sum() > 0.05


def test_the_test_can_fail_softmax_of_an_argmax_draft_is_caught():
    rule = RULES["speculative sampling"]
    target, softmax = distributions(3, 2)
    token = int(softmax.argmax())  # chosen, but judged as if it had been drawn from the softmax
    accept = rule.accept_prob(token, target, softmax)
    emitted = accept * one_hot(token, SIZE).double() + (1 - accept) * rule.residual(token, target, softmax)
    assert (emitted - target).abs().sum() > 0.05


def test_several_candidates_exact_values():
    """definitions.md: chance that one of k candidates is accepted by recursive rejection."""
    target = [Fraction(309, 500), Fraction(177, 500), Fraction(7, 250)]
    draft = [Fraction(373, 1000), Fraction(29, 50), Fraction(47, 1000)]
    rule = RULES["speculative sampling"]

    def accepted(left, drafts):
        if not drafts:
            return 0.0
        total = 0.0
        for token, chance in enumerate(drafts[0].tolist()):
            if chance:
                a = rule.accept_prob(token, left, drafts[0])
                rest = rule.residual(token, left, drafts[0])
                later = [without(d, token) for d in drafts[1:]] if replace_not else drafts[1:]
                total += chance * (a + (1 - a) * accepted(rest, later))
        return total

    def without(probs, token):
        probs = probs.clone()
        probs[token] = 0
        return probs / probs.sum()

    p, q = (torch.tensor([float(x) for x in row], dtype=torch.float64) for row in (target, draft))
    replace_not = False
    assert accepted(p, [q]) == pytest.approx(151 / 200, abs=1e-12)
    assert accepted(p, [q, q]) == pytest.approx(169277 / 200000, abs=1e-12)
    replace_not = True
    assert accepted(p, [q, q]) == pytest.approx(192754417 / 200130000, abs=1e-12)
