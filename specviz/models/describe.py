"""What runs where, in plain words and numbers: for the trace, the page and the bench."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import torch
import transformers

from specviz.core.words import spoken

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair


def describe(pair: Pair) -> dict[str, Any]:
    """Plain data. Sources tell the full-precision target from its 4-bit stand-in; notes are sentences for the screen."""
    target, draft = pair.target, pair.draft
    return {
        "target": target.name,
        "target_source": target.source,
        "target_parameters": target.parameters,
        "draft": draft.name if draft else None,
        "draft_parameters": draft.parameters if draft else None,
        "dtype": _dtype(target),
        "draft_dtype": _dtype(draft) if draft else None,
        "device": str(target.device),
        "cache": target.cache_mode,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "notes": list(pair.notes),
        "instead": pair.instead,
    }


def described(pair: Pair) -> dict[str, Any]:
    """The same with its sentences in the language of the page; those of a trace are English."""
    return describe(pair) | {"notes": [spoken(note) for note in pair.notes], "instead": spoken(pair.instead)}


def _dtype(model: LoadedModel) -> str:
    return str(model.dtype).removeprefix("torch.")
