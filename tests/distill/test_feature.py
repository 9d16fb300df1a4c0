"""A feature head taught by the recipe: what training computes is what drafting computes, and what comes out drafts."""

import json

import numpy as np
import pytest
import torch

import specviz
from specviz.__main__ import main
from specviz.core.settings import SpecvizError
from specviz.distill.batches import collate, plan
from specviz.distill.feature import FeatureStudent
from specviz.distill.recipe import Recipe
from specviz.distill.shards import load
from specviz.distill.unrolled import unrolled
from specviz.models import head_store
from specviz.models.loading import load_model
from tests import tiny
from tests.models.test_heads import by_definition

OPTIONS = ["--answers", "24", "--shard", "8", "--rows", "8", "--new-tokens", "16", "--top", "8", "--epochs", "8"]
OPTIONS += ["--batch-tokens", "400", "--random-ids", "32", "--held-out", "0.2", "--dtype", "float32"]


def distill(out, *more):
    target = str(tiny.folder("bytes_lm"))
    return main(["distill", "--target", target, "--out", str(out), "--student", "head", *OPTIONS, *more])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("head")
    assert distill(out, "--learning-rate", "0.003", "--overlap-share", "0.25") == 0
    return out


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_each_pass_is_what_drafting_computes_that_deep(depth):
    target = load_model(tiny.folder("ctx_t"), dtype="float32")
    head = head_store.loaded_head(target)
    ids = [1, 2, 3, 7, 5, 9, 4, 2, 8]
    with torch.inference_mode():
        states = target.model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        features = torch.cat([states[layer] for layer in head.network.shape.feature_layers], -1)
        passes = unrolled(head.network, features[:, :-1], head.embedding[torch.tensor([ids[1:]])], depth)
        for position in range(depth - 1, len(ids) - 1):
            logits = head.output @ passes[-1][0, position]
            drafted = by_definition(head, target, ids[: position + 2], known=position + 2 - depth)
            assert torch.allclose(logits, drafted[head.rows], atol=1e-4)


def test_the_recipe_makes_a_head_that_loads_and_drafts(made, monkeypatch):
    folder = made / "bytes-lm-draft-head"
    monkeypatch.setattr(head_store, "HEADS", {folder.name: folder})
    pair = specviz.load_pair(tiny.folder("bytes_lm"), dtype="float32")
    for temperature in (0, 1):
        settings = specviz.RunSettings(strategy="feature head", k=3, max_new_tokens=24, temperature=temperature)
        trace = specviz.run(pair, "Tell me about rain.", settings)
        assert any(step.tokens for step in trace.steps)
    assert "a feature head (EAGLE) of one layer" in (folder / "README.md").read_text()


def test_it_learns_and_is_measured(made):
    lines = [json.loads(line) for line in (made / "head" / "log.jsonl").read_text().splitlines()]
    assert {line["of"] for line in lines[-1:]} == {"refusal"}
    figures = json.loads((made / "head" / "evaluation.json").read_text())
    assert 0 < figures["agreement"] <= 1 and figures["c"] > 0


def student_and_batches(made):
    target = load_model(tiny.folder("bytes_lm"), dtype="float32")
    corpus = load(sorted((made / "outputs").glob("*.npz")), target.vocab_size, 0.2)
    student = FeatureStudent.build(target, 0.25, Recipe(target="x", out=made, random_ids=32))
    return student, [collate(corpus, texts, target.device) for texts in plan(corpus, 400, 1, 0)]


def test_a_step_makes_the_loss_smaller(made):
    student, batches = student_and_batches(made)
    student.begin(batches)
    optimiser = torch.optim.AdamW(student.module.parameters(), lr=2e-3)
    losses = []
    for _ in range(12):
        loss = student.loss(batches[0], torch.Generator().manual_seed(1), overlap=False)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.9 * losses[0]
    assert all(not p.requires_grad for p in student.target.model.parameters())


def test_the_fit_at_the_beginning_explains_the_layers_input_better_than_nothing(made):
    student, batches = student_and_batches(made)
    student.begin(batches)
    known, wanted = student._pairs(batches[0])
    head = student.module.head
    fitted = known @ torch.cat([head.fuse.weight, head.embed.weight], 1).T
    assert (fitted - wanted).square().sum() < 0.9 * wanted.square().sum()


def test_the_ids_it_proposes_are_the_likeliest_of_the_answers(made):
    student, batches = student_and_batches(made)
    student.begin(batches)
    mass = np.zeros(257)
    for batch in batches:
        np.add.at(mass, batch.top_ids.flatten().numpy(), batch.top_logprobs.exp().flatten().numpy())
    rows = student.module.rows.tolist()
    assert rows == sorted(rows) and len(rows) == 64
    assert mass[rows].min() >= np.delete(mass, rows).max()


def test_a_target_that_it_cannot_begin_from_is_an_error():
    target = load_model(tiny.folder("gpt2pos32"), dtype="float32")
    with pytest.raises(SpecvizError, match=r"gpt2pos32 has no Llama-like layers .* choose another student"):
        FeatureStudent.build(target, 0.25, Recipe(target="x", out=tiny.folder("gpt2pos32")))
