"""Losslessness is an identity: Σ_x draft(x)·[a(x)·δ_x + (1 − a(x))·residual_x] = target. No sampling needed.

Rules that say they are lossless must keep it, rules that say they are not must break it.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
import torch

from specviz.core.sampling import one_hot
from specviz.core.settings import RunSettings
from specviz.recordings.gallery import FIRST_SETTINGS
from specviz.verification import RULES
from specviz.verification.base import whole_target

LOSSLESS = {name: rule for name, rule in RULES.items() if rule.lossless}
LOSSY = {name: rule for name, rule in RULES.items() if not rule.lossless}
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


def test_the_rule_that_is_chosen_without_asking_is_lossless():
    assert RunSettings().rule in LOSSLESS and FIRST_SETTINGS.rule in LOSSLESS


@pytest.mark.parametrize("name", LOSSY)
@pytest.mark.parametrize("siblings", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_every_lossy_rule_breaks_the_identity_at_each_end_of_its_knobs(name, siblings, seed):
    """A rule that claims less than it keeps would cry wolf; one that kept it at some setting should be called exact."""
    target, *drafts = distributions(seed, 1 + siblings)
    ends = [{}] + [{knob_name: end} for knob_name, k in LOSSY[name].knobs.items() for end in (k.low, k.high)]
    for options in ends:
        emitted = outcome(LOSSY[name].tuned(options), target, drafts)
        assert emitted.sum() == pytest.approx(1, abs=1e-12)
        assert (emitted - target).abs().sum() > 0.004, options


@pytest.mark.parametrize("name", LOSSY)
def test_point_masses_break_it_too(name):
    target = distributions(1, 1)[0]
    likely = one_hot(int(target.argmax()), SIZE).double()
    assert (outcome(LOSSY[name], target, [likely]) - target).abs().sum() > 0.05


@pytest.mark.parametrize("name", RULES)
def test_where_the_target_is_certain_every_rule_writes_its_token(name):
    target = one_hot(3, SIZE).double()
    for draft in (distributions(1, 1)[0], target, one_hot(4, SIZE).double()):
        assert torch.equal(outcome(RULES[name], target, [draft]), target)


def test_lenience_emits_no_token_more_often_than_its_bound():
    for seed in range(20):
        target, draft = distributions(seed, 2)
        for lenience in (0.1, 0.5, 0.9):
            emitted = outcome(RULES["lenience"].tuned({"lenience": lenience}), target, [draft])
            assert (emitted <= target / lenience + 1e-12).all()


def test_lenience_comes_to_the_exact_rule_as_l_comes_to_one():
    target, draft = distributions(0, 2)
    apart = [
        float((outcome(RULES["lenience"].tuned({"lenience": x}), target, [draft]) - target).abs().sum())
        for x in (0.05, 0.5, 0.95)
    ]
    assert apart == sorted(apart, reverse=True) and apart[-1] > 0


def test_typical_acceptance_by_hand():
    """Entropy of (1/2, 1/4, 1/4) is 1.5 ln 2 = 1.0397, so δ·exp(−H) = 0.3·0.35355 = 0.1061; ε = 0.09 is less."""
    rule, draft = RULES["typical acceptance"], one_hot(0, 4).double()
    target = torch.tensor([0.5, 0.25, 0.25, 0.0], dtype=torch.float64)
    assert [rule.accept_prob(token, target, draft) for token in range(4)] == [1, 1, 1, 0]
    assert [rule.tuned({"epsilon": 0.9}).accept_prob(token, target, draft) for token in range(4)] == [1, 1, 1, 0]
    strict = rule.tuned({"epsilon": 0.9, "delta": 0.8})  # 0.8·0.35355 = 0.2828
    assert [strict.accept_prob(token, target, draft) for token in range(4)] == [1, 0, 0, 0]
    assert torch.equal(rule.residual(3, target, draft), target)


def test_the_test_can_fail_resampling_from_the_plain_target_is_caught():
    broken = replace(RULES["speculative sampling"], residual=whole_target)
    target, draft = distributions(0, 2)
    assert (outcome(broken, target, [draft]) - target).abs().sum() > 0.05


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
