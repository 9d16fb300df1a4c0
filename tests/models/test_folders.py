"""What is in a folder, before anything is loaded."""

from __future__ import annotations

import json

import pytest
import torch

from specviz.models.folders import ModelError, check_kind, choose_files, weights_in
from tests import tiny


def test_the_headers_tell_size_and_format():
    weights = weights_in(tiny.folder("fp16inf"), "x")
    assert weights.dtype is torch.float16 and weights.parameters == 5584


@pytest.mark.parametrize(("name", "word"), [("picklebin", "pickle"), ("ggufonly", "GGUF")])
def test_other_weights_are_named_in_one_sentence(name, word):
    with pytest.raises(ModelError, match=word) as error:
        weights_in(tiny.folder(name), name)
    assert "\n" not in str(error.value) and "safetensors" in str(error.value)


@pytest.mark.parametrize("cut", [0, 5, 200, -1])
def test_a_file_that_is_cut_off_is_found(cut, tmp_path):
    folder = tiny.copy("cycle12", tmp_path)
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:cut])
    with pytest.raises(ModelError, match="cut off"):
        weights_in(folder, "x")


def test_a_pointer_instead_of_weights_is_found(tmp_path):
    folder = tiny.copy("cycle12", tmp_path)
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(ModelError, match="damaged"):
        weights_in(folder, "x")


def test_a_missing_shard_and_a_shard_elsewhere_are_found(tmp_path):
    folder = tiny.copy("cycle12", tmp_path)
    (folder / "model.safetensors").unlink()
    index = folder / "model.safetensors.index.json"
    for shard in ("model-00001-of-00002.safetensors", "../../other.safetensors"):
        index.write_text(json.dumps({"weight_map": {"a": shard}}))
        with pytest.raises(ModelError):
            weights_in(folder, "x")


def test_wrong_kinds_are_errors_with_the_reason(tmp_path):
    for name, word in (("t5", "encoder-decoder"), ("remotecode", "Python code")):
        with pytest.raises(ModelError, match=word) as error:
            check_kind(tiny.folder(name), name)
        assert len(str(error.value)) < 200
    folder = tiny.copy("cycle12", tmp_path)
    for config, word in (
        ({"model_type": "nonesuch"}, "does not know"),
        ({"model_type": "vit"}, "next tokens"),
        ({"model_type": "llama", "quantization_config": {"quant_method": "gptq"}}, "gptq"),
        ([], "JSON object"),
    ):
        (folder / "config.json").write_text(json.dumps(config))
        with pytest.raises(ModelError, match=word):
            check_kind(folder, "x")


def test_only_harmless_files_are_chosen_and_weights_once():
    names = ["config.json", "model.safetensors", "consolidated.safetensors", "pytorch_model.bin", "modeling_x.py"]
    names += ["tokenizer.json", "chat_template.jinja", "onnx/model.onnx", "merges.txt", "README.md", "sub/config.json"]
    chosen = ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja", "merges.txt"]
    assert choose_files(names, "x") == chosen
    with pytest.raises(ModelError, match="pickle"):
        choose_files(["config.json", "pytorch_model.bin"], "x")
    with pytest.raises(ModelError, match="GGUF"):
        choose_files(["x.Q4_0.gguf"], "x")
