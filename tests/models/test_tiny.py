"""The tiny models are what they claim to be: other tests lean on these answers."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM

from tests import tiny


def logits(name: str, ids: list[int]) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(tiny.folder(name), dtype=torch.float32)
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0]


@pytest.mark.parametrize(
    ("name", "table"),
    [("target12", tiny.target_table), ("draft12", tiny.draft_table), ("cycle12", tiny.cycle_table)],
)
def test_a_bigram_model_answers_its_table_to_the_last_bit(name, table):
    ids = [3, 1, *range(12), 3]
    assert torch.equal(logits(name, ids), table()[ids])


def test_the_draft_agrees_with_its_target_on_about_six_tenths():
    assert 0.5 < float(tiny.overlap().mean()) < 0.7


def test_greedy_outputs_are_the_known_ones():
    assert tiny.generate(tiny.folder("cycle12"), [0], 13) == [*range(1, 12), 0, 1]
    assert tiny.generate(tiny.folder("padtarget16"), [0], 5) == [1, 2, 15, 4, 5]
    penalised = tiny.generate(tiny.folder("target12"), [0], 12, repetition_penalty=1.5)
    assert penalised == [8, 9, 10, 7, 2, 11, 4, 8, 9, 6, 1, 6]


@pytest.mark.parametrize("prompt", [[0], [1, 1, 1], [5, 10, 3]])
def test_the_context_model_keeps_clear_of_ties(prompt):
    ids = prompt + tiny.generate(tiny.folder("ctx_t"), prompt, 60)
    best = logits("ctx_t", ids)[len(prompt) - 1 : -1].topk(2).values
    assert float((best[:, 0] - best[:, 1]).min()) > 0.02


def test_the_context_models_use_their_context_and_half_agree():
    rows = logits("ctx_t", [1, 2, 3, 4, 3])
    assert not torch.allclose(rows[2], rows[4], atol=0.1)
    ids = [0, *tiny.generate(tiny.folder("ctx_t"), [0], 60)]
    agree = (logits("ctx_t", ids).argmax(-1) == logits("ctx_d", ids).argmax(-1)).float().mean()
    assert 0.2 < float(agree) < 0.9


def test_half_precision_overflows_and_float32_does_not():
    half = AutoModelForCausalLM.from_pretrained(tiny.folder("fp16inf"), dtype=torch.float16)
    assert not torch.isfinite(half(torch.tensor([[0]])).logits).any()
    assert torch.isfinite(logits("fp16inf", [0])).all()
