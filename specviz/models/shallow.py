"""A model's own first layers with its own final norm and head: an early exit, as a model of its own.

A second module refers to the very same parameters, so it costs no memory, and the model itself is never touched: not its
list of layers, not its config, not for a moment. (LayerSkip, arXiv 2404.16710, section 4.3; the layers' number changed on
the shared model is how such drafts go wrong.) A shallow reader has a cache of its own: it reads the text a second time,
where an implementation that lives inside the model would reuse the first layers' keys and values.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from torch import nn

from specviz.models.pair import LoadedModel


def depth(model: Any) -> int | None:
    """Layers of a Llama-like decoder (`model.layers`, then `model.norm`, then the head); None for any other."""
    inner = getattr(model, "model", None)
    layers = getattr(inner, "layers", None)
    if not isinstance(layers, nn.ModuleList) or not isinstance(getattr(inner, "norm", None), nn.Module):
        return None
    stated = getattr(getattr(model, "config", None), "num_hidden_layers", None)
    return len(layers) if stated == len(layers) else None


def shallow(target: LoadedModel, layers: int) -> LoadedModel:
    """The first `layers` layers of a Llama-like `target`, 1 … depth − 1, with its norm and head; all weights shared."""
    whole = depth(target.model)
    assert whole is not None and 1 <= layers < whole
    config = copy.copy(target.model.config)
    config.num_hidden_layers = layers
    outer, inner = _twin(target.model, config), _twin(target.model.model, config)
    outer._modules["model"] = inner
    inner._modules["layers"] = nn.ModuleList(list(target.model.model.layers)[:layers])
    parameters = list({id(p): p for p in outer.parameters()}.values())
    name = f"First {layers} of {whole} layers of {target.name}"
    return replace(
        target,
        name=name,
        source=f"{name}, with its norm and head",
        plain=None,
        model=outer,
        parameters=sum(p.numel() for p in parameters),
        bytes=0,
        notes=(),
    )


def _twin(module: Any, config: Any) -> Any:
    """A second module with the same children, parameters and buffers, whose tables can be changed without the first's."""
    twin = copy.copy(module)
    for table in ("_modules", "_parameters", "_buffers"):
        setattr(twin, table, dict(getattr(module, table)))
    twin.config = config
    return twin
