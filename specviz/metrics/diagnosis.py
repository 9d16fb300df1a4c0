"""Why a run is as fast as it is, in plain words with its own numbers: what to change first stands first.

Causes, each with what to do: the draft is too slow (c ≥ α), it seldom agrees (low α), verification is not free here
(v(K) eats the gain), K is too large, drafts are missing or short. Pure; the formulas are `metrics.theory`.

Example: α = 0.6 and c = 0.8 give one finding, "Draft too slow", whatever K is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from specviz.metrics.pace import Pace
from specviz.metrics.rates import Rate
from specviz.metrics.theory import Theory, break_even_alpha, free, speed_up

Cause = Literal[
    "slow draft",
    "low agreement",
    "dear verification",
    "long draft",
    "nothing found",
    "short draft",
    "overhead",
    "none",
    "unknown",
]

SELDOM = 0.5
"""α below this is called seldom: more tested tokens are refused than kept."""
TESTED = 10
"""Fewer tested places say nothing about α."""
NOTABLE = 0.05
"""A cause that takes less than this share of the speed is not worth a sentence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with what was seen and what to do. `cost`: speed lost to it, as a share; orders the list."""

    cause: Cause
    title: str
    seen: str
    do: str
    cost: float = 0.0


def diagnose(found: Pace) -> list[Finding]:
    """At least one finding; "none" alone where nothing stands out, "unknown" where too little is measured."""
    if missing := _missing(found):
        return [missing]
    theory = found.theory()
    findings = [
        *_slow_draft(found.alpha, theory),
        *_low_agreement(found, theory),
        *_dear_verification(found, theory),
        *_long_draft(found, theory),
        *_nothing_found(found, theory),
        *_short_draft(found, theory),
        *_overhead(found),
    ]
    return sorted(findings, key=lambda f: -f.cost) or [_nothing(found, theory)]


def headline(found: Pace) -> str:
    """Slower or faster than the target alone, as measured; or that it was not measured."""
    point = found.main()
    if not found.strategy:
        return "Nothing was drafted: this is the target alone."
    if point is None:
        return "Whether it is faster than the target alone is not measured yet: press Measure target alone."
    slower = point.speed_up < 1
    word = "Slower than" if slower else "Faster than" if point.speed_up > 1 else "As fast as"
    at = f"drafts {point.k:.1f} deep on average" if point.adaptive else f"K = {point.k:g}"
    return (
        f"{word} the target alone: {point.speed_up:.2f}× measured ({point.tokens} tokens in {point.steps} steps, {at})."
    )


def _missing(found: Pace) -> Finding | None:
    if not found.strategy:
        return Finding(
            "unknown", "Nothing was drafted", "There is no acceptance rate yet.", "Press Play with K above 0."
        )
    lacks = []
    if found.alpha.whole < TESTED:
        lacks.append(f"only {found.alpha.whole} drafted tokens were tested; let it run longer")
    if found.cost_ratio is None or found.v is None:
        lacks.append("what drafting and verifying cost is not known; press Measure target alone or Measure costs here")
    if not lacks:
        return None
    seen = "; ".join(lacks) + "."
    return Finding("unknown", "Not enough measured to say", seen[0].upper() + seen[1:], "")


def _slow_draft(rate: Rate, theory: Theory) -> list[Finding]:
    alpha, c = theory.alpha, theory.c
    if alpha > c:
        return []
    lost = 1 - (1 + alpha) / (1 + c)
    return [
        Finding(
            "slow draft",
            "Draft too slow",
            f"One draft pass takes c = {c:.2f} of a target pass, and α = {rate} of its tokens are kept. Where c ≥ α no K "
            "helps, even if verification were free.",
            "Choose a smaller draft model, or prompt lookup, which costs next to nothing.",
            lost,
        )
    ]


def _low_agreement(found: Pace, theory: Theory) -> list[Finding]:
    if theory.alpha >= SELDOM:
        return []
    needed = break_even_alpha(theory.c, theory.v)
    line = "" if needed is None else f" Some K pays from α = {needed:.2f} on."
    return [
        Finding(
            "low agreement",
            "The draft seldom agrees",
            f"Only α = {found.alpha} of the tested tokens were kept, at c = {theory.c:.2f}.{line}",
            "Choose a draft that was made for this target (the same family, or distilled from it); a lower temperature or a "
            "more predictable prompt helps, too.",
            1 - theory.gain(found.k) / replace(theory, alpha=SELDOM).gain(found.k),
        )
    ]


def _dear_verification(found: Pace, theory: Theory) -> list[Finding]:
    k, v = found.k, theory.v
    textbook, real = speed_up(theory.alpha, k, theory.c, free, theory.short), theory.gain(k)
    lost = 1 - real / textbook
    if lost < 2 * NOTABLE:
        return []
    draft = f"a tree {k} deep" if found.tree else f"{k} drafted tokens"
    eats = ": the whole gain" if textbook > 1 >= real else ""
    return [
        Finding(
            "dear verification",
            "Verification is not free here",
            f"A target pass over {draft} and one more place takes v({k}) = {v(k):.2f} of a pass over one place; "
            f"the textbook takes 1. That turns {textbook:.2f}× into {real:.2f}×{eats}.",
            "Draft less far, or run where the target's weights, not its arithmetic, are the limit (a GPU with few visitors, "
            "a larger target).",
            lost,
        )
    ]


def _long_draft(found: Pace, theory: Theory) -> list[Finding]:
    k, best, now = found.k, theory.best(), theory.gain(found.k)
    then = theory.gain(best)
    if not 0 < best < k or 1 - now / then < NOTABLE:
        return []
    return [
        Finding(
            "long draft",
            "K is too large",
            f"At α = {theory.alpha:.2f} few drafts of {k} survive: K = {k} promises {now:.2f}×, K = {best} promises "
            f"{then:.2f}×.",
            f"Set K to {best}, or the draft length to cost-aware.",
            1 - now / then,
        )
    ]


def _nothing_found(found: Pace, theory: Theory) -> list[Finding]:
    if found.idle <= NOTABLE * found.steps:
        return []
    always, now = speed_up(theory.alpha, found.k, theory.c, theory.v), theory.gain(found.k)
    gain = f" That turns {always:.2f}× into {now:.2f}×." if always > now else ""
    return [
        Finding(
            "nothing found",
            "Often nothing was drafted",
            f"{found.idle} of {found.steps} steps found nothing to draft and made one token, as the target alone does.{gain}",
            "A strategy with a model behind it always drafts; looked-up drafts need a text that repeats itself.",
            max(0.0, 1 - now / always),
        )
    ]


def _short_draft(found: Pace, theory: Theory) -> list[Finding]:
    k, best, now = found.k, theory.best(), theory.gain(found.k)
    then = theory.gain(best)
    if best <= k or 1 - now / then < NOTABLE:
        return []
    return [
        Finding(
            "short draft",
            "K could be larger",
            f"K = {k} promises {now:.2f}×, K = {best} promises {then:.2f}×{_guessed(found, best)}.",
            f"Set K to {best}, or the draft length to cost-aware.",
            1 - now / then,
        )
    ]


def _guessed(found: Pace, k: int) -> str:
    return f" (v is measured up to K = {found.reach} and goes on straight from there)" if k > found.reach else ""


def _overhead(found: Pace) -> list[Finding]:
    parts = found.explained()
    if parts is None or parts.overhead > 1 - NOTABLE:
        return []
    return [
        Finding(
            "overhead",
            "Slower than its own costs explain",
            f"By α, c and v {parts.measured / parts.overhead:.2f}× was to be expected, {parts.measured:.2f}× was measured.",
            "The loop around the models takes time of its own, and the machine may have been busy with something else "
            "meanwhile: measure again when it is quiet.",
            1 - parts.overhead,
        )
    ]


def _nothing(found: Pace, theory: Theory) -> Finding:
    return Finding(
        "none",
        "Nothing stands out",
        f"α = {found.alpha}, c = {theory.c:.2f}, v({found.k}) = {theory.v(found.k):.2f}: "
        f"{theory.gain(found.k):.2f}× is to be expected at K = {found.k}, and K = {theory.best()} is best.",
        "",
    )
