"""Numbers as text: counts with their noun, rates with their denominator, a gap where nothing was measured.

The nouns are in the catalogue, so every function here speaks the language of the moment (`core.words.speaking`).
Example: ``amount("tokens", 1)`` is "1 token", ``rate(Rate(3, 4))`` is "0.75 (3 of 4)".
"""

from __future__ import annotations

from specviz.core.words import say
from specviz.metrics.rates import Rate
from specviz.views.markup import GAP


def amount(what: str, n: int) -> str:
    """A count with its noun; `what`: a name of the catalogue's section "amounts"."""
    return say(f"amounts.{what}", n=n, count=f"{n:,}")


def of(part: int, whole: int) -> str:
    """A numerator with its denominator: "3 of 4"."""
    return say("amounts.of", part=f"{part:,}", whole=f"{whole:,}")


def rate(found: Rate) -> str:
    """A rate with its denominator, or that nothing was drafted."""
    return say("amounts.no_drafts") if found.value is None else f"{found.value:.2f} ({of(found.part, found.whole)})"


def number(value: float | None, form: str = ".2f", unit: str = "") -> str:
    """A figure or a gap."""
    return GAP if value is None else format(value, form) + unit


def share(part: float, whole: float) -> str:
    """A percentage or a gap: nothing of nothing is not 0 %."""
    return f"{part / whole:.0%}" if whole else GAP


def ms(seconds: float) -> str:
    """Milliseconds, with as many digits as are meaningful; seconds from ten on, as on the page's charts."""
    if seconds >= 10:
        return f"{seconds:,.1f} s"
    return f"{1000 * seconds:,.{0 if seconds >= 0.1 else 1}f} ms"


def apart(value: float, other: float = 0.0) -> str:
    """`value` with two digits, or as many as distinguish it from `other`: a break-even of 0.004 is not 0.00."""
    return next((text for d in (2, 3, 4) if (text := f"{value:.{d}f}") != f"{other:.{d}f}"), f"{value:.1g}")
