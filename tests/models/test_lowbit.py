"""Copies with rounded weights: near the model, made of new bytes only where weights are rounded, the model untouched."""

import gc
import weakref
from dataclasses import replace

import pytest
import torch
from torch import nn

from specviz.models import lowbit
from specviz.models.cached import CachedModel
from specviz.models.fitness import ModelError
from specviz.models.loading import load_model
from specviz.models.lowbit import GROUP, Int4Linear, Int8Linear, low_bit, unavailable_reason
from specviz.models.plain import PlainLlama
from specviz.models.self_check import self_check
from tests import tiny

IDS = [1, 2, 3, 1, 2, 4, 7, 5]


def rounded(weight, bits):
    """The weights [out, in] that a layer of so many bits should stand for, float32."""
    if bits == 8:
        scales = (weight.abs().amax(1, keepdim=True) / 127).bfloat16().float()
        return (weight / scales).round().clamp(-127, 127) * scales
    groups = weight.view(len(weight), -1, GROUP)
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scales = ((high - low) / 15).bfloat16().float()
    zeros = (low + 8 * scales).bfloat16().float()
    return (((groups - zeros) / scales + 8).round().clamp(0, 15).sub(8) * scales + zeros).view(weight.shape)


@pytest.mark.parametrize(("bits", "kind"), [(8, Int8Linear), (4, Int4Linear)])
@pytest.mark.parametrize("shape", [(12, 32), (16, 64), (50, 96), (257, 32)])
@pytest.mark.parametrize("rows", [1, 2, 5, 33])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_layer_multiplies_by_the_rounded_weights(bits, kind, shape, rows, dtype):
    generator = torch.Generator().manual_seed(1)
    weight, bias = torch.randn(shape, generator=generator), torch.randn(shape[0], generator=generator).to(dtype)
    x = torch.randn(2, rows, shape[1], generator=generator).to(dtype)
    y = kind(weight, bias)(x)
    expected = x.bfloat16().float() @ rounded(weight, bits).T + bias.float()
    assert y.dtype == dtype and y.shape == (2, rows, shape[0])
    assert float((y.float() - expected).abs().max()) < 0.01 * float(expected.abs().max())


@pytest.mark.parametrize("kind", [Int8Linear, Int4Linear])
def test_weights_that_fit_the_grid_lose_nothing(kind):
    grid = torch.arange(16.0).repeat(16, 2) - 8  # two groups of 0 … 15, shifted
    weight = grid * 2**-4 if kind is Int4Linear else torch.cat([grid, torch.full((16, GROUP), 127.0)], 1) * 2**-7
    x = torch.eye(weight.shape[1])
    assert torch.equal(kind(weight, None)(x).T, weight)


def test_rows_of_zeros_and_equal_weights_stay_so():
    for kind in (Int8Linear, Int4Linear):
        y = kind(torch.stack([torch.zeros(32), torch.full((32,), 0.5)]), None)(torch.ones(1, 32))
        assert y.tolist() == [[0.0, 16.0]]


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("name", ["ctx_t", "gpt2pos32", "bytes_lm"])
def test_a_copy_is_near_its_model_and_fewer_bits_are_further(pair, bits, name):
    target = pair(name).target
    own = torch.softmax(CachedModel(target).logits(IDS, last=len(IDS)), -1)
    near = {b: torch.softmax(CachedModel(low_bit(target, b)).logits(IDS, last=len(IDS)), -1) for b in (8, 4)}
    overlap = {b: float(torch.minimum(own, probs).sum(-1).mean()) for b, probs in near.items()}
    assert overlap[8] > 0.97 and 0.7 < overlap[4] < overlap[8] < 1


