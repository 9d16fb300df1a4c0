"""The target's answers, many side by side, against the same target asked one by one."""

from pathlib import Path

import numpy as np
import pytest
import torch

from specviz.distill import outputs
from specviz.distill.recipe import Recipe
from specviz.models.loading import load_model
from tests import tiny
from tests.conftest import tiny_pair

RECIPE = Recipe(target="", out=Path("."), new_tokens=24, top=5, rows=8)
PROMPTS = [np.array(ids) for ids in ([1, 2], [3], [5, 1, 7, 2, 2, 9], [8, 0, 1], [11], [2, 2, 2, 2, 2], [6, 7])]


def texts(part):
    ends = np.cumsum(part["answer_lengths"])
    return [part["answer_ids"][e - n : e].tolist() for e, n in zip(ends, part["answer_lengths"], strict=True)]


def test_prompts_of_any_length_get_the_greedy_answer_that_the_library_gives():
    target = tiny_pair("ctx_t").target
    part = outputs.answers(target, PROMPTS, np.zeros(7, np.float32), RECIPE, 1)
    assert texts(part) == [tiny.generate(tiny.folder("ctx_t"), p.tolist(), 24) for p in PROMPTS]


@pytest.mark.parametrize("looks", [1, 8])
def test_finished_rows_leave_and_the_others_go_on(looks, monkeypatch):
    monkeypatch.setattr(outputs, "CPU_LOOKS", looks)
    target = load_model(tiny.folder("target12", eos=4), dtype="float32")
    prompts = [np.array([i % 12]) for i in range(200)]
    recipe = Recipe(target="", out=Path("."), new_tokens=24, top=12, rows=64)
    part = outputs.answers(target, prompts, np.full(200, 1.0, np.float32), recipe, 1)
    found = texts(part)
    assert all(4 not in answer[:-1] for answer in found)
    assert all(answer[-1] == 4 or len(answer) == 24 for answer in found)
    assert len({len(answer) for answer in found}) > 1
    # each position's log-probabilities are the row of the token before it
    before = np.concatenate([[p[-1], *answer[:-1]] for p, answer in zip(prompts, found, strict=True)])
    table = torch.log_softmax(tiny.target_table(), -1)[before]
    kept = torch.from_numpy(part["top_logprobs"].astype(np.float32))
    assert torch.allclose(table.gather(1, torch.from_numpy(part["top_ids"].astype(np.int64))), kept, atol=5e-3)


def test_draws_have_the_targets_distribution_at_each_temperature():
    target = tiny_pair("target12").target
    recipe = Recipe(target="", out=Path("."), new_tokens=1, top=2, rows=4000)
    prompts = [np.array([3])] * 8000
    for temperature in (0.5, 1.0):
        part = outputs.answers(target, prompts, np.full(8000, temperature, np.float32), recipe, 7)
        drawn = np.bincount(part["answer_ids"], minlength=12) / 8000
        right = tiny.probs(tiny.target_table(), temperature)[3].numpy()
        assert 0.5 * np.abs(drawn - right).sum() < 0.03  # 0.015 is the mean of fair draws


def test_the_same_seed_draws_the_same():
    target = tiny_pair("ctx_t").target
    warm = np.ones(7, np.float32)
    one, same, other = (outputs.answers(target, PROMPTS, warm, RECIPE, seed) for seed in (1, 1, 2))
    assert texts(one) == texts(same) != texts(other)


def test_no_answer_grows_beyond_the_context():
    target = tiny_pair("gpt2pos32").target
    recipe = Recipe(target="", out=Path("."), new_tokens=100, top=3, rows=8)
    part = outputs.answers(target, [np.arange(9)] * 2, np.zeros(2, np.float32), recipe, 1)
    assert part["answer_lengths"].tolist() == [23, 23]
