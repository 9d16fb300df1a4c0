"""The cache is invisible: with and without it the same logits, whatever was read before."""

import random

import pytest
import torch

from specviz.core.settings import SpecvizError
from specviz.models.cached import CachedModel
from specviz.models.loading import load_model
from specviz.models.self_check import self_check
from tests import tiny


@pytest.mark.parametrize("name", ["ctx_t", "gpt2pos32", "bytes_lm"])
def test_cached_equals_uncached_along_a_random_walk_of_texts(name):
    loaded = load_model(tiny.folder(name), dtype="float32")
    assert loaded.cache_mode == "rollback"  # else nothing would be cached at all
    choose, reader, ids = random.Random(5), CachedModel(loaded), [1, 2, 3]
    for _ in range(40):
        cut = choose.randrange(1, len(ids) + 1)
        ids = (ids[:cut] + [choose.randrange(loaded.vocab_size) for _ in range(choose.randrange(1, 5))])[:30]
        last = choose.randrange(1, min(5, len(ids)) + 1)
        plain = loaded.model(torch.tensor([ids])).logits[0, -last:]
        assert torch.allclose(reader.logits(ids, last=last), plain, atol=1e-4)


def test_only_what_is_new_is_read():
    reader = CachedModel(load_model(tiny.folder("ctx_t"), dtype="float32"))
    reader.catch_up([1, 2, 3, 4, 5])
    assert reader.positions == 4 and reader.behind([1, 2, 3, 4, 5]) == 0
    reader.logits([1, 2, 3, 4, 5, 6, 7], last=3)
    assert reader.positions == 3
    reader.logits([1, 2, 3, 4, 5, 6, 9, 8], last=2)  # 7 is dropped, 9 and 8 are new
    assert reader.positions == 2


@pytest.mark.parametrize("name", ["ctx_t", "gpt2pos32", "recurrent"])
def test_a_tree_that_grows_is_read_on_and_right_at_every_node(name):
    loaded = load_model(tiny.folder(name), dtype="float32")
    choose, text = random.Random(7), [1, 2, 3, 4]
    reader = CachedModel(loaded)
    for _ in range(6):
        nodes, parents = [], []
        for level in range(3):
            new = choose.randrange(1, 4)
            nodes += [choose.randrange(12) for _ in range(new)]
            parents += [
                choose.choice(range(-1, len(parents) - 1)) if level and len(parents) > 1 else -1 for _ in range(new)
            ]
            rows = reader.tree_logits(text, nodes, parents, last=new)
            if level and loaded.reads_trees and not all(p == n - 1 for n, p in enumerate(parents[:-new])):
                assert reader.positions == new
            for row, node in zip(rows, range(len(nodes) - new, len(nodes)), strict=True):
                way = []
                while node >= 0:
                    way.insert(0, nodes[node])
                    node = parents[node]
                assert torch.allclose(row, loaded.model(torch.tensor([text + way])).logits[0, -1], atol=2e-4)
        text = text + way  # some branch wins
    assert torch.allclose(reader.logits(text)[0], loaded.model(torch.tensor([text])).logits[0, -1], atol=2e-4)


def test_after_a_tree_only_what_is_off_the_winning_branch_is_behind():
    reader = CachedModel(load_model(tiny.folder("ctx_t"), dtype="float32"))
    reader.tree_logits([1, 2], [3, 4, 5, 6], [-1, -1, 1, 2])
    assert [reader.behind(ids) for ids in ([1, 2, 4, 5, 6, 0], [1, 2, 4, 5, 9], [1, 2, 9, 9], [1, 9, 4, 5])] == [
        0,
        0,
        1,
        2,
    ]
    reader.catch_up([1, 2, 4, 5, 6, 0])
    assert reader.positions == 6  # nothing was read for it
    reader.logits([1, 2, 4, 5, 6, 0])
    assert reader.positions == 1


@pytest.mark.parametrize(("name", "reads"), [("ctx_t", True), ("gpt2pos32", True), ("recurrent", False)])
def test_whether_a_model_reads_trees_is_found_out_at_load(name, reads):
    assert load_model(tiny.folder(name), dtype="float32").reads_trees is reads


def test_a_model_that_ignores_the_mask_reads_its_branches_one_by_one(monkeypatch):
    loaded = load_model(tiny.folder("ctx_t"), dtype="float32")
    right = CachedModel(loaded).tree_logits([1, 2], [3, 4, 5], [-1, -1, 1])
    plain = loaded.model.forward

    def maskless(input_ids=None, logits_to_keep=0, attention_mask=None, position_ids=None, cache=None, use_cache=None):
        return plain(input_ids, logits_to_keep=logits_to_keep, cache=cache, use_cache=use_cache)

    monkeypatch.setattr(loaded.model, "forward", maskless)
    monkeypatch.setattr(loaded, "plain", None)  # so that the model itself is asked
    try:
        assert self_check(loaded) == "rollback" and not loaded.reads_trees
        assert torch.allclose(CachedModel(loaded).tree_logits([1, 2], [3, 4, 5], [-1, -1, 1]), right, atol=2e-4)
    finally:
        monkeypatch.undo()
        self_check(loaded)


def test_a_failed_pass_leaves_no_half_read_cache(monkeypatch):
    loaded = load_model(tiny.folder("ctx_t"), dtype="float32")
    monkeypatch.setattr(loaded, "plain", None)  # so that the pass goes through the layer that fails
    reader = CachedModel(loaded)
    reader.logits([1, 2, 3])
    right = reader.logits([1, 2, 3, 4]).clone()
    layer = loaded.model.model.layers[2]
    handle = layer.register_forward_pre_hook(lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        reader.logits([1, 2, 3, 4, 5])
    handle.remove()
    assert torch.allclose(reader.logits([1, 2, 3, 4]), right, atol=1e-5)


def test_logits_are_float32_and_as_wide_as_asked():
    loaded = load_model(tiny.folder("draft12"), dtype="bfloat16")
    wide = CachedModel(loaded, columns=16).logits([1])
    assert wide.dtype == torch.float32 and wide.shape == (1, 16) and torch.isinf(wide[0, 12:]).all()
    assert CachedModel(loaded, columns=10).logits([1]).shape == (1, 10)


def test_a_recurrent_model_is_recomputed_and_exact():
    loaded = load_model(tiny.folder("recurrent"), dtype="float32")
    assert self_check(loaded) == loaded.cache_mode
    reader = CachedModel(loaded)
    for ids in ([1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 9], [1, 2, 9, 4]):
        assert torch.allclose(reader.logits(ids)[0], loaded.model(torch.tensor([ids])).logits[0, -1], atol=1e-5)


def test_an_empty_text_is_told():
    with pytest.raises(SpecvizError, match="Type a prompt"):
        CachedModel(load_model(tiny.folder("ctx_t"))).logits([])
