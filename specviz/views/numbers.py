"""What the numbers of a run mean: every engine's name for them, why drafts were rejected, where the time went.

Pure: trace → HTML. The arithmetic is in `metrics.dictionary` and `metrics.rejections`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.records import Fate
from specviz.core.words import say
from specviz.metrics.dictionary import Called, Entry, counters, dictionary
from specviz.metrics.rates import count
from specviz.metrics.rejections import (
    Ledger,
    Rejection,
    drafted_beyond,
    last_paying_position,
    ledger,
    ranks,
    rejections,
    saved,
)
from specviz.traces.trace import Trace
from specviz.views.amounts import amount, ms, number, of, share
from specviz.views.elements import Column, changed, column, folded, named, part, room, says, table, token
from specviz.views.markup import GAP, Html, joined, tag
from specviz.views.palette import FATES, LETTERS, word

WIDTHS = (2, 3, 4)
MOST_REJECTIONS = 200


def study(trace: Trace) -> Html:
    """All three parts."""
    if not trace.steps:
        return room(says(say("studies.no_step")))
    return room(
        changed(trace),
        part(say("numbers.definitions"), *_dictionary(trace)),
        part(say("numbers.why_rejected"), *_rejections(trace)),
        part(say("numbers.where_time_went"), *_ledger(trace)),
    )


def _columns(*names: str) -> list[Column]:
    return [column(f"numbers.col_{name}") for name in names]


def _dictionary(trace: Trace) -> list[Html]:
    entries, counts = dictionary([trace]), count(trace.steps)
    columns = _columns("figure", "value", "formula", "filled", "called")
    whole = [_entry(entry) for entry in entries if not entry.position]
    by_position = [_entry(entry) for entry in entries if entry.position]
    exported = [[tag("code", name), f"{n:,}"] for name, n in counters(counts).items()]
    intro = say(
        "numbers.intro",
        passes=amount("target_passes", counts.steps),
        drafted=f"{counts.drafted:,}",
        tested=f"{counts.acceptance_rate.whole:,}",
        accepted=f"{counts.accepted:,}",
        tokens=amount("tokens", counts.emitted),
    )
    parts = [says(intro), table(say("numbers.definitions"), columns, whole, "wide")]
    if by_position:
        parts.append(
            folded(say("numbers.by_position"), table(say("numbers.by_position"), columns, by_position, "wide"))
        )
    named_so = [Column(*column("numbers.col_counter")), Column(say("speed.this_run"), say("numbers.counter_value"))]
    return [*parts, folded(say("numbers.counters"), table(say("numbers.counters"), named_so, exported))]


def _entry(entry: Entry) -> list[object]:
    key, fields = f"numbers.{entry.code}", {"place": entry.position}
    return [
        named(say(key, **fields), say(f"{key}_about")),
        tag("strong", number(entry.value, ".3f")),
        say(f"{key}_formula", **fields),
        _filled(entry),
        joined(map(_called, entry.called)) or GAP,
    ]


def _filled(entry: Entry) -> str:
    """The formula with the run's numbers in it."""
    if entry.value is None:
        return say(f"numbers.{entry.lack}")
    if entry.code == "draft_overhead":
        return f"{1000 * entry.part:,.1f} ms ÷ {1000 * entry.whole:,.1f} ms"
    if entry.code.startswith("mean_of"):
        return say("numbers.mean_of", n=f"{entry.whole:g}")
    one = "1 + " if entry.code == "mean_acceptance_length" else ""
    return f"{one}{entry.part:.0f} ÷ {entry.whole:.0f}"


def _called(name: Called) -> Html:
    note = [f" ({say(f'numbers.note_{name.note}')})"] if name.note else []
    return tag("div", f"{name.engine} ", tag("code", name.name), *note)


def _rejections(trace: Trace) -> list[Html]:
    found, counts = rejections(trace.steps), count(trace.steps)
    if not counts.drafted:
        return [says(f"{say('numbers.no_drafts_here')} {say('findings.draft_first')}")]
    if not found:
        return [says(say("numbers.none_rejected", n=counts.accepted, count=f"{counts.accepted:,}"))]
    tested = f"{counts.acceptance_rate.whole:,}"
    return [
        says(say("numbers.rejections", n=len(found), count=f"{len(found):,}", tested=tested)),
        *_ranks(found),
        says(_reach(trace)),
        folded(say("numbers.all_rejections", count=f"{len(found):,}"), *_each(found)),
    ]


