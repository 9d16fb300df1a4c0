"""What loads, what is refused, and in which words."""

from __future__ import annotations

import gc
import json
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.core.settings import SpecvizError
from specviz.models import fetching, fitness, loading
from specviz.models.catalogue import DEFAULT_PAIR, MODELS, OFFLINE_PAIR
from specviz.models.fitness import NO_LIMIT, context_of
from specviz.models.loading import load_model, load_pair
from specviz.models.where import FetchError
from tests import tiny


def rejection(name: str, **options) -> str:
    with pytest.raises(SpecvizError) as error:
        load_model(tiny.folder(name), **options)
    text = str(error.value)
    assert name in text and "\n" not in text and len(text) < 250
    return text


# what loads


def test_a_plain_model_loads_with_its_figures():
    model = load_model(tiny.folder("ctx_t"))
    assert (model.context, model.vocab_size, model.cache_mode) == (128, 12, "rollback")
    assert model.parameters == 42016 and model.bytes == 4 * 42016 and model.dtype is torch.float32
    assert model.eos_ids == frozenset() and model.name == "ctx_t"
    assert not any(parameter.requires_grad for parameter in model.model.parameters())


def test_auto_never_rounds_weights():
    assert load_model(tiny.folder("target12"), dtype="auto").dtype is torch.float32
    assert load_model(tiny.folder("target12"), dtype="bfloat16").dtype is torch.bfloat16
    assert load_model(tiny.folder("fp16inf"), dtype="auto").dtype is torch.float32


def test_end_tokens_of_config_and_generation_config():
    assert load_model(tiny.folder("target12", eos=4)).eos_ids == {4}
    assert load_model(tiny.folder("target12", eos=[4, 2])).eos_ids == {4, 2}
    both = tiny.folder("target12", eos=4, generation={"eos_token_id": [5, 2]})
    assert load_model(both).eos_ids == {5, 2}


def test_stored_generation_defaults_do_not_come_along():
    stored = {"do_sample": True, "temperature": 0.7, "top_p": 0.8, "repetition_penalty": 1.3}
    made = load_model(tiny.folder("target12", generation=stored)).model.generation_config
    assert not made.do_sample and made.temperature in (None, 1.0) and made.repetition_penalty in (None, 1.0)


def test_a_recurrent_model_is_read_afresh_and_says_so():
    model = load_model(tiny.folder("recurrent"))
    assert model.cache_mode == "recompute" and model.context == NO_LIMIT
    assert "rolled back" in model.notes[0]


def test_learned_positions_bound_the_context():
    assert load_model(tiny.folder("gpt2pos32")).context == 32


def test_a_position_code_that_switches_bounds_the_context_with_a_note():
    model = load_model(tiny.folder("longrope"))
    assert model.context == 16 and "16" in model.notes[0]


class Config:
    def __init__(self, **fields):
        self.__dict__ |= fields


def test_context_of_other_rotary_kinds():
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
    assert context_of(Config(max_position_embeddings=4096, rope_parameters=yarn), "x") == (4096, ())
    layers = {
        "full": {"rope_type": "dynamic", "original_max_position_embeddings": 64},
        "slow": {"rope_type": "default"},
    }
    assert context_of(Config(max_position_embeddings=4096, rope_parameters=layers), "x")[0] == 64
    assert context_of(Config(n_positions=77), "x")[0] == 77


# what is refused


def test_wrong_kinds_are_errors_in_one_sentence():
    assert "encoder-decoder" in rejection("t5")
    assert "tokens to the right" in rejection("bidirectional")
    assert "GGUF" in rejection("ggufonly")


@pytest.mark.parametrize(("name", "word"), [("remotecode", "Python code"), ("picklebin", "pickle weights")])
def test_code_in_a_model_folder_is_never_run(monkeypatch, tmp_path, name, word):
    marker = tmp_path / "marker"
    monkeypatch.setenv(tiny.MARKER, str(marker))
    assert word in rejection(name)
    assert not marker.exists()


def test_a_missing_head_is_an_error():
    assert "lm_head.weight" in rejection("headless12")


def test_a_tied_head_that_is_not_in_the_file_is_no_fault(tmp_path):
    folder = tiny.copy("headless12", tmp_path)
    config = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": True}
    (folder / "config.json").write_text(json.dumps(config))
    assert load_model(folder).vocab_size == 12


