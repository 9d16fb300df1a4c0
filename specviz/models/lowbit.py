"""A copy of a model with 8-bit or 4-bit weights, made in memory; what is not a weight matrix is shared with the model.

On a CPU a pass over one position is a race through all weights, so half or a quarter of the bytes is less time. torch's own
kernels compute with such weights directly and come with it, nothing is compiled. They want bfloat16 activations (in
float32 they are slower than plain float32), so a layer's input is rounded to that, whatever the model computes in.

8 bits: one scale a row, symmetric. 4 bits: groups of 32 inputs, each with a scale and a zero; that is how GGUF's Q4_1
stores weights, so a model that came that way loses nothing more. The head is 8 bits wide in both: it decides by small
differences between very many rows. Rounding is to nearest, no calibration data.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from specviz.core.words import sentence
from specviz.models.fitness import check_memory
from specviz.models.pair import LoadedModel
from specviz.models.plain import TOGETHER, PlainLlama, is_plain
from specviz.models.where import Progress, report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUP = 32
"""Inputs that share a scale in 4 bits. The kernels read whole blocks of 32 inputs and 16 outputs, and beyond the end of a
matrix that has fewer, so outputs are padded and a layer with other inputs stays as it is."""
_ROWS = 16
_COPIES = 4
"""Of a matrix in 32 bits, at once, while it is rounded: seen as 410 MB for a head of 28 million weights."""


class Int8Linear(nn.Module):
    """y = x·Wᵀ + b with W [out, in] in 8 bits, one scale a row."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.out, self.bias = weight.shape[0], bias
        rows = _padded(weight)
        scales = (rows.abs().amax(1) / 127).clamp(min=1e-12).bfloat16()
        self.weight = (rows / scales.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
        self.scales = scales

    def forward(self, x: Tensor) -> Tensor:
        """[…, in] → […, out], in the dtype of `x`."""
        y = torch._weight_int8pack_mm(_flat(x), self.weight, self.scales)
        return _shaped(y, x, self.out, self.bias)


class Int4Linear(nn.Module):
    """y = x·Wᵀ + b with W [out, in] in 4 bits: w ≈ (n − 8)·scale + zero, n = 0 … 15, for each group of inputs."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.out, self.bias = weight.shape[0], bias
        rows = _padded(weight)
        groups = rows.view(len(rows), -1, GROUP)
        low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
        scales = ((high - low) / 15).clamp(min=1e-12).bfloat16()
        zeros = (low + 8 * scales.float()).bfloat16()
        numbers = ((groups - zeros.float()) / scales.float() + 8).round().clamp(0, 15)
        self.weight = torch._convert_weight_to_int4pack_for_cpu(numbers.to(torch.int32).view(rows.shape), 1)
        self.scales_and_zeros = torch.cat([scales, zeros], -1).transpose(0, 1).contiguous()  # [groups, out, 2]

    def forward(self, x: Tensor) -> Tensor:
        """[…, in] → […, out], in the dtype of `x`."""
        y = torch._weight_int4pack_mm_for_cpu(_flat(x), self.weight, GROUP, self.scales_and_zeros)
        return _shaped(y, x, self.out, self.bias)


class Part(nn.Module):
    """Some of the outputs of a layer that stands for several matrices with one input (`plain` asks for all at once)."""

    def __init__(self, whole: nn.Module, outputs: slice) -> None:
        super().__init__()
        self.whole, self.outputs = whole, outputs

    def forward(self, x: Tensor) -> Tensor:
        """[…, in] → […, these outputs]."""
        y: Tensor = self.whole(x)[..., self.outputs]
        return y


def _padded(weight: Tensor) -> Tensor:
    """Float32, with rows of zeros up to a whole block."""
    return nn.functional.pad(weight.float(), (0, 0, 0, -len(weight) % _ROWS)).contiguous()


def _flat(x: Tensor) -> Tensor:
    return x.reshape(-1, x.shape[-1]).bfloat16().contiguous()


def _shaped(y: Tensor, x: Tensor, out: int, bias: Tensor | None) -> Tensor:
    y = y[:, :out].to(x.dtype).view(*x.shape[:-1], out)
    return y if bias is None else y + bias


def unavailable_reason(target: LoadedModel) -> str | None:
    """None, or why no copy of this model can be made here."""
    if target.device.type != "cpu":
        return f"the kernels for such weights are for CPUs, and {target.name} is on {target.device}; load it there"
    if not hasattr(torch, "_weight_int8pack_mm") or not hasattr(torch, "_weight_int4pack_mm_for_cpu"):
        return f"torch {torch.__version__} has no kernels for such weights; install the one in requirements.txt"
    if not any(_matrices(target.model)):
        return f"{target.name} has no weight matrices that the kernels can read; draft with prompt lookup"
    return None


def low_bit(target: LoadedModel, bits: int, progress: Progress | None = None) -> LoadedModel:
    """A copy of `target` with weights of 8 or 4 `bits`. Raises ModelError where memory does not suffice."""
    name = f"{target.name} in {bits} bits"
    largest = max((layer.weight.numel() for _, _, layer in _matrices(target.model)), default=0)
    # while a matrix is rounded, it and its rounded numbers exist some times over in 32 bits
    most = target.parameters * bits // 8 + _COPIES * 4 * largest
    check_memory(name, most, torch.bfloat16, target.device)
    report(progress, 0.0, sentence("errors.making", name=name))
    # "copied already": every tensor stays the target's own until its layer is replaced; a tied head is replaced alone
    kept = {id(t): t for t in (*target.model.parameters(), *target.model.buffers())}
    model = copy.deepcopy(target.model, kept)
    matrices, plain = list(_matrices(model)), is_plain(model)
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    with torch.inference_mode():
        groups = list(_together(matrices)) if plain else [[matrix] for matrix in matrices]
        for done, together in enumerate(groups):
            layers = [layer for _, _, layer in together]
            weights = [layer.weight.T if isinstance(layer, Conv1D) else layer.weight for layer in layers]
            kind = Int4Linear if bits == 4 and layers[0] is not head else Int8Linear
            if len(together) == 1:
                setattr(*together[0][:2], kind(weights[0], layers[0].bias))
            else:  # a scale is a row's own, so rounding them together is rounding each
                whole, end = kind(torch.cat(weights), None), 0
                for (parent, child, _), weight in zip(together, weights, strict=True):
                    begin, end = end, end + len(weight)
                    setattr(parent, child, Part(whole, slice(begin, end)))
            report(progress, (done + 1) / len(groups), sentence("errors.making", name=name))
    own = [t for module in model.modules() if isinstance(module, Int8Linear | Int4Linear) for t in _tensors(module)]
    size = sum(t.numel() * t.element_size() for t in own)
    source = f"{name}: {len(matrices)} matrices, {size / 1e6:.0f} MB, made from the target in memory"
    return replace(
        target, name=name, source=source, model=model, bytes=size, notes=(), plain=PlainLlama(model) if plain else None
    )


def _matrices(model: nn.Module) -> Iterator[tuple[nn.Module, str, Any]]:
    """(parent, name, layer) of each linear layer that the kernels can read."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, nn.Linear | Conv1D):
                inputs = layer.weight.shape[0] if isinstance(layer, Conv1D) else layer.weight.shape[1]
                if inputs % GROUP == 0:
                    yield parent, name, layer


def _together(matrices: Sequence[tuple[nn.Module, str, Any]]) -> Iterator[list[tuple[nn.Module, str, Any]]]:
    """The same matrices, those that `plain` reads in one call side by side."""
    groups: dict[tuple[int, str], list[tuple[nn.Module, str, Any]]] = {}
    for parent, child, layer in matrices:
        first = next((names[0] for names in TOGETHER if child in names), child)
        groups.setdefault((id(parent), first), []).append((parent, child, layer))
    yield from groups.values()


def _tensors(module: nn.Module) -> Iterator[Tensor]:
    for value in vars(module).values():
        if isinstance(value, Tensor):
            yield value
