"""Why a run is as fast as it is: causes as codes with the run's numbers, the most expensive first.

Causes: the draft is too slow (c ≥ α), it seldom agrees (low α), verification costs time here (v(K) takes the gain), K is
too large or too small, drafts are missing. All are weighed on one scale: what the formula predicts for this run ÷ what it
would predict without the cause. Pure; the formulas are `metrics.theory`, the sentences `views.findings`.

Example: α = 0.6 and c = 0.8 give one finding, "slow_draft", whatever K is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from specviz.metrics.pace import Pace, Point
from specviz.metrics.theory import Theory, break_even_alpha, free
from specviz.metrics.trust import Doubt

Cause = Literal[
    "slow_draft",
    "low_agreement",
    "costly_verification",
    "long_draft",
    "nothing_found",
    "short_draft",
    "overhead",
    "none",
    "unknown",
]
Detail = Literal[
    "look_up",  # drafts are looked up, no model is behind them
    "tree",  # drafts were trees
    "whole_gain",  # verification turned a gain into a loss
    "draft_less",  # a smaller K is better
    "extrapolated",  # v was not measured at the better K
    "nothing_drafted",
    "few_tested",
    "no_costs",  # c or v is not known
]

SELDOM = 0.5
"""α below this is called seldom: more tested tokens are rejected than accepted."""
TESTED = 10
"""Fewer tested tokens say nothing about α."""
NOTABLE = 0.05
"""A cause that takes less than this share of the speed is not reported."""
NO_MODEL = 0.01
"""Drafting at less than this share of a target pass is a look-up, without a model."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with its numbers. `cost`: speed lost to it, as a share of the speed without it; orders the list.

    Numbers by cause: `c`; `break_even` α; `textbook` and `real` speed-up at `v`; speed-up `now` and `then` at K = `best`;
    speed-up `now` and with `whole` drafts; `expected` and `measured` speed-up.
    """

    cause: Cause
    cost: float = 0.0
    numbers: Mapping[str, float] = field(default_factory=dict)
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True, slots=True)
class Headline:
    """Slower or faster than the target alone, as measured.

    `code`: "target_alone" (nothing drafted, nothing timed), "target_alone_timed" (its speed-up `whole` is about 1),
    "target_alone_noisy" (and is not), "not_measured", "doubtful" (see `doubt`), "slower", "equal", "faster". `point`: the
    measured speed-up. `whole`: that of the whole run, where it had several settings.
    """

    code: Literal[
        "target_alone",
        "target_alone_timed",
        "target_alone_noisy",
        "not_measured",
        "doubtful",
        "slower",
        "equal",
        "faster",
    ]
    point: Point | None = None
    doubt: Doubt | None = None
    whole: float | None = None


def diagnose(found: Pace) -> list[Finding]:
    """At least one finding; "none" alone where nothing stands out, "unknown" where too little is measured."""
    if missing := _missing(found):
        return [missing, *_seldom_found(found)]
    theory = found.theory()
    findings = [
        *_slow_draft(found, theory),
        *_low_agreement(found, theory),
        *_costly_verification(found, theory),
        *_long_draft(found, theory),
        *_nothing_found(found, theory),
        *_short_draft(found, theory),
        *_overhead(found),
    ]
    return sorted(findings, key=lambda f: -f.cost) or [_nothing(found, theory)]


def headline(found: Pace) -> Headline:
    """Slower or faster than the target alone, or that it was not measured."""
    point = found.main()
    if not found.strategy:
        if found.whole is None:
            return Headline("target_alone")
        noisy = abs(found.whole - 1) > NOTABLE
        return Headline("target_alone_noisy" if noisy else "target_alone_timed", whole=found.whole)
    if point is None:
        return Headline("not_measured")
    if doubt := found.doubt():
        return Headline("doubtful", point, doubt)
    code: Literal["slower", "equal", "faster"] = (
        "slower" if point.speed_up < 1 else "faster" if point.speed_up > 1 else "equal"
    )
    return Headline(code, point, whole=found.whole if len(found.points) > 1 else None)


def _missing(found: Pace) -> Finding | None:
    if not found.strategy:
        return Finding("unknown", details=("nothing_drafted",))
    lacks: list[Detail] = []
    if found.alpha.whole < TESTED:
        lacks.append("few_tested")
    if found.cost_ratio is None or found.v is None:
        lacks.append("no_costs")
    return Finding("unknown", details=tuple(lacks)) if lacks else None


def _slow_draft(found: Pace, theory: Theory) -> list[Finding]:
    if theory.alpha > theory.c:
        return []
    return [Finding("slow_draft", _lost(found, theory, replace(theory, c=0.0)), {"c": theory.c})]


def _low_agreement(found: Pace, theory: Theory) -> list[Finding]:
    if theory.alpha >= SELDOM:
        return []
    needed, numbers = break_even_alpha(theory.c, theory.v), {"c": theory.c}
    if needed is not None:
        numbers["break_even"] = needed
    cost = _lost(found, theory, replace(theory, alpha=SELDOM))
    return [Finding("low_agreement", cost, numbers, ("look_up",) if theory.c < NO_MODEL else ())]


def _costly_verification(found: Pace, theory: Theory) -> list[Finding]:
    k, unpaid = found.k, replace(theory, v=free)
    textbook, real, lost = unpaid.gain(k), theory.gain(k), _lost(found, theory, unpaid)
    if lost < 2 * NOTABLE:
        return []
    details: list[Detail] = ["tree"] if found.tree else []
    details += ["whole_gain"] if textbook > 1 >= real else []
    details += ["draft_less"] if 0 < theory.best() < k else []
    numbers = {"v": theory.v(k), "textbook": textbook, "real": real}
    return [Finding("costly_verification", lost, numbers, tuple(details))]


def _long_draft(found: Pace, theory: Theory) -> list[Finding]:
    best, now = theory.best(), theory.gain(found.k)
    then = theory.gain(best)
    if not 0 < best < found.k or 1 - now / then < NOTABLE:
        return []
    return [Finding("long_draft", 1 - now / then, {"now": now, "best": best, "then": then})]


def _nothing_found(found: Pace, theory: Theory) -> list[Finding]:
    whole = replace(theory, short=())
    always, now = whole.gain(found.k), theory.gain(found.k)
    numbers = {"now": now, "whole": always} if always > now else {}
    return [replace(finding, numbers=numbers, cost=_lost(found, theory, whole)) for finding in _seldom_found(found)]


def _seldom_found(found: Pace) -> list[Finding]:
    """The same where nothing else is known."""
    return [Finding("nothing_found")] if found.idle > NOTABLE * found.steps else []


def _short_draft(found: Pace, theory: Theory) -> list[Finding]:
    best, now = theory.best(), theory.gain(found.k)
    then = theory.gain(best)
    if best <= found.k or 1 - now / then < NOTABLE:
        return []
    details: tuple[Detail, ...] = ("extrapolated",) if best > found.reach else ()
    return [Finding("short_draft", 1 - now / then, {"now": now, "best": best, "then": then}, details)]


def _overhead(found: Pace) -> list[Finding]:
    parts = found.explained()
    if parts is None or parts.overhead > 1 - NOTABLE:
        return []
    numbers = {"expected": parts.measured / parts.overhead, "measured": parts.measured}
    return [Finding("overhead", 1 - parts.overhead, numbers)]


def _lost(found: Pace, theory: Theory, without: Theory) -> float:
    """Share of the speed that a cause takes at the run's K; `without`: the formula where it is gone."""
    return max(0.0, 1 - theory.gain(found.k) / without.gain(found.k))


def _nothing(found: Pace, theory: Theory) -> Finding:
    k = found.k
    return Finding("none", numbers={"c": theory.c, "v": theory.v(k), "now": theory.gain(k), "best": theory.best()})
