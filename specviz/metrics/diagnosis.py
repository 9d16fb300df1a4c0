"""Why a run is as fast as it is, in plain words with its own numbers: what to change first stands first.

Causes, each with what to do: the draft is too slow (c ≥ α), it seldom agrees (low α), verification is not free here
(v(K) eats the gain), K is too large, drafts are missing or short. All are weighed on one scale: what the formula promises
for this run ÷ what it would promise without the cause. Pure; the formulas are `metrics.theory`.

Example: α = 0.6 and c = 0.8 give one finding, "Draft too slow", whatever K is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from specviz.metrics.pace import Pace
from specviz.metrics.theory import DRAFT_FIRST, Theory, apart, break_even_alpha, free

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
NO_MODEL = 0.01
"""Drafting at less than this share of a target pass is looking up, no model's work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with what was seen and what to do. `cost`: speed lost to it, as a share of what there would be if
    `against` held; orders the list."""

    cause: Cause
    title: str
    seen: str
    do: str
    cost: float = 0.0
    against: str = ""


def diagnose(found: Pace) -> list[Finding]:
    """At least one finding; "none" alone where nothing stands out, "unknown" where too little is measured."""
    if missing := _missing(found):
        return [missing, *_seldom_found(found)]
    theory = found.theory()
    findings = [
        *_slow_draft(found, theory),
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
        if found.whole is None:
            return "Nothing was drafted: this is the target alone."
        gap = abs(found.whole - 1) > NOTABLE
        rest = " What is not 1 is the machine, which was not equally quick both times; measure again." * gap
        return f"{'⚠ ' * gap}Nothing was drafted: this is the target alone, measured at {found.whole:.2f}× of itself.{rest}"
    if point is None:
        return "Whether it is faster than the target alone is not measured yet: press Measure target alone."
    slower = point.speed_up < 1
    word = "Slower than" if slower else "Faster than" if point.speed_up > 1 else "As fast as"
    at = f"drafts {point.k:.1f} deep on average" if point.adaptive else f"K = {point.k:g}"
    steps = "1 step" if point.steps == 1 else f"{point.steps} steps"
    tokens = "1 token" if point.tokens == 1 else f"{point.tokens} tokens"
    measured = f"{point.speed_up:.2f}× measured ({tokens} in {steps}, {at})"
    if reason := found.doubt():
        return f"⚠ {measured}: not to be trusted. {reason}"
    whole = found.whole
    rest = "" if whole is None or len(found.points) < 2 else f" The whole run, at every setting it had: {whole:.2f}×."
    return f"{word} the target alone: {measured}.{rest}"


def _missing(found: Pace) -> Finding | None:
    if not found.strategy:
        return Finding("unknown", "Nothing was drafted", "There is no acceptance rate yet.", DRAFT_FIRST)
    lacks = []
    if found.alpha.whole < TESTED:
        tested = "1 drafted token was" if found.alpha.whole == 1 else f"{found.alpha.whole} drafted tokens were"
        lacks.append(f"only {tested} tested; let it run over more new tokens, or draft in more steps")
    if found.cost_ratio is None or found.v is None:
        lacks.append("what drafting and verifying cost is not known; press Measure target alone or Measure costs here")
    if not lacks:
        return None
    seen = "; ".join(lacks) + "."
    return Finding("unknown", "Not enough measured to say", seen[0].upper() + seen[1:], "")


def _slow_draft(found: Pace, theory: Theory) -> list[Finding]:
    alpha, c = theory.alpha, theory.c
    if alpha > c:
        return []
    return [
        Finding(
            "slow draft",
            "Draft too slow",
            f"One draft pass takes c = {apart(c, alpha)} of a target pass, and α = {found.alpha} of its tokens are kept. "
            "Where c ≥ α no K helps, even if verification were free.",
            "Choose a cheaper draft (a smaller model, fewer layers), or a look-up, which costs next to nothing.",
            _lost(found, theory, replace(theory, c=0.0)),
            "drafting at no cost",
        )
    ]


def _low_agreement(found: Pace, theory: Theory) -> list[Finding]:
    if theory.alpha >= SELDOM:
        return []
    needed = break_even_alpha(theory.c, theory.v)
    line = "" if needed is None else f" Some K pays from α = {apart(needed, theory.alpha)} on."
    do = (
        "Drafts that are looked up agree where a text repeats itself or is commonplace; elsewhere choose one with a model "
        "behind it."
        if theory.c < NO_MODEL
        else "Choose a draft that agrees more often (a copy of the target in fewer bits, one distilled from it for longer, one "
        "of the same family); a lower temperature or a more predictable prompt helps, too."
    )
    return [
        Finding(
            "low agreement",
            "The draft seldom agrees",
            f"Only α = {found.alpha} of the tested tokens were kept, at c = {theory.c:.2f}.{line}",
            do,
            _lost(found, theory, replace(theory, alpha=SELDOM)),
            f"α = {SELDOM:g}",
        )
    ]


def _dear_verification(found: Pace, theory: Theory) -> list[Finding]:
    k, v, unpaid = found.k, theory.v, replace(theory, v=free)
    textbook, real, lost = unpaid.gain(k), theory.gain(k), _lost(found, theory, unpaid)
    if lost < 2 * NOTABLE:
        return []
    less = "Draft less far, or run" if 0 < theory.best() < k else "Run"
    draft = f"a tree {k} deep" if found.tree else f"{k} drafted tokens"
    eats = ": the whole gain" if textbook > 1 >= real else ""
    return [
        Finding(
            "dear verification",
            "Verification is not free here",
            f"A target pass over {draft} and one more place takes v({k}) = {v(k):.2f} of a pass over one place; "
            f"the textbook takes 1. That turns {textbook:.2f}× into {real:.2f}×{eats}.",
            f"{less} where the target's weights, not its arithmetic, are the limit (a GPU with few visitors, a larger "
            "target).",
            lost,
            "v = 1",
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
            f"K = {best}",
        )
    ]


def _nothing_found(found: Pace, theory: Theory) -> list[Finding]:
    whole = replace(theory, short=())
    always, now = whole.gain(found.k), theory.gain(found.k)
    gain = (
        f" With v({found.k}) as it is, whole drafts would turn {now:.2f}× into {always:.2f}×." if always > now else ""
    )
    return [
        replace(finding, seen=finding.seen + gain, cost=_lost(found, theory, whole), against="every draft whole")
        for finding in _seldom_found(found)
    ]


def _seldom_found(found: Pace) -> list[Finding]:
    """The same where nothing else is known."""
    if found.idle <= NOTABLE * found.steps:
        return []
    return [
        Finding(
            "nothing found",
            "Often nothing was drafted",
            f"{found.idle} of {found.steps} steps found nothing to draft and made one token, as the target alone does.",
            "A strategy with a model behind it always drafts; looked-up drafts need a text that repeats itself.",
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
            f"K = {best}",
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
            f"By α at each place, c and v {parts.measured / parts.overhead:.2f}× was to be expected, "
            f"{parts.measured:.2f}× was measured.",
            "The loop around the models takes time of its own, and the machine may have been busy with something else "
            "meanwhile: measure again when it is quiet.",
            1 - parts.overhead,
            "what α, c and v explain",
        )
    ]


def _lost(found: Pace, theory: Theory, without: Theory) -> float:
    """Share of the speed that a cause takes at the run's K; `without`: the formula where it is gone."""
    return max(0.0, 1 - theory.gain(found.k) / without.gain(found.k))


def _nothing(found: Pace, theory: Theory) -> Finding:
    return Finding(
        "none",
        "Nothing stands out",
        f"α = {found.alpha}, c = {theory.c:.2f}, v({found.k}) = {theory.v(found.k):.2f}: "
        f"{theory.gain(found.k):.2f}× is to be expected at K = {found.k}, and K = {theory.best()} is best.",
        "",
    )
