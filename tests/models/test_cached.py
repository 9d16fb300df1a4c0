"""The cache is invisible: with and without it the same logits, whatever was read before."""

import random

import pytest
import torch

from specviz.models.cached import CachedModel, self_check
from specviz.models.loading import load_model
from specviz.settings import SpecvizError
from tests import tiny


@pytest.mark.parametrize("name", ["ctx_t", "gpt2pos32", "bytes_lm"])
def test_cached_equals_uncached_along_a_random_walk_of_texts(name):
    loaded = load_model(tiny.folder(name), dtype="float32")
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


def test_a_failed_pass_leaves_no_half_read_cache(monkeypatch):
    loaded = load_model(tiny.folder("ctx_t"), dtype="float32")
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
