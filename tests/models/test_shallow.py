"""The first layers of a model, as a model of its own: the same tensors, and the model itself untouched."""

import gc
import weakref

import pytest
import torch

from specviz.models.cached import CachedModel
from specviz.models.loading import load_model
from specviz.models.self_check import self_check
from specviz.models.shallow import depth, shallow
from tests import tiny

IDS = [1, 2, 3, 1, 2, 4, 7, 5]


def made(path, name):
    """A seeded random model of another family, of three layers."""
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
    shape |= {"num_key_value_heads": 4, "max_position_embeddings": 64, "vocab_size": tiny.WORDS, "head_dim": 8}
    config = f"{name}Config" if name != "Gemma3" else "Gemma3TextConfig"
    tiny._write_random(path, f"{name}ForCausalLM", config, std=0.3, **shape, **tiny._NO_IDS)
    tiny.write_words_tokenizer(path)
    return load_model(path, dtype="float32")


def test_the_first_layer_of_four_with_norm_and_head_is_the_model_that_was_written_so(pair):
    # ctx_d is ctx_t's first layer, its embedding, norm and head
    target, first = pair("ctx_t").target, pair("ctx_d").target
    rows = CachedModel(shallow(target, 1)).logits(IDS, last=len(IDS))
    assert torch.equal(rows, CachedModel(first).logits(IDS, last=len(IDS)))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_it_answers_what_the_model_knows_after_so_many_layers(pair, layers):
    model = pair("ctx_t").target.model
    with torch.inference_mode():
        hidden = model(torch.tensor([IDS]), output_hidden_states=True).hidden_states[layers]
        expected = model.lm_head(model.model.norm(hidden))[0]
    rows = CachedModel(shallow(pair("ctx_t").target, layers)).logits(IDS, last=len(IDS))
    assert torch.allclose(rows, expected, atol=1e-5)


def test_every_tensor_is_the_models_own_and_the_model_keeps_all_its_layers(pair):
    target = pair("ctx_t").target
    before = CachedModel(target).logits(IDS, last=len(IDS))
    draft = shallow(target, 2)
    own = {id(p) for p in target.model.parameters()} | {id(b) for b in target.model.buffers()}
    assert {id(p) for p in (*draft.model.parameters(), *draft.model.buffers())} <= own
    reader = CachedModel(draft)
    reader.logits(IDS)
    assert len(reader._cache.layers) == len(draft.model.model.layers) == draft.model.config.num_hidden_layers == 2
    assert len(target.model.model.layers) == target.model.config.num_hidden_layers == 4
    assert torch.equal(CachedModel(target).logits(IDS, last=len(IDS)), before)


def test_after_an_error_in_the_middle_of_a_pass_the_model_has_all_its_layers(pair, monkeypatch):
    target = pair("ctx_t").target
    before = CachedModel(target).logits(IDS)
    draft = shallow(target, 2)
    with monkeypatch.context() as patch:
        patch.setattr(draft.model.model.layers[1].mlp, "forward", lambda x: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            CachedModel(draft).logits(IDS)
    assert depth(target.model) == 4 and torch.equal(CachedModel(target).logits(IDS), before)


def test_it_can_be_rolled_back_and_reads_trees_as_its_target_does(pair):
    draft = shallow(pair("ctx_t").target, 2)
    assert (self_check(draft), draft.reads_trees) == ("rollback", True)


@pytest.mark.parametrize("name", ["Qwen2", "Qwen3", "Mistral", "Phi3", "Gemma3", "Granite", "Olmo2"])
def test_other_families_built_like_llama(tmp_path, name):
    target = made(tmp_path, name)
    with torch.inference_mode():
        hidden = target.model(torch.tensor([IDS]), output_hidden_states=True).hidden_states
    draft = shallow(target, 2)
    seen = {}
    draft.model.model.norm.register_forward_pre_hook(lambda module, args: seen.update(hidden=args[0]))
    CachedModel(draft).logits(IDS)
    assert torch.allclose(seen["hidden"], hidden[2], atol=1e-5)


@pytest.mark.parametrize(("name", "layers"), [("gpt2pos32", None), ("recurrent", None), ("ctx_d", 1), ("ctx_t", 4)])
def test_what_counts_as_built_like_llama(pair, name, layers):
    assert depth(pair(name).target.model) == layers


def test_it_does_not_keep_its_target_alive(tmp_path):
    target = load_model(tiny.copy("ctx_t", tmp_path), dtype="float32")
    draft, gone = shallow(target, 1), weakref.ref(target)
    del target
    gc.collect()
    assert gone() is None and draft.vocab_size == tiny.WORDS