def _ranks(found: list[Rejection]) -> list[Html]:
    known = sum(rejection.known for rejection in found)
    if not known:
        return [says(say("numbers.no_candidates"))]
    bins = ranks(found)
    most = max(bins.values())
    bars = [_bar(name, n, most, len(found)) for name, n in bins.items() if n or name != "unknown"]
    rows = [
        [say("numbers.wide", width=width), f"{of(n, known)} ({share(n, known)})"]
        for width in WIDTHS
        for n in [saved(found, width)]
    ]
    tree = max(rejection.siblings for rejection in found)
    note = " " + say("numbers.ranks_tree", siblings=tree) if tree > 1 else ""
    return [
        tag("ul", *bars, cls="sv-bars", aria_label=say("numbers.by_rank")),
        table(say("numbers.wider"), _columns("draft", "reached"), rows),
        says(say("numbers.ranks") + note),
    ]


def _bar(name: str, n: int, most: int, whole: int) -> Html:
    words = {"beyond 10": say("numbers.rank_beyond"), "unknown": say("numbers.rank_unknown")}
    bar = tag("i", style=f"width:{38 * n / most:.1f}%")
    text = words.get(name) or say("numbers.rank", rank=name)
    return tag("li", tag("span", text), bar, tag("span", f"{of(n, whole)} ({share(n, whole)})"))


def _reach(trace: Trace) -> str:
    last = last_paying_position(trace.steps)
    deepest = max(step.depth for step in trace.steps)
    if last == 0:
        return say("numbers.never_accepted", n=deepest)
    if last == deepest:
        return say("numbers.deepest_accepted", deepest=deepest)
    return say("numbers.beyond_last", last=last, tokens=amount("tokens", drafted_beyond(trace.steps, last)))


def _each(found: list[Rejection]) -> list[Html]:
    columns = _columns("step", "position", "drafted", "chosen", "rank", "overlap")
    rows = [
        [
            rejection.step + 1,
            rejection.position,
            joined([token(rejection.drafted, Fate.REJECTED), *_others(rejection.siblings - 1)]),
            token(rejection.chosen, Fate.RESAMPLED),
            rejection.rank or (say("numbers.beyond_ten") if rejection.known else GAP),
            number(rejection.overlap),
        ]
        for rejection in found[:MOST_REJECTIONS]
    ]
    cut = [says(say("numbers.first_of", first=MOST_REJECTIONS, count=f"{len(found):,}"))]
    cut = cut if len(found) > MOST_REJECTIONS else []
    label = say("numbers.all_rejections", count=f"{len(found):,}")
    return [*cut, table(label, columns, rows, "low")]


def _others(n: int) -> list[object]:
    return [" ", tag("small", say("numbers.siblings", more=n))] if n else []


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the ledger."""

    letter: str
    mark: str
    word: str
    number: int
    seconds: float


def _lines(found: Ledger) -> list[Line]:
    kept = [
        (Fate.ACCEPTED, found.accepted, found.accepted_s),
        (Fate.REJECTED, found.rejected, found.rejected_s),
        (Fate.UNTESTED, found.untested, found.untested_s),
    ]
    lines = [Line(LETTERS[fate], FATES[fate].mark, word(fate), n, s) for fate, n, s in kept]
    own = Fate.BONUS
    return [*lines, Line(LETTERS[own], FATES[own].mark, say("fates.target_own"), found.own, found.own_s)]


def _ledger(trace: Trace) -> list[Html]:
    found, drafted = ledger(trace.steps), any(step.tokens for step in trace.steps)
    lines = [line for line in _lines(found) if drafted or line.number]
    tokens, seconds = sum(line.number for line in lines), sum(line.seconds for line in lines)
    rows: list[list[object]] = [
        [f"{x.mark} {x.word}", f"{x.number:,}", share(x.number, tokens), ms(x.seconds), share(x.seconds, seconds)]
        for x in lines
    ]
    rows.append([say("numbers.all"), f"{tokens:,}", share(tokens, tokens), ms(seconds), share(seconds, seconds)])
    wasted = found.rejected_s + found.untested_s
    sentence = (
        say("numbers.wasted", share=share(wasted, seconds), part=ms(wasted), whole=ms(seconds))
        if drafted
        else say("numbers.nothing_wasted")
    )
    bars = [
        _shares(say("numbers.tokens"), [(line, line.number) for line in lines], tokens),
        _shares(say("numbers.time"), [(line, line.seconds) for line in lines], seconds),
    ]
    columns = _columns("token", "number", "of_tokens", "time", "of_time")
    return [says(sentence), *bars, table(say("numbers.by_fate"), columns, rows), says(say("numbers.shared_out"))]


def _shares(name: str, lines: Sequence[tuple[Line, float]], whole: float) -> Html:
    """One bar, cut by fate."""
    there = [(line, amount / whole) for line, amount in lines if amount]
    cut = [
        tag("i", line.mark, cls=f"sv-{line.letter}", style=f"flex-grow:{part_:.4f}", title=f"{line.word}: {part_:.0%}")
        for line, part_ in there
    ]
    words = f"{name}: " + ", ".join(f"{line.word} {part_:.0%}" for line, part_ in there)
    return tag("div", tag("span", name), tag("div", *cut, role="img", translate="no", aria_label=words), cls="sv-share")
