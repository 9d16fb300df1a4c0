"""The diagnosis in sentences: slower or faster, why, and what to change first. Pure: codes and numbers → text and HTML.

Example: ``findings(pace(trace))`` is a list whose first entry costs the most speed.
"""

from __future__ import annotations

from collections.abc import Mapping

from specviz.core.words import say
from specviz.metrics.diagnosis import SELDOM, TESTED, Finding, Headline, diagnose, headline
from specviz.metrics.pace import Pace
from specviz.metrics.theory import Theory
from specviz.views.amounts import amount, apart, rate
from specviz.views.doubts import doubted
from specviz.views.elements import room, says
from specviz.views.markup import NOTHING, Html, tag


def findings(found: Pace, badge: Html = NOTHING) -> Html:
    """Slower or faster, and why: a list that begins with what matters most. `badge`: what comes before all else."""
    return room(
        badge,
        says(tag("strong", headlined(headline(found)))),
        tag("ol", *(_entry(finding, found) for finding in diagnose(found)), cls="sv-findings"),
    )


def headlined(found: Headline) -> str:
    """The headline as a sentence or two."""
    whole = {} if found.whole is None else {"whole": f"{found.whole:.2f}"}
    if found.point is None:
        return say(f"findings.{found.code}", **whole)
    point = found.point
    measured = say(
        "findings.measured_adaptive" if point.adaptive else "findings.measured",
        gain=f"{point.speed_up:.2f}",
        tokens=amount("tokens", point.tokens),
        steps=amount("steps", point.steps),
        k=f"{point.k:.1f}" if point.adaptive else f"{point.k:g}",
    )
    if found.doubt:
        return say("findings.doubtful", measured=measured, doubt=doubted(found.doubt))
    sentence = say(f"findings.{found.code}", measured=measured)
    return f"{sentence} {say('findings.whole_run', **whole)}" if whole else sentence


def judged(theory: Theory) -> str:
    """The best K in a sentence, or why no K can help."""
    found, values = theory.verdict(), {"c": f"{theory.c:.2f}", "v": f"{theory.v(1):.2f}"}
    if found.code == "best":
        return say("findings.verdict_best", k=found.best, gain=f"{found.gain:.2f}")
    if found.break_even is None:
        return say("findings.verdict_too_dear", **values)
    needed = apart(found.break_even, theory.alpha)
    return say("findings.verdict_below_break_even", alpha=f"{theory.alpha:.2f}", needed=needed, **values)


def seen(finding: Finding, found: Pace) -> str:
    """What was found, with the run's numbers."""
    if finding.cause == "unknown":
        return " ".join(_lacking(detail, found) for detail in finding.details)
    parts = {name: f"{value:.2f}" for name, value in finding.numbers.items()}
    parts |= {"alpha": rate(found.alpha), "k": f"{found.k}", "reach": f"{found.reach}"}
    parts |= {"idle": f"{found.idle}", "steps": amount("of_steps", found.steps)}
    if finding.cause in ("slow_draft", "low_agreement") and found.alpha.value is not None:
        parts["c"] = apart(finding.numbers["c"], found.alpha.value)
    if "best" in finding.numbers:
        parts["best"] = f"{finding.numbers['best']:g}"
    tree = "_tree" if "tree" in finding.details else ""
    sentences = [say(f"findings.{finding.cause}_seen{tree}", **parts)]
    if finding.cause == "low_agreement" and "break_even" in finding.numbers:
        parts["needed"] = apart(finding.numbers["break_even"], found.alpha.value or 0.0)
        sentences.append(say("findings.break_even", needed=parts["needed"]))
    if finding.cause == "nothing_found" and finding.numbers:
        sentences.append(say("findings.nothing_found_gain", **parts))
    sentences += [
        say(f"findings.{name}", **parts) for name in ("whole_gain", "extrapolated") if name in finding.details
    ]
    return " ".join(sentences)


def advice(finding: Finding) -> str:
    """What to do about it; nothing where there is nothing to do, or `seen` has said it."""
    if finding.cause == "none":
        return ""
    if finding.cause == "unknown":
        return say("findings.draft_first") if "nothing_drafted" in finding.details else ""
    variant = next((f"_{name}" for name in ("look_up", "draft_less") if name in finding.details), "")
    return say(f"findings.{finding.cause}_do{variant}", **_best(finding.numbers))


def _best(numbers: Mapping[str, float]) -> dict[str, str]:
    return {"best": f"{numbers['best']:g}"} if "best" in numbers else {}


def _lacking(detail: str, found: Pace) -> str:
    if detail == "few_tested":
        return say("findings.few_tested", n=found.alpha.whole, least=TESTED)
    return say(f"findings.{detail}")


def _entry(finding: Finding, found: Pace) -> Html:
    title = "nothing_drafted" if "nothing_drafted" in finding.details else finding.cause
    parts: list[object] = [tag("strong", say(f"findings.{title}_title"))]
    if finding.cost >= 0.005:
        against = say(f"findings.{finding.cause}_against", seldom=f"{SELDOM:g}", **_best(finding.numbers))
        parts += [" ", tag("small", say("findings.cost", cost=f"{finding.cost:.0%}", against=against))]
    parts += [tag("br"), seen(finding, found)]
    do = advice(finding)
    return tag("li", *parts, *([" ", tag("em", do)] if do else []))
