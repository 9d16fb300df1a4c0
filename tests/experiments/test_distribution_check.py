"""Whole runs of the toy pair through the engine: right rules have the exact products, others are caught."""

import numpy as np
import pytest
import torch

from specviz.core.settings import SettingsError
from specviz.experiments.distribution_check import (
    LENGTH,
    PROMPT,
    SETTINGS,
    STRATEGIES,
    WholeRuns,
    exact,
    replace,
    texts,
)
from specviz.experiments.position_replay import WRONG
from specviz.metrics import lossless
from specviz.models.toy import WORDS, toy_pair
from specviz.verification import RULES

RUNS = 300
RIGHT = [name for name, rule in RULES.items() if rule.lossless]
OTHERS = [name for name in RULES if name not in RIGHT]


def counted(rule, strategy):
    check = WholeRuns(rule, replace(SETTINGS, strategy=strategy))
    check.more(RUNS)
    assert check.counts.sum() == RUNS
    return lossless.chi_square(check.counts, check.probs)


def test_the_exact_probabilities_are_products_of_the_targets_rows():
    probs = exact(toy_pair(), SETTINGS)
    assert len(probs) == len(WORDS) ** LENGTH == len(texts()) and probs.sum() == pytest.approx(1, abs=1e-9)
    for outcome in (0, 17, 100, 215):
        words = np.unravel_index(outcome, (len(WORDS),) * LENGTH)
        ids = torch.tensor([[*PROMPT, *map(int, words)]])
        rows = torch.softmax(toy_pair().target.model(ids).logits[0].double(), -1)  # the library's own forward pass
        product = np.prod([float(rows[len(PROMPT) - 1 + i, word]) for i, word in enumerate(words)])
        assert probs[outcome] == pytest.approx(product, rel=1e-4)
        assert texts()[outcome] == " ".join(WORDS[word] for word in words)


def test_target_and_draft_neither_agree_nor_ignore_each_other():
    pair = toy_pair()
    assert pair.draft is not None
    probs = [torch.softmax(m.model(torch.tensor([PROMPT])).logits[0, -1], -1) for m in (pair.target, pair.draft)]
    assert 0.3 < float(torch.minimum(*probs).sum()) < 0.9


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("rule", RIGHT)
def test_right_rules_have_the_targets_distribution(rule, strategy):
    assert not counted(rule, strategy).differs


@pytest.mark.parametrize("rule", [*OTHERS, *WRONG])
def test_other_rules_are_caught(rule):
    assert counted(rule, "sampling").differs


def test_with_nothing_drafted_no_rule_has_a_say():
    assert not counted("typical acceptance", "none").differs


def test_what_does_not_fit_is_an_error_before_any_run():
    with pytest.raises(SettingsError, match="no strategy named"):
        WholeRuns("token matching", replace(SETTINGS, strategy="magic"))
