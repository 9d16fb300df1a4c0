"""Feature heads on disk: which there are, whose they are, and loading one beside its target.

A folder holds config.json (sizes, and for which target), head.safetensors (weights; `rows`: the ids that the head can
propose; `sketch`: a few numbers of the target's embedding) and a README.md. To add a head, add a line to `HEADS`.

A head belongs to a target whose sizes are equal and whose embedding correlates with the sketch: rounding the weights to
another format, or to 4 bits, leaves the correlation near 1, another model has one near 0.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from specviz.core.words import sentence
from specviz.models.catalogue import BUNDLED
from specviz.models.companions import companion, present
from specviz.models.folders import ModelError
from specviz.models.heads import FeatureHead, HeadShape
from specviz.models.pair import LoadedModel

HEADS: dict[str, Path] = {"smollm2-head-5m": BUNDLED / "smollm2-head-5m"}
"""Name → folder, tried in this order for a target."""

KIND = "specviz feature head"
_WEIGHTS = "head.safetensors"
_SCALE = ".scale"
_SKETCHED = 24
"""Rows and columns of the embedding that the sketch holds."""
_ALIKE = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class LoadedHead:
    """A head in memory beside its target, in the target's number format.

    `embedding` [vocabulary, H] is the target's own tensor; `output` [V, H] are its output rows at `rows` [V], ascending.
    """

    name: str
    network: FeatureHead
    embedding: Tensor
    output: Tensor
    rows: Tensor


def head_of(target: LoadedModel) -> str | None:
    """Name of the first head in `HEADS` that was trained on `target`, or None."""
    found = _FOUND.setdefault(target, {})
    key = tuple(HEADS.items())
    if key not in found:  # the first that asks reads a few kilobytes of each head
        found[key] = next((name for name, folder in HEADS.items() if mismatch(folder, target) is None), None)
    return found[key]


_FOUND: weakref.WeakKeyDictionary[LoadedModel, dict[Any, str | None]] = weakref.WeakKeyDictionary()


def mismatch(folder: Path, target: LoadedModel) -> str | None:
    """None where the head in `folder` was trained on `target`, else what differs. Raises ModelError: not a head."""
    config = _config(folder)
    for what, wanted, is_ in (
        ("states of {} numbers", config["shape"]["hidden_size"], _hidden_size(target)),
        ("{} layers", config["target"]["layers"], _layers(target)),
        ("{} token ids", config["target"]["vocab_size"], target.vocab_size),
    ):
        if wanted != is_:
            return f"it reads {what.format(wanted)} and {target.name} has {is_}"
    with _opened(folder) as file:
        alike = _correlation(file.get_tensor("sketch"), sketch_of(_embedding(target)))
    return None if alike >= _ALIKE else f"the embedding of {target.name} is another one than it was trained with"


def load_head(folder: Path, target: LoadedModel) -> LoadedHead:
    """The head in `folder` beside `target`. Raises ModelError, one sentence, where it is another model's or damaged."""
    if why := mismatch(folder, target):
        raise ModelError(sentence("errors.head_other", name=folder.name, reason=why))
    shape = _config(folder)["shape"]
    network = FeatureHead(HeadShape(**shape | {"feature_layers": tuple(shape["feature_layers"])}))
    with _opened(folder) as file:
        weights = _unpacked({key: file.get_tensor(key) for key in file.keys()})  # noqa: SIM118
        rows = file.get_tensor("rows").long()
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise ModelError(sentence("errors.head_incomplete", name=folder.name)) from error
    network = network.to(target.device, target.dtype).requires_grad_(False).eval()
    rows = rows[rows < target.vocab_size].to(target.device)
    output = target.model.get_output_embeddings().weight[rows].contiguous()
    return LoadedHead(folder.name, network, _embedding(target), output, rows)


def loaded_head(target: LoadedModel) -> LoadedHead:
    """The head that fits `target`, loaded once for all runs. Call only where `head_of` names one."""
    name = head_of(target)
    assert name is not None
    return companion(target, f"head {name}", lambda: load_head(HEADS[name], target))


def head_present(target: LoadedModel) -> bool:
    """Whether `loaded_head` would answer at once."""
    return present(target, f"head {head_of(target)}")


def save_head(folder: Path, network: FeatureHead, rows: Tensor, target: LoadedModel, card: str) -> None:
    """Write a head trained on `target`, which can propose the ids `rows`; `card`: the text of its README.md."""
    folder.mkdir(parents=True, exist_ok=True)
    more = {"rows": rows.int().cpu(), "sketch": sketch_of(_embedding(target))}
    save_file(_packed(network.state_dict()) | more, folder / _WEIGHTS, {"format": "pt"})
    owner = {"name": target.name, "layers": _layers(target), "vocab_size": target.vocab_size}
    config = {"kind": KIND, "shape": asdict(network.shape), "target": owner}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card, encoding="utf-8")


def _packed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as 8-bit whole numbers and a scale for each row: half the size of bfloat16, and a draft may err."""
    packed: dict[str, Tensor] = {}
    for key, value in state.items():
        value = value.detach().float().cpu()
        if value.ndim == 2:
            scale = value.abs().amax(1).clamp(min=1e-12) / 127
            packed[key + _SCALE] = scale
            value = (value / scale[:, None]).round().to(torch.int8)
        packed[key] = value.contiguous()
    return packed


def _unpacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Float weights, whether they were packed or not."""
    weights: dict[str, Tensor] = {}
    for key, value in tensors.items():
        if key in ("rows", "sketch") or key.endswith(_SCALE):
            continue
        scale = tensors.get(key + _SCALE)
        weights[key] = value.float() if scale is None else value.float() * scale[:, None]
    return weights


def sketch_of(embedding: Tensor) -> Tensor:
    """Numbers at evenly spread rows and columns of an embedding [vocabulary, H]: at most [24, 24], float32."""
    spread = [torch.linspace(0, size - 1, min(size, _SKETCHED)).long() for size in embedding.shape]
    return embedding.detach()[spread[0].to(embedding.device)][:, spread[1].to(embedding.device)].float().cpu()


def _correlation(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape:
        return 0.0
    one, other = one.flatten() - one.mean(), other.flatten() - other.mean()
    return float(one @ other / (one.norm() * other.norm()).clamp(min=1e-12))


def _embedding(target: LoadedModel) -> Tensor:
    weight: Tensor = target.model.get_input_embeddings().weight
    return weight


def _hidden_size(target: LoadedModel) -> int:
    return int(_embedding(target).shape[1])


def _layers(target: LoadedModel) -> int:
    return int(target.model.config.get_text_config().num_hidden_layers)


@cache
def _config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        assert config["kind"] == KIND
        return config
    except (OSError, ValueError, KeyError, AssertionError) as error:
        raise ModelError(sentence("errors.head_none", name=folder.name)) from error


def _opened(folder: Path) -> Any:
    opened: Callable[..., Any] = safe_open
    try:
        return opened(folder / _WEIGHTS, framework="pt")
    except (OSError, SafetensorError) as error:
        raise ModelError(sentence("errors.head_damaged", name=folder.name)) from error
