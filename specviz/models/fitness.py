"""May this model be used, and for how long a text? Questions asked around loading, answered in one sentence each.

Example: a Phi-3 of 131072 tokens whose position code changes at 4096 gets a context of 4096 and a note that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from specviz.core.runtime import free_memory
from specviz.core.settings import SpecvizError
from specviz.core.words import sentence
from specviz.models.folders import ModelError

NO_LIMIT = 32_768
"""Context of a model that states none, such as a recurrent one; a bound on what a run may grow to."""
_SPARE = 200_000_000
_SWITCHING = ("longrope", "su", "dynamic")


def context_of(config: Any, name: str) -> tuple[int, tuple[str, ...]]:
    """Tokens that a model may read, and a note where that is less than its config says.

    Some rotary embeddings change all positions when a text passes a certain length: what is in a cache is then wrong.
    """
    stated = [getattr(config, key, None) for key in ("max_position_embeddings", "n_positions", "max_seq_len")]
    found = [int(value) for value in stated if isinstance(value, int) and value > 0]
    context = found[0] if found else NO_LIMIT
    for rope in _ropes(config):
        if str(rope.get("rope_type", rope.get("type"))) not in _SWITCHING:
            continue
        original = rope.get("original_max_position_embeddings") or getattr(
            config, "original_max_position_embeddings", None
        )
        if isinstance(original, int) and 0 < original < context:
            return original, (sentence("errors.context_short", name=name, most=original),)
    return context, ()


def _ropes(config: Any) -> list[Mapping[str, Any]]:
    """The rotary settings, which are one dictionary or one for each kind of layer."""
    found = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    if not isinstance(found, Mapping):
        return []
    return [found, *(inner for inner in found.values() if isinstance(inner, Mapping))]


def memory_for(size: int) -> int:
    """Bytes that must be free for `size` bytes of weights: a little more, for caches and logits."""
    return int(size * 1.1) + _SPARE


def check_memory(name: str, size: int, dtype: torch.dtype, device: torch.device) -> None:
    """Raise ModelError where `size` bytes of weights and a little more do not fit into what is free on `device`."""
    free, need = free_memory(device), memory_for(size)
    if need > free:
        shown = str(dtype).removeprefix("torch.")
        raise ModelError(
            sentence(
                "errors.memory",
                name=name,
                need=f"{need / 1e9:.1f}",
                dtype=shown,
                free=f"{max(0, free) / 1e9:.1f}",
            )
        )


def check_complete(name: str, info: Mapping[str, Any]) -> None:
    """A weight that is not in the file would be left at random values: the output is then noise, without any error."""
    missing = sorted(info.get("missing_keys") or ())
    wrong = sorted(str(entry[0]) for entry in info.get("mismatched_keys") or ())
    broken = sorted(info.get("conversion_errors") or ()) or list(info.get("error_msgs") or ())
    for names, what in (
        (missing, "missing"),
        (wrong, "shape"),
        (broken, "unreadable"),
    ):
        if names:
            raise ModelError(sentence(f"errors.weights_{what}", name=name, weights=_listed(names)))


def unused_weights(name: str, info: Mapping[str, Any]) -> tuple[str, ...]:
    """A note where files hold weights that the config leaves out: the model then computes something else, silently.

    `info`: what transformers reports about a load. It has already dropped buffers of older versions (`inv_freq`).
    """
    names = sorted(info.get("unexpected_keys") or ())
    if not names:
        return ()
    return (sentence("errors.weights_unused", name=name, weights=_listed(names)),)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else sentence("errors.listed", first=names[0], n=len(names) - 1)


def guarded(name: str, load: Callable[[], Any]) -> Any:
    """Whatever the library raises, as one sentence."""
    try:
        return load()
    except SpecvizError:
        raise
    except MemoryError as error:
        raise ModelError(sentence("errors.memory_out", name=name)) from error
    except Exception as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise ModelError(sentence("errors.memory_out", name=name)) from error
        raise ModelError(sentence("errors.not_loaded", name=name, reason=reason(error))) from error


def reason(error: BaseException) -> str:
    """Kind and first line of an error, for a sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
