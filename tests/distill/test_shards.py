"""Files of answers: what is read is what was written, and damage is found."""

import numpy as np
import pytest
import torch

from specviz.distill import shards
from specviz.distill.batches import collate, plan


def arrays(answers=((5, 6, 2), (7, 2)), prompts=((1, 3), (1, 4, 4)), top=2):
    tokens = [token for answer in answers for token in answer]
    return {
        "prompt_ids": np.array([i for p in prompts for i in p], np.uint16),
        "prompt_lengths": np.array([len(p) for p in prompts], np.uint16),
        "answer_ids": np.array(tokens, np.uint16),
        "answer_lengths": np.array([len(a) for a in answers], np.uint16),
        "top_ids": np.array([[t, (t + 1) % 9] for t in tokens], np.uint16)[:, :top],
        "top_logprobs": np.log(np.array([[0.6, 0.3]] * len(tokens), np.float16))[:, :top],
        "temperature": np.array([0, 1], np.float16),
    }


@pytest.fixture
def file(tmp_path):
    shards.save(tmp_path / "00000.npz", arrays())
    return tmp_path / "00000.npz"


def test_prompts_and_answers_come_back_in_order(file):
    corpus = shards.load([file, file], 9)
    assert corpus.ids.tolist() == [1, 3, 5, 6, 2, 1, 4, 4, 7, 2] * 2
    assert corpus.first.tolist() == [0, 3, 5, 8] and corpus.lengths.tolist() == [5, 5, 5, 5]
    assert corpus.held_out.sum() == 2  # both answers to one of the two prompts
    assert corpus.held_out[0] == corpus.held_out[2]


def test_a_batch_names_the_position_before_each_answer_token(file):
    corpus = shards.load([file], 9)
    batch = collate(corpus, np.array([0, 1]), torch.device("cpu"))
    assert batch.input_ids.tolist() == [[1, 3, 5, 6, 2], [1, 4, 4, 7, 2]]
    seen = batch.input_ids.flatten()[batch.positions].tolist()
    assert seen == [3, 5, 6, 4, 7]
    assert batch.top_ids[:, 0].tolist() == [5, 6, 2, 7, 2] and batch.temperature.tolist() == [0, 0, 0, 1, 1]


def test_an_epoch_reads_every_text_once_and_no_batch_is_too_wide(tmp_path):
    answers = [tuple([3] * n) for n in range(1, 40)]
    data = arrays(answers, [(1, 3)] * 39)
    shards.save(tmp_path / "a.npz", data | {"temperature": np.ones(39), "held_out": np.arange(39) < 4})
    corpus = shards.load([tmp_path / "a.npz"], 9)
    batches = plan(corpus, 100, seed=1, epoch=0)
    assert sorted(np.concatenate(batches)) == list(range(4, 39))
    assert all(len(b) == 1 or corpus.lengths[b].max() * len(b) <= 100 for b in batches)
    assert all((a == b).all() for a, b in zip(batches, plan(corpus, 100, seed=1, epoch=0), strict=True))


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-40])


def flipped(path):
    data = bytearray(path.read_bytes())
    data[300] ^= 0xFF  # inside the first array
    path.write_bytes(bytes(data))


def emptied(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [cut_off, flipped, emptied])
def test_a_damaged_file_is_found(file, spoil):
    spoil(file)
    with pytest.raises(shards.BadShard, match=r"00000\.npz"):
        shards.load([file], 9)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer_lengths": np.array([3, 3])}, "do not fit together"),
        ({"prompt_lengths": np.array([5, 0])}, "do not fit together"),
        ({"top_ids": np.array([[1, 11]] * 5)}, "ids that the target does not have"),
        ({"top_ids": None}, "no array top_ids"),
    ],
)
def test_arrays_that_do_not_fit_are_errors(tmp_path, change, sentence):
    data = {name: array for name, array in (arrays() | change).items() if array is not None}
    shards.save(tmp_path / "a.npz", data)
    with pytest.raises(shards.BadShard, match=sentence):
        shards.load([tmp_path / "a.npz"], 9)
