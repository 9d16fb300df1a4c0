"""The written-out pass of a small Llama against the library's own, position by position, in blocks, in trees, after rollbacks."""

import dataclasses

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.models.cached import CachedModel
from specviz.models.plain import PlainLlama, plain_forward
from specviz.models.self_check import self_check
from tests.conftest import tiny_pair


@pytest.fixture(params=["ctx_t", "ctx_d", "bytes_lm"])
def loaded(request):
    return tiny_pair(request.param).target


def both(loaded):
    """A reader that goes the short way, and one that goes the library's."""
    assert isinstance(loaded.plain, PlainLlama)
    return CachedModel(loaded), CachedModel(dataclasses.replace(loaded, plain=None))


def agree(one, other):
    assert torch.allclose(one, other, atol=1e-4)


def test_blocks_single_positions_and_rollbacks(loaded):
    plain, library = both(loaded)
    ids = [(5 * i + 2) % loaded.vocab_size for i in range(30)]
    for text in (ids[:1], ids[:9], ids[:10], ids[:7] + ids[20:], ids[:8], ids):
        agree(plain.logits(text, last=min(4, len(text))), library.logits(text, last=min(4, len(text))))
        assert plain.positions == library.positions


def test_trees(loaded):
    plain, library = both(loaded)
    ids, nodes, parents = [1, 5, 3, 3], [2, 4, 6, 1, 8], [-1, -1, 0, 0, 2]
    agree(plain.tree_logits(ids, nodes, parents), library.tree_logits(ids, nodes, parents))
    ids += [2, 6, 8, 0]  # down one branch and on
    agree(plain.logits(ids), library.logits(ids))


def test_beyond_the_first_table_of_rotations(loaded):
    plain, library = both(dataclasses.replace(loaded))
    ids = [(3 * i + 1) % loaded.vocab_size for i in range(300)]
    agree(plain.logits(ids, last=3), library.logits(ids, last=3))


def test_without_a_cache(loaded):
    ids = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])
    with torch.inference_mode():
        agree(loaded.plain(ids).logits, loaded.model(ids, use_cache=False).logits)


def test_the_check_at_load_holds_for_it(loaded):
    copy = dataclasses.replace(loaded)
    assert self_check(copy) == "rollback" and copy.reads_trees


def made(**more):
    shape = {"vocab_size": 20, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    return LlamaForCausalLM(LlamaConfig(**shape | {"num_attention_heads": 4, "num_key_value_heads": 2} | more)).eval()


def test_fewer_key_value_heads_a_tied_head_and_a_head_size_of_its_own():
    torch.manual_seed(0)
    model = made(head_dim=8, tie_word_embeddings=True).requires_grad_(False)
    ids = torch.tensor([[1, 7, 3, 9, 2]])
    with torch.inference_mode():
        agree(plain_forward(model)(ids).logits, model(ids, use_cache=False).logits)


@pytest.mark.parametrize(
    "more",
    [
        {"num_hidden_layers": 5},
        {"hidden_act": "gelu"},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    ],
)
def test_anything_else_keeps_the_library_s_pass(more):
    assert plain_forward(made(**more)) is None


def test_another_kind_of_model_keeps_the_library_s_pass():
    assert tiny_pair("gpt2pos32").target.plain is None
