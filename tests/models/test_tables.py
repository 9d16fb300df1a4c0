"""Tables of n-grams: counted by hand, kept small, found by the content of a vocabulary."""

import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.models import table_maker, tables
from specviz.models.cached import CachedModel
from specviz.models.folders import ModelError
from specviz.models.table_maker import make, texts_of, write
from specviz.models.tables import NgramTable, find, fingerprint, load, read_head
from tests import tiny
from tests.conftest import WORDS, texts

A, B, C = range(3)


def pairs(*answers, prompt=()):
    return [(np.array(prompt, dtype=np.int64), np.array(answer)) for answer in answers]


def table(*answers, order=3, size=4, most=10**6):
    return NgramTable(make(pairs(*answers), size, order, most), order, size)


def test_witten_and_bell_by_hand():
    # a is followed by b twice and by c twice; single tokens: a 4, b 2, c 2 of 8, three kinds, so 3/11 is left for all
    made = table([A, B, A, C], [A, B, A, C], order=2)
    shortest = torch.tensor([4, 2, 2, 0]) / 11 + 3 / 11 / 4
    assert torch.allclose(made.probs([]), shortest, atol=2e-3)
    # after a: 2/(4 + 2) each, a third is left; after b: a twice, 2/(2 + 1); c was followed by nothing
    assert torch.allclose(made.probs([A]), shortest / 3 + torch.tensor([0, 2, 2, 0]) / 6, atol=2e-3)
    assert torch.allclose(made.probs([C, B]), shortest / 3 + torch.tensor([2, 0, 0, 0]) / 3, atol=2e-3)
    assert torch.allclose(made.probs([C]), shortest, atol=2e-3)


def test_what_was_seen_once_is_left_to_the_shorter_context():
    made = table([A, B, A, B, A, C], order=2)
    assert torch.allclose(made.probs([A])[C], made.probs([C])[C] * (1 - 2 / 5), rtol=0.02)


def test_two_tokens_know_more_than_one():
    made = table([A, B, C, B, A, A, B, C, B, A, A, B, C, B, A])
    assert int(made.probs([A, B]).argmax()) == C and int(made.probs([C, B]).argmax()) == A


def test_every_token_has_a_probability_and_all_sum_to_1():
    made = NgramTable(make(texts(), 16), 3, 16)
    for text in ([], [3], [1, 2], [15, 15], list(range(12))):
        probs = made.probs(text)
        assert float(probs.min()) > 0 and float(probs.sum()) == pytest.approx(1, abs=1e-5)


def test_the_end_of_a_prompt_is_a_context_but_is_not_counted():
    with_prompt = NgramTable(make(pairs([B, C], [B, C], prompt=[C, C, A]), 4), 3, 4)
    assert int(with_prompt.probs([C, A]).argmax()) == B
    assert float(with_prompt.probs([A])[B]) > 0.7 and float(with_prompt.probs([])[A]) < 0.1


def test_a_smaller_size_keeps_what_was_seen_most_often():
    whole, small = make(texts(), 12), make(texts(), 12, most=600)
    bytes_of = {
        name: sum(t.numel() * t.element_size() for t in made.values()) for name, made in (("w", whole), ("s", small))
    }
    assert bytes_of["s"] <= 600 < bytes_of["w"]
    assert 0 < len(small["ids2"]) < len(whole["ids2"]) and len(small["ids1"]) == len(whole["ids1"]) == 12


def test_it_answers_as_a_model_does_whatever_was_read_before(pair):
    file = find(fingerprint(WORDS))
    reader = CachedModel(load(file, pair("target12").target), 16)
    module = reader.loaded.model
    rows = reader.logits([3, 1, 2, 9], last=3)
    for row, text in zip(rows, ([3, 1], [3, 1, 2], [3, 1, 2, 9]), strict=True):
        assert torch.allclose(row[:12].exp(), module.probs(text), atol=1e-6)
        assert row.shape == (16,) and bool((row[12:] == -torch.inf).all())
    assert torch.equal(reader.logits([5]), reader.logits([5]))
    whole = module(torch.tensor([[3, 1, 2, 9]])).logits[0]
    assert torch.equal(whole[1:], rows[:, :12])