def test_a_weight_of_another_shape_is_an_error(tmp_path):
    folder = tiny.copy("ctx_t", tmp_path)
    config = json.loads((folder / "config.json").read_text()) | {"intermediate_size": 60}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(SpecvizError, match="ctx_t"):
        load_model(folder)


def test_logits_that_are_no_numbers_name_model_and_dtype():
    assert "float16" in rejection("fp16inf", dtype="float16")
    assert "another model" in rejection("nan12")
    with pytest.raises(SpecvizError, match="fp16inf"):
        load_pair(tiny.folder("cycle12"), tiny.folder("fp16inf"), dtype="float16")


def test_a_model_larger_than_the_memory_is_an_error_before_it_is_read(monkeypatch):
    monkeypatch.setattr(fitness, "free_memory", lambda device: 1000)
    assert "memory" in rejection("draft12", dtype="float16")


def test_a_missing_tokenizer_or_a_broken_config_is_one_sentence(tmp_path):
    folder = tiny.copy("draft12", tmp_path)
    (folder / "config.json").write_text("{")
    with pytest.raises(SpecvizError, match=r"config\.json"):
        load_model(folder)
    folder = tiny.copy("cycle12", tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(SpecvizError, match="cycle12"):
        load_model(folder)


# pairs


def test_one_model_for_both_sides_is_loaded_once():
    pair = load_pair(tiny.folder("ctx_t"), tiny.folder("ctx_t"))
    assert pair.draft is pair.target and pair.notes == ()


def test_the_same_model_is_shared_while_somebody_uses_it_and_freed_after(tmp_path):
    folder = tiny.copy("draft12", tmp_path)  # its own: other tests hold on to the shared one
    first = load_model(folder)
    with ThreadPoolExecutor() as pool:
        models = list(pool.map(lambda _: id(load_model(folder)), range(3)))
    assert set(models) == {id(first)}
    gone = weakref.ref(first.model)
    del first
    gc.collect()
    assert gone() is None


def test_a_folder_that_changed_is_loaded_again(tmp_path):
    folder = tiny.copy("target12", tmp_path)
    first = load_model(folder)
    tiny.write_bigram(folder, tiny.cycle_table())
    second = load_model(folder)
    assert second is not first
    assert int(second.model(torch.tensor([[0]])).logits[0, -1].argmax()) == 1


def test_other_vocabularies_are_errors_with_the_first_difference():
    with pytest.raises(SpecvizError, match=r"id 0 is 'w0' in the target and '!' in the draft"):
        load_pair(tiny.folder("cycle12"), tiny.folder("bytes_lm"))


def test_a_vocabulary_that_begins_alike_is_another_one(tmp_path):
    few = tiny.folder("cycle12")
    many = tmp_path / "many"
    many.mkdir()
    tiny.write_bigram(many, tiny.cycle_table())
    names = {f"w{i}": i for i in range(100)}
    data = json.loads((many / "tokenizer.json").read_text())
    data["model"]["vocab"] = names
    (many / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(SpecvizError, match="only 12 of 100"):
        load_pair(few, many)


def test_padding_of_the_embedding_is_no_difference_but_told():
    pair = load_pair(tiny.folder("padtarget16"), tiny.folder("cycle12"))
    assert pair.target.vocab_size == 16 and pair.draft.vocab_size == 12
    assert "12 token ids" in pair.notes[0]


def test_a_draft_that_reads_less_is_told():
    assert "32 tokens" in load_pair(tiny.folder("ctx_t"), tiny.folder("gpt2pos32")).notes[0]


def test_target_and_draft_may_differ_in_dtype():
    pair = load_pair(tiny.folder("target12"), tiny.folder("draft12", dtype="bfloat16"))
    assert pair.target.dtype is torch.float32 and pair.draft.dtype in (torch.bfloat16, torch.float32)


def test_without_a_network_the_default_is_what_came_with_the_code(monkeypatch):
    def nothing(names, progress=None):
        if MODELS[names[0]].kind != "bundled":
            raise FetchError("The hub could not be reached; check the network.")
        return names[0], fetching.locate(names[0])

    monkeypatch.setattr(loading, "locate_first", nothing)
    pair = load_pair(dtype="float32")
    assert (pair.target.name, pair.draft.name) == ("smollm2-draft-small", "smollm2-draft-tiny")
    assert pair.instead == pair.notes[0] and OFFLINE_PAIR in pair.instead and len(pair.instead) < 140
    assert "could not be reached" in pair.notes[1]  # why, for who looks closer


def test_the_default_pair_says_which_source_it_took(monkeypatch):
    bundled = fetching.locate("smollm2-draft-small")
    monkeypatch.setattr(loading, "locate_first", lambda names, progress=None: (names[1], bundled))
    pair = load_pair(DEFAULT_PAIR, dtype="float32")
    assert pair.draft is not None and pair.target.name == "SmolLM2-135M-Instruct-Q4_1"
    assert "4 bits" in pair.notes[0]


def test_progress_is_told_in_sentences():
    seen = []
    load_model(tiny.folder("cycle12", eos=3), progress=lambda share, text: seen.append(text))
    assert seen == ["Loading cycle12.", "Checking cycle12."]


@pytest.mark.parametrize("options", [{"dtype": "int4"}, {"device": "cuda:99"}, {"device": "toaster"}])
def test_unknown_devices_and_dtypes_are_errors(options):
    with pytest.raises(SpecvizError, match="choose auto"):
        load_model(tiny.folder("cycle12"), **options)


# what a config.json asks for, and what a file holds


def spoilt(tmp_path, config=None, weights=None, without=()):
    """A copy of ctx_t with changes to its config and its weights."""
    folder = tiny.copy("ctx_t", tmp_path)
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | (config or {})))
    state = {name: t for name, t in load_file(folder / "model.safetensors").items() if name not in without}
    save_file(state | (weights or {}), folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.mark.parametrize(
    ("config", "weights", "named"),
    [
        ({"num_hidden_layers": 1}, {}, "model.layers.1."),
        ({}, {"model.layers.0.self_attn.q_proj.bias": torch.ones(32)}, "q_proj.bias"),
    ],
)
def test_weights_that_the_model_does_not_use_are_named_in_a_note(tmp_path, config, weights, named):
    folder = spoilt(tmp_path, config, weights)
    for pair in (load_pair(folder), load_pair(tiny.folder("ctx_t"), folder)):
        [note] = [note for note in pair.notes if "does not use" in note]
        assert named in note and note.startswith(folder.name)


def test_a_buffer_of_an_older_version_is_no_unused_weight(tmp_path):
    folder = spoilt(tmp_path, weights={"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)})
    assert load_model(folder).notes == ()


@pytest.mark.parametrize("head", ["LlamaForSequenceClassification", "LlamaForQuestionAnswering"])
def test_a_classifier_is_rejected_although_it_would_load(tmp_path, head):
    config = {"architectures": [head], "tie_word_embeddings": True}
    folder = spoilt(tmp_path, config, {"score.weight": torch.ones(2, 32)}, without=("lm_head.weight",))
    with pytest.raises(SpecvizError, match=f"a classifier .{head}."):
        load_model(folder)


@pytest.mark.parametrize(
    "asked",
    [
        {"attn_implementation": "flash_attention_2"},
        {"_attn_implementation": "flash_attention_2"},
        {"_attn_implementation": "someone/kernel"},
        {"attn_implementation": "flash_attention_2", "output_attentions": True},
        {"experts_implementation": "someone/kernel"},
    ],
)
def test_the_loader_chooses_the_attention_whatever_a_config_names(tmp_path, asked):
    plain, other = load_model(tiny.folder("ctx_t")), load_model(spoilt(tmp_path, asked))
    ids = torch.tensor([[1, 2, 3]])
    assert torch.equal(plain.model(ids).logits, other.model(ids).logits)


def test_a_nested_config_names_no_attention_either(monkeypatch, tmp_path):
    seen = []

    class Stop(Exception):
        pass

    def loads(folder, config, **more):
        seen.append((config._attn_implementation, config.text_config._attn_implementation))
        raise Stop

    config = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"]}
    folder = spoilt(
        tmp_path, config | {"text_config": {}, "_attn_implementation": {"text_config": "flash_attention_2"}}
    )
    monkeypatch.setattr(loading.AutoModelForCausalLM, "from_pretrained", loads)
    with pytest.raises(SpecvizError, match="Stop"):
        load_model(folder)
    assert seen == [(None, None)]
