"""What some strategies draft with beside the pair's own draft model: made from a target, or found for it, on demand.

A companion (an 8-bit copy, a trained head, a table of n-grams) belongs to one target in memory, is made once for all
runs, and goes when the target goes. Making one takes seconds, so it never happens inside a timed phase.

Example: ``companion(target, "int8", make)`` calls `make` once; ``present(target, "int8")`` is true from then on.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel

T = TypeVar("T")

_LOCK = threading.RLock()
_KEPT: weakref.WeakKeyDictionary[LoadedModel, dict[str, Any]] = weakref.WeakKeyDictionary()


def present(target: LoadedModel, name: str) -> bool:
    """Whether `name` has been made for this target. Never waits for one that is being made."""
    return name in _KEPT.get(target, {})


def companion(target: LoadedModel, name: str, make: Callable[[], T]) -> T:
    """The companion `name` of `target`, made by `make` where there is none yet; two who ask wait for one.

    A companion must not hold on to its target (the weights may be shared, the `LoadedModel` not), or neither is freed.
    """
    kept = _KEPT.get(target, {})
    if name not in kept:
        with _LOCK:
            kept = _KEPT.setdefault(target, {})
            if name not in kept:
                kept[name] = make()
    made: T = kept[name]
    return made