def test_counted_in_walks_of_a_target_it_is_a_fair_draft_for_it():
    made = NgramTable(make(texts(), 12), 3, 12)
    target = tiny.probs(tiny.target_table())
    overlap = [float(torch.minimum(made.probs([word]).double(), target[word]).sum()) for word in range(12)]
    assert np.mean(overlap) > 0.8


def test_a_vocabulary_is_known_by_its_content(pair, tmp_path, monkeypatch):
    assert fingerprint(WORDS) == fingerprint(pair("cycle12").target.codec.tokens)
    other = {**WORDS, 3: "three"}
    assert find(fingerprint(other)) is None
    monkeypatch.setattr(tables, "FOLDERS", [tmp_path])
    write(tmp_path / "words.safetensors", make(texts(), 12), other, 3, 7, "walks")
    assert find(fingerprint(WORDS)) is None
    assert find(fingerprint(other)).sentence == "n-gram table words: order 3, 7 tokens of walks"


def test_a_file_that_is_no_table_or_a_damaged_one_is_told_in_a_sentence(pair, tmp_path):
    (tmp_path / "text.safetensors").write_bytes(b"no")
    save_file({"x": torch.zeros(1)}, tmp_path / "other.safetensors")
    for name in ("text", "other", "missing"):
        with pytest.raises(ModelError, match=rf"{name}.safetensors is not an n-gram table"):
            read_head(tmp_path / f"{name}.safetensors")
    tensors = make(texts(), 12)
    del tensors["ids2"]
    write(tmp_path / "half.safetensors", tensors, WORDS, 3, 7, "walks")
    with pytest.raises(ModelError, match=r"half.safetensors is damaged"):
        load(read_head(tmp_path / "half.safetensors"), pair("target12").target)


def test_the_script_makes_a_table_out_of_recorded_outputs(tmp_path, monkeypatch, capsys):
    answers = [answer for _, answer in texts()]
    prompts = [prompt for prompt, _ in texts()]
    arrays = {"answer_ids": np.concatenate(answers).astype(np.uint16), "answer_lengths": [len(a) for a in answers]}
    arrays |= {"prompt_ids": np.concatenate(prompts).astype(np.uint16), "prompt_lengths": [len(p) for p in prompts]}
    np.savez(tmp_path / "outputs.npz", **arrays)
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(
        sys, "argv", ["x", str(tmp_path / "outputs.npz"), str(tiny.folder("target12")), "--about", "walks"]
    )
    table_maker.main()
    file = read_head(tmp_path / "tables" / "target12.safetensors")
    assert (file.tokens, file.order, file.about, file.vocab_size) == (1600, 3, "walks", 12)
    assert file.vocabulary == fingerprint(WORDS) and "bytes" in capsys.readouterr().out
    expected = make(texts(), 12)
    assert all(torch.equal(t, expected[name]) for name, t in load_file(file.path).items())
    with np.load(tmp_path / "outputs.npz") as loaded:
        del arrays["prompt_ids"]
        assert len(texts_of(arrays)) == len(texts_of(loaded)) == 40


@pytest.mark.parametrize("argument", ["missing.npz", "text.npz"])
def test_the_script_says_what_is_wrong(tmp_path, monkeypatch, argument):
    (tmp_path / "text.npz").write_text("no")
    monkeypatch.setattr(sys, "argv", ["x", str(tmp_path / argument), str(tiny.folder("target12")), "--about", "walks"])
    with pytest.raises(SystemExit, match=r"."):
        table_maker.main()


def test_the_bundled_table_is_small_and_that_of_the_default_targets_vocabulary():
    files = list(tables.FOLDERS[0].glob("*"))
    assert sum(path.stat().st_size for path in files) <= 1e6
    (file,) = map(read_head, files)  # that it is found for the default target is a test of the real pair
    assert file.vocab_size == 49152 and file.tokens > 600_000