@pytest.mark.parametrize("bits", [8, 4])
def test_only_weight_matrices_are_new_and_the_model_is_untouched(pair, bits):
    target = pair("ctx_t").target
    before = [p.clone() for p in target.model.parameters()]
    copy = low_bit(target, bits)
    assert all(torch.equal(a, b) for a, b in zip(target.model.parameters(), before, strict=True))
    assert all(type(m) is nn.Linear for m in target.model.modules() if hasattr(m, "in_features"))
    shared = {id(p) for p in target.model.parameters()}
    kept = dict(copy.model.named_parameters())
    assert {id(p) for p in kept.values()} <= shared and all("norm" in n or "embed" in n for n in kept)
    head = copy.model.lm_head
    assert isinstance(head, Int8Linear)
    assert isinstance(copy.model.model.layers[0].mlp.down_proj, {8: Int8Linear, 4: Int4Linear}[bits])
    # 8 bits a weight and a scale a row; 4 bits and a scale and a zero a group, but for the head
    matrices = [m for m in target.model.modules() if isinstance(m, nn.Linear) and m is not target.model.lm_head]
    rows, weights = sum(m.out_features for m in matrices), sum(m.weight.numel() for m in matrices)
    in_head = 16 * 32 + 16 * 2
    assert copy.bytes == in_head + (weights + 2 * rows if bits == 8 else weights // 2 + weights // GROUP * 4)


def test_a_head_tied_to_the_embedding_is_rounded_and_the_embedding_is_not(tmp_path):
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    more = {"max_position_embeddings": 64, "vocab_size": tiny.WORDS, "tie_word_embeddings": True}
    tiny._write_random(tmp_path, "LlamaForCausalLM", "LlamaConfig", std=0.3, **shape, **more, **tiny._NO_IDS)
    tiny.write_words_tokenizer(tmp_path)
    target = load_model(tmp_path, dtype="float32")
    assert target.model.lm_head.weight is target.model.model.embed_tokens.weight
    copy = low_bit(target, 4)
    assert isinstance(copy.model.lm_head, Int8Linear)
    assert copy.model.model.embed_tokens.weight is target.model.model.embed_tokens.weight
    assert target.model.lm_head.weight is target.model.model.embed_tokens.weight


@pytest.mark.parametrize("bits", [8, 4])
def test_a_copy_is_rolled_back_and_reads_trees_as_its_model_does(pair, bits):
    copy = low_bit(pair("ctx_t").target, bits)
    assert (self_check(replace(copy, dtype=torch.bfloat16)), copy.reads_trees) == ("rollback", True)


@pytest.mark.parametrize("bits", [8, 4])
def test_its_short_way_is_the_librarys_pass_over_the_same_weights(pair, bits):
    copy = low_bit(pair("ctx_t").target, bits)
    assert isinstance(copy.plain, PlainLlama)
    short, library = CachedModel(copy), CachedModel(replace(copy, plain=None))
    for text in (IDS[:3], IDS, [*IDS[:5], 9, 9], IDS):
        rows = [reader.logits(text, last=2) for reader in (short, library)]
        # a layer's input is rounded to bfloat16, and the two ways round the norms before it in another order
        assert torch.allclose(*rows, atol=0.02 * float(rows[0].abs().max()))


def test_a_layer_that_the_kernels_would_read_beyond_stays_as_it_is(pair):
    copy = low_bit(pair("target12").target, 8)  # 16 inputs but for the down projections, which have 32
    assert type(copy.model.lm_head) is nn.Linear and isinstance(copy.model.model.layers[0].mlp.down_proj, Int8Linear)


def test_where_no_copy_can_be_made_one_sentence_says_why(pair, tables, monkeypatch):
    assert unavailable_reason(pair("ctx_t").target) is None
    assert "for CPUs, and ctx_t is on meta" in unavailable_reason(
        replace(pair("ctx_t").target, device=torch.device("meta"))
    )
    assert "no weight matrices" in unavailable_reason(replace(tables.target, model=nn.Embedding(12, 12)))
    monkeypatch.delattr(torch, "_weight_int4pack_mm_for_cpu")
    assert "has no kernels" in unavailable_reason(pair("ctx_t").target)


def test_without_memory_nothing_is_made(pair, monkeypatch):
    monkeypatch.setattr(lowbit, "check_memory", _full)
    with pytest.raises(ModelError, match="ctx_t in 4 bits"):
        low_bit(pair("ctx_t").target, 4)


def test_the_memory_asked_for_counts_what_rounding_needs_beside_the_copy(pair, monkeypatch):
    asked, target = [], pair("ctx_t").target
    monkeypatch.setattr(lowbit, "check_memory", lambda name, size, *_: asked.append(size))
    low_bit(target, 4)
    largest = max(m.weight.numel() for m in target.model.modules() if isinstance(m, nn.Linear))
    assert asked == [target.parameters // 2 + 4 * 4 * largest]


def _full(name, *_):
    raise ModelError(f"{name} needs about 9 GB of memory.")


def test_progress_is_told_and_ends_at_1(pair):
    told = []
    low_bit(pair("ctx_t").target, 8, lambda share, sentence: told.append((share, sentence)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    assert {sentence for _, sentence in told} == {"Making ctx_t in 8 bits."}


def test_it_does_not_keep_its_target_alive(tmp_path):
    target = load_model(tiny.copy("ctx_t", tmp_path), dtype="float32")
    copy, gone = low_bit(target, 4), weakref.ref(target)
    del target
    gc.collect()
    assert gone() is None and copy.vocab_size == tiny.WORDS
