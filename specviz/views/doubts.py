"""Why measured times cannot be trusted, in a sentence. Pure, and light enough for the live stream: no torch."""

from __future__ import annotations

from specviz.core.words import say
from specviz.metrics.trust import Doubt
from specviz.views.amounts import amount


def doubted(found: Doubt | None) -> str:
    """Why measured times cannot be trusted, in a sentence; nothing for None."""
    if found is None:
        return ""
    n = found.numbers
    if found.reason == "beyond":
        return say("findings.doubt_beyond", tau=f"{n['tau']:.2f}")
    if found.reason == "uneven":
        mean, median = (f"{1000 * n[name]:,.0f}" for name in ("mean_s", "median_s"))
        return say("findings.doubt_uneven", mean=mean, median=median)
    if found.reason == "too_good":
        return say("findings.doubt_too_good", expected=f"{n['expected']:.2f}")
    return say("findings.doubt_others", steps=amount("steps", int(n["turns"])))
