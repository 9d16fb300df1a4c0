"""Is this folder a model that can be loaded, and safely? Reads configuration and file headers, never weights or code.

Example: ``weights_in(folder)`` of a folder with nothing but pytorch_model.bin raises a sentence about pickles.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from specviz.core.settings import SpecvizError
from specviz.core.words import sentence

WANTED = ("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt")
"""All that is ever fetched: weights without code in them, configuration, tokenizer. Never *.bin, never *.py."""
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_OTHER_HEADS = ("Classification", "QuestionAnswering", "MultipleChoice", "RewardModel")
"""Ends of class names whose head scores a text. Without that head the model still loads, and writes nonsense."""
_MAX_HEADER = 100_000_000
_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


class ModelError(SpecvizError):
    """A model that cannot be used; the sentence says why and what to choose instead."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the headers of the weight files say. `dtype`: the format that most of the bytes are in."""

    files: tuple[Path, ...]
    parameters: int
    dtype: torch.dtype | None


def read_json(path: Path, name: str) -> dict[str, Any]:
    """A JSON object; raises ModelError for anything else."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(sentence("errors.file_unreadable", name=name, file=path.name)) from error
    if not isinstance(data, dict):
        raise ModelError(sentence("errors.file_no_object", name=name, file=path.name))
    return data


def choose_files(names: Iterable[str], name: str) -> list[str]:
    """Those of a repository's files that specviz needs: of its top folder, and of weights one set.

    Raises ModelError when the only weights are pickles or GGUF.
    """
    top = [n for n in names if "/" not in n and any(fnmatch(n, pattern) for pattern in WANTED)]
    weights = [n for n in top if n.endswith(".safetensors")]
    if not weights:
        raise ModelError(_no_weights(names, name))
    # some repositories hold the weights a second time, in their author's own layout
    standard = [n for n in weights if fnmatch(n, "model.safetensors") or fnmatch(n, "model-*-of-*.safetensors")]
    dropped = set(weights) - set(standard) if standard else set()
    return [n for n in top if n not in dropped]


def weights_in(folder: Path, name: str) -> Weights:
    """The safetensors files of a model folder, headers and lengths checked.

    Raises ModelError for a folder without config.json, without safetensors, or with a file that is missing or cut off.
    """
    if not (folder / "config.json").is_file():
        raise ModelError(sentence("errors.folder_no_model", name=name))
    index = folder / "model.safetensors.index.json"
    if (folder / "model.safetensors").is_file():
        files = [folder / "model.safetensors"]
    elif index.is_file():
        shards = read_json(index, name).get("weight_map")
        if not isinstance(shards, dict) or not all(_plain_name(shard) for shard in shards.values()):
            raise ModelError(sentence("errors.index_broken", name=name, file=index.name))
        files = [folder / shard for shard in sorted(set(shards.values()))]
    else:
        raise ModelError(_no_weights([p.name for p in folder.iterdir()], name))
    counts: dict[str, int] = {}
    for file in files:
        for kind, count in _header(file, name):
            counts[kind] = counts.get(kind, 0) + count
    most = max(counts, key=lambda kind: counts[kind], default="")
    return Weights(tuple(files), sum(counts.values()), _DTYPES.get(most))


def check_kind(folder: Path, name: str) -> None:
    """Raise ModelError for what is no causal language model of this transformers, or wants its own Python run."""
    config = read_json(folder / "config.json", name)
    kind = str(config.get("model_type") or "")
    if kind not in CONFIG_MAPPING_NAMES:
        if config.get("auto_map"):
            raise ModelError(sentence("errors.model_own_code", name=name))
        raise ModelError(sentence("errors.model_kind", name=name, kind=kind or "none named"))
    if config.get("is_encoder_decoder") or _encodes_and_decodes(kind):
        raise ModelError(sentence("errors.model_encoder", name=name, kind=kind))
    if kind not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        raise ModelError(sentence("errors.model_not_causal", name=name, kind=kind))
    if heads := [head for head in _strings(config.get("architectures")) if head.endswith(_OTHER_HEADS)]:
        raise ModelError(sentence("errors.model_classifier", name=name, head=heads[0]))
    if config.get("quantization_config"):
        method = str(dict(config["quantization_config"]).get("quant_method", "unknown method"))
        raise ModelError(sentence("errors.model_quantised", name=name, method=method))


def _strings(found: Any) -> list[str]:
    return [entry for entry in found if isinstance(entry, str)] if isinstance(found, list) else []


def _encodes_and_decodes(kind: str) -> bool:
    made = getattr(transformers, CONFIG_MAPPING_NAMES[kind], None)
    return bool(getattr(made, "is_encoder_decoder", False))


def _plain_name(shard: Any) -> bool:
    return isinstance(shard, str) and Path(shard).name == shard and shard.endswith(".safetensors")


def _no_weights(names: Iterable[str], name: str) -> str:
    found = list(names)
    if any(n.lower().endswith(".gguf") for n in found):
        return sentence("errors.weights_gguf", name=name)
    if any(fnmatch(n, pattern) for n in found for pattern in _PICKLES):
        return sentence("errors.weights_pickles", name=name)
    return sentence("errors.weights_none", name=name)


def _header(file: Path, name: str) -> list[tuple[str, int]]:
    """(format, number of elements) of each tensor in a safetensors file whose length agrees with its header."""
    broken = ModelError(sentence("errors.weights_damaged", name=name, file=file.name))
    try:
        size = file.stat().st_size
        with open(file, "rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > min(size, _MAX_HEADER):
                raise broken
            header = json.loads(stream.read(length))
        tensors = [tensor for key, tensor in header.items() if key != "__metadata__"]
        end = max((int(tensor["data_offsets"][1]) for tensor in tensors), default=0)
        found = [(str(tensor["dtype"]), math.prod(map(int, tensor["shape"]))) for tensor in tensors]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        raise broken from error
    if size != 8 + length + end:
        raise broken
    return found
