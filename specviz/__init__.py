"""specviz: watch speculative decoding token by token.

Rooms, in the order of the work: `models` → `drafting` → `verification` → `engine` ⇒ `trace` → `metrics` → `views` → `ui`.
The names below are all that a notebook needs; they are imported when first used, so that reading a trace or drawing a
view loads neither torch nor gradio.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specviz.core.settings import RunSettings, SpecvizError
    from specviz.decoding.engine import run, steps
    from specviz.drafting import LENGTHS, STRATEGIES
    from specviz.export.page import to_html
    from specviz.models.loading import load_pair
    from specviz.traces.trace import Trace
    from specviz.verification import RULES

__version__ = "0.1.0"
"""Stated here only: the package's metadata and ``specviz --version`` read it."""

_HOME = {
    "LENGTHS": "specviz.drafting",
    "RULES": "specviz.verification",
    "STRATEGIES": "specviz.drafting",
    "RunSettings": "specviz.core.settings",
    "SpecvizError": "specviz.core.settings",
    "Trace": "specviz.traces.trace",
    "load_pair": "specviz.models.loading",
    "run": "specviz.decoding.engine",
    "steps": "specviz.decoding.engine",
    "to_html": "specviz.export.page",
}

__all__ = [
    "LENGTHS",
    "RULES",
    "STRATEGIES",
    "RunSettings",
    "SpecvizError",
    "Trace",
    "load_pair",
    "run",
    "steps",
    "to_html",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'specviz' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
