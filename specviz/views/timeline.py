"""When the models worked: draft, verify and the rest of each step as a strip on one time axis, above the target alone.

After the figure of Leviathan et al. (arXiv 2211.17192, figure 5), from the measured times of a run. Both lanes begin at
the same token and time 0. Each phase has a colour, a pattern and a letter; every bar says step, tokens and ms. Pure HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import floor, log10
from statistics import median

from specviz.core.records import StepRecord
from specviz.core.words import say
from specviz.traces.trace import Trace
from specviz.views.amounts import amount, ms
from specviz.views.elements import part, room, says
from specviz.views.markup import Html, tag

WINDOW = 60
"""Steps shown at once: a strip of some 3 seconds of the default pair, and never more elements than a page bears."""
STEP_PX = 58
LETTER_PX = 13
TICK_PX = 90
MOST_PX = 20_000
"""Width of the strip at most, so that one step of a day beside steps of a millisecond makes no axis of gigabytes."""
MOST_ALONE = 1000
"""Bars of the target alone that are drawn at most."""
LEAST_S = 1e-9
"""Steps that together took less carry no times: no clock here is finer."""
KINDS = {"draft": "D", "verify": "V", "other": "·", "alone": "A"}
"""Phases and the target alone, with their letters."""


@dataclass(frozen=True, slots=True)
class Bar:
    """From `start` on for `length` seconds."""

    kind: str
    start: float
    length: float
    letter: str
    says: str


def study(trace: Trace, first: int = 1) -> Html:
    """The strip from step number `first` (from 1) on."""
    title = say("timeline.title")
    if not trace.steps:
        return room(part(title, says(say("studies.no_step"))))
    first = min(max(1, first), len(trace.steps))
    steps = trace.steps[first - 1 : first - 1 + WINDOW]
    whole = sum(step.step_s for step in steps)
    if whole < LEAST_S:
        return room(part(title, says(say("timeline.no_times"))))
    usual = median(step.step_s for step in steps) or whole / len(steps)
    px = min(STEP_PX / max(usual, LEAST_S), MOST_PX / whole)
    alone = _alone(trace, steps[0].start, whole)
    last = first + len(steps) - 1
    lanes = [(say("timeline.run"), _bars(steps)), *([(say("figures.alone"), alone)] if alone else [])]
    strips = [piece for name, bars in lanes for piece in _lane(name, bars, px)]
    inside = tag("div", *strips, *_axis(whole, px), cls="sv-lanes", style=f"width:{whole * px + 24:.0f}px")
    label = say("timeline.label", first=first, last=last)
    return room(
        part(
            title,
            says(_sentence(trace, steps, first, whole, len(alone))),
            tag("div", inside, cls="sv-timeline", tabindex=0, role="region", aria_label=label),
            _legend(bool(alone)),
        )
    )


def _bars(steps: tuple[StepRecord, ...]) -> list[Bar]:
    found, at = [], 0.0
    for step in steps:
        made, drafted = amount("tokens", len(step.emitted_ids)), len(step.tokens)
        parts = {"tokens": made, "positions": amount("positions", drafted + 1), "drafted": amount("tokens", drafted)}
        for kind, length, letter, key in (
            ("draft", step.draft_s, "D", "bar_draft" if drafted else "bar_look"),
            ("verify", step.verify_s, f"V+{len(step.emitted_ids)}", "bar_verify"),
            ("other", step.other_s, "", "bar_other"),
        ):
            if length > 0:
                told = say(f"timeline.{key}", step=step.index + 1, time=ms(length), **parts)
                found.append(Bar(kind, at, length, letter, told))
            at += length
    return found


def _alone(trace: Trace, start: int, whole: float) -> list[Bar]:
    """The target alone from the same token on, for as long."""
    times = trace.baseline.step_s[start:] if trace.baseline else ()
    ends = list(accumulate(times))
    return [
        Bar(
            "alone",
            end - length,
            min(length, whole - (end - length)),
            "A",
            say("timeline.bar_alone", token=start + n, time=ms(length)),
        )
        for n, (end, length) in enumerate(zip(ends, times, strict=True), start=1)
        if end - length < whole
    ]


def _lane(name: str, bars: list[Bar], px: float) -> tuple[Html, Html]:
    """Name and strip of one lane."""
    kinds = {kind: sum(bar.length for bar in bars if bar.kind == kind) for kind in KINDS}
    words = f"{name}: " + ", ".join(
        f"{say(f'timeline.{kind}')} {ms(seconds)}" for kind, seconds in kinds.items() if seconds
    )
    strip = tag("div", *(_bar(bar, px) for bar in bars[:MOST_ALONE]), cls="sv-lane", role="img", aria_label=words)
    return tag("div", name, cls="sv-lane-name"), strip


def _bar(bar: Bar, px: float) -> Html:
    width = bar.length * px
    letter = bar.letter if width >= LETTER_PX * max(1, len(bar.letter) * 0.7) else ""
    style = f"left:{bar.start * px:.1f}px;width:{max(width - 1, 0.5):.1f}px"
    return tag("i", letter, cls=f"sv-time sv-time-{bar.kind}", style=style, title=bar.says)


def _axis(whole: float, px: float) -> tuple[Html, Html]:
    """A round number of milliseconds at least every `TICK_PX` pixels."""
    least = TICK_PX / px
    power = 10.0 ** floor(log10(least))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= least * (1 - 1e-9))
    ticks = [
        tag("span", f"{1000 * n * step:,.10g}{' ms' if n == 0 else ''}", style=f"left:{n * step * px:.1f}px")
        for n in range(int(whole / step) + 1)
    ]
    return tag("div", "ms", cls="sv-lane-name"), tag("div", *ticks, cls="sv-ticks", aria_hidden="true")


def _sentence(trace: Trace, steps: tuple[StepRecord, ...], first: int, whole: float, alone: int) -> str:
    made, last = sum(len(step.emitted_ids) for step in steps), first + len(steps) - 1
    told = say(
        "timeline.steps", n=len(steps), first=first, last=last, whole=f"{len(trace.steps):,}", time=ms(whole),
        tokens=amount("tokens", made),
    )  # fmt: skip
    if trace.baseline is None:
        return f"{told} {say('timeline.alone_missing')}"
    measured = len(trace.baseline.step_s)
    if not alone:
        return f"{told} {say('timeline.alone_short', tokens=amount('first_tokens', measured))}"
    short = measured <= steps[0].start + alone
    if short:
        took = sum(trace.baseline.step_s[steps[0].start :][:alone])
        told += " " + say("timeline.alone_ended", tokens=amount("tokens", alone), alone=ms(took))
    else:
        told += " " + say("timeline.alone_made", tokens=amount("tokens", alone))
    return f"{told} {say('timeline.alone_cut', most=f'{MOST_ALONE:,}')}" if alone > MOST_ALONE else told


def _legend(alone: bool) -> Html:
    items = [
        tag("li", tag("i", letter, cls=f"sv-time sv-time-{kind}"), f" {say(f'timeline.{kind}_about')}")
        for kind, letter in KINDS.items()
        if alone or kind != "alone"
    ]
    return tag("ul", *items, cls="sv-time-legend")
