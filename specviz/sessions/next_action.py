"""What Play and Step will do with the run on screen, told before it happens: go on with it, or begin another.

One rule: a run goes on while it is made from what the controls say and has not ended; a run that ended at its limit goes
on when the limit is raised. All else begins a new run.

Example: ``coming(visitor)`` is "Changed: prompt. Play and Step start a new run; the run so far keeps its own values."
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.core.settings import SettingsError
from specviz.core.words import say

if TYPE_CHECKING:
    from specviz.models.pair import Pair
    from specviz.sessions.visitors import Visitor

MATTERS = ("prompt", "chat", "seed", "target", "draft", "dtype", "max_new_tokens")
"""Controls that may change what comes next."""
_PARTS = ("prompt", "chat", "seed", "models", "models", "models")


def stale(visitor: Visitor, pair: Pair) -> bool:
    """Whether Play must begin anew: no run, an ended one, or another prompt, seed, template or pair than it has."""
    run = visitor.run
    return (
        run is None
        or run.finished(visitor.controls.settings())
        or run.pair is not pair
        or visitor.shown.made_from != visitor.controls.origin
    )


def coming(visitor: Visitor) -> str:
    """A sentence where it is not plain what Play and Step will do, else nothing."""
    run = visitor.run
    if run is None:
        return ""
    sides = zip(_PARTS, visitor.controls.origin, visitor.shown.made_from, strict=True)
    if changed := dict.fromkeys(part for part, now, then in sides if now != then):
        return say("sessions.changed", what=", ".join(say(f"sessions.changed_{part}") for part in changed))
    if run.stop == "length" and _room(visitor):
        return say("sessions.raised")
    return ""


def _room(visitor: Visitor) -> bool:
    try:
        settings = visitor.controls.settings()
    except SettingsError:  # told when a step is asked for
        return False
    return visitor.run is not None and visitor.run.limit(settings)[0] > 0
