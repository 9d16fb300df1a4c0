"""What the numbers of a run mean: every engine's name for them, why drafts were refused, what came to nothing.

Pure: trace → HTML. The arithmetic is in `metrics.dictionary` and `metrics.rejections`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.plural import counted
from specviz.core.records import Fate
from specviz.metrics.dictionary import Entry, counters, dictionary
from specviz.metrics.rates import count
from specviz.metrics.rejections import (
    Ledger,
    Refusal,
    drafted_beyond,
    last_paying_place,
    ledger,
    ranks,
    refusals,
    saved,
)
from specviz.metrics.theory import DRAFT_FIRST
from specviz.traces.trace import Trace
from specviz.views.markup import GAP, Html, joined, tag
from specviz.views.palette import FATES, LETTERS, TARGET_WORD
from specviz.views.study import changed, folded, ms, named, number, part, room, says, share, table, token

WIDTHS = (2, 3, 4)
MOST_REFUSALS = 200
EMPTY = "No step has been made yet; press Play or Step, or choose a recording under Runs."
NO_DRAFTS = f"Nothing was drafted in this run, so nothing could be refused. {DRAFT_FIRST}"


def study(trace: Trace) -> Html:
    """All three parts."""
    if not trace.steps:
        return room(says(EMPTY))
    return room(
        changed(trace),
        part("One run under every definition", *_dictionary(trace)),
        part("Why rejected", *_refusals(trace)),
        part("Where the tokens and the time went", *_ledger(trace)),
    )


def _dictionary(trace: Trace) -> list[Html]:
    entries, counts = dictionary([trace]), count(trace.steps)
    columns = [
        ("figure", "what it says"),
        ("value", "of this run"),
        ("formula", "in words"),
        ("in numbers", "of this run"),
        ("printed as", "engine and its name for it"),
    ]
    intro = (
        "“Acceptance” is said of several different quotients. Before two figures are compared: is it the same row? "
        f"This run: {counted(counts.steps, 'target pass', 'target passes')}, {counts.drafted:,} drafted, "
        f"{counts.acceptance_rate.whole:,} tested, {counts.accepted:,} accepted, {counted(counts.emitted, 'token')} written."
    )
    by_place = [entry for entry in entries if entry.place]
    exported = [[tag("code", name), f"{n:,}"] for name, n in counters(counts).items()]
    return [
        says(intro),
        table(
            "One run under every definition", columns, [_entry(entry) for entry in entries if not entry.place], "wide"
        ),
        *(
            [folded("By position in the draft", table("By position", columns, [_entry(e) for e in by_place], "wide"))]
            if by_place
            else []
        ),
        folded(
            "The counters that engines export",
            table(
                "Counters",
                [("counter", "name that the engine exports"), ("this run", "its value after these steps")],
                exported,
            ),
        ),
    ]


def _entry(entry: Entry) -> list[object]:
    return [
        named(entry.title, entry.says),
        tag("strong", number(entry.value, ".3f")),
        entry.formula,
        entry.numbers,
        joined(map(_called, entry.called)) or GAP,
    ]


def _called(name: str) -> Html:
    engine, colon, rest = name.partition(": ")
    printed, bracket, note = rest.partition(" (")
    if not colon:
        return tag("div", name)
    return tag("div", engine, " ", tag("code", printed), f" {bracket.strip()}{note}")


def _refusals(trace: Trace) -> list[Html]:
    found, counts = refusals(trace.steps), count(trace.steps)
    if not counts.drafted:
        return [says(NO_DRAFTS)]
    if not found:
        whole = "the one tested token was" if counts.accepted == 1 else f"all {counts.accepted:,} tested tokens were"
        return [says(f"No draft was refused: {whole} kept.")]
    return [
        says(
            f"{counted(len(found), 'place')} of {counts.acceptance_rate.whole:,} tested ended in a refusal. "
            "Where did the target's own choice stand among the draft's candidates there?"
        ),
        *_ranks(found),
        says(_reach(trace)),
        folded(f"All refusals ({len(found):,})", *_each(found)),
    ]


def _ranks(found: list[Refusal]) -> list[Html]:
    known = sum(refusal.known for refusal in found)
    if not known:
        return [
            says(
                "No model stands behind these drafts (they are looked up), so there are no other candidates to look "
                "among: a wider draft cannot be judged from this run."
            )
        ]
    bins = ranks(found)
    most = max(bins.values())
    bars = [_bar(name, n, most, len(found)) for name, n in bins.items() if n or name != "unknown"]
    columns = [
        ("a draft", "candidates at each place"),
        ("would have had it", "refusals with the target's choice among its candidates"),
    ]
    rows = [[f"{w} wide", f"{n} of {known} ({share(n, known)})"] for w in WIDTHS for n in [saved(found, w)]]
    tree = max(refusal.siblings for refusal in found)
    note = f" This run drafted up to {tree} candidates a place already." if tree > 1 else ""
    return [
        tag("ul", *bars, cls="sv-bars", aria_label="Refusals by rank of the target's choice"),
        table("What a wider draft would have had", columns, rows),
        says(
            "Rank 1 is the draft's own favourite, which a coin refused or which was not drawn. Ranks go by the draft's own "
            f"softmax, and ten candidates are recorded a place.{note}"
        ),
    ]


def _bar(name: str, n: int, most: int, whole: int) -> Html:
    words = {"beyond 10": "beyond rank 10", "unknown": "not recorded"}.get(name, f"rank {name}")
    bar = tag("i", style=f"width:{38 * n / most:.1f}%")
    return tag("li", tag("span", words), bar, tag("span", f"{n} of {whole} ({share(n, whole)})"))


def _reach(trace: Trace) -> str:
    last = last_paying_place(trace.steps)
    deepest = max(step.depth for step in trace.steps)
    beyond = drafted_beyond(trace.steps, last)
    if last == 0:
        where = "the one position drafted" if deepest == 1 else f"any of {deepest} positions"
        return f"No drafted token was ever accepted, at {where}: drafting never paid here."
    if last == deepest:
        return f"Even the deepest position drafted, {deepest}, was accepted at least once."
    return (
        f"Beyond position {last} drafting never paid: {counted(beyond, 'token')} drafted there, none accepted. In this run "
        f"a K above {last} only took time."
    )


def _each(found: list[Refusal]) -> list[Html]:
    columns = [
        ("step", "of the run, from 1"),
        ("position", "in the draft"),
        ("drafted", "and refused"),
        ("target's choice", "in its place"),
        ("rank", "of that choice in the draft"),
        ("overlap β", "chance that the draft is accepted there"),
    ]
    rows = [
        [
            refusal.step + 1,
            refusal.place,
            joined([token(refusal.drafted, Fate.REJECTED), *_others(refusal.siblings - 1)]),
            token(refusal.chosen, Fate.RESAMPLED),
            refusal.rank or ("beyond 10" if refusal.known else GAP),
            number(refusal.overlap),
        ]
        for refusal in found[:MOST_REFUSALS]
    ]
    cut = [says(f"The first {MOST_REFUSALS} of {len(found):,}.")] if len(found) > MOST_REFUSALS else []
    return [*cut, table("All refusals", columns, rows, "low")]


def _others(n: int) -> list[object]:
    return [" ", tag("small", f"and {n} more")] if n else []


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
    lines = [Line(LETTERS[fate], FATES[fate].mark, FATES[fate].word, n, s) for fate, n, s in kept]
    own = Fate.BONUS
    return [*lines, Line(LETTERS[own], FATES[own].mark, f"{TARGET_WORD}'s own", found.own, found.own_s)]


def _ledger(trace: Trace) -> list[Html]:
    found, drafted = ledger(trace.steps), any(step.tokens for step in trace.steps)
    lines = [line for line in _lines(found) if drafted or line.number]
    tokens, seconds = sum(line.number for line in lines), sum(line.seconds for line in lines)
    thrown = found.rejected_s + found.untested_s
    rows: list[list[object]] = [
        [f"{x.mark} {x.word}", f"{x.number:,}", share(x.number, tokens), ms(x.seconds), share(x.seconds, seconds)]
        for x in lines
    ]
    rows.append(["all", f"{tokens:,}", share(tokens, tokens), ms(seconds), share(seconds, seconds)])
    columns = [
        ("token", "by what became of it"),
        ("number", "drafted, and the target's own"),
        ("of all tokens", "made, kept or not"),
        ("time", "drafting and verifying"),
        ("of all time", "of drafting and verifying"),
    ]
    wasted = (
        f"{share(thrown, seconds)} of the time of drafting and verifying ({ms(thrown)} of {ms(seconds)}) went into tokens "
        "that were thrown away."
        if drafted
        else "Nothing was drafted, so nothing was thrown away: every pass of the target wrote its own token."
    )
    about = (
        "A step's drafting is shared out over its drafted tokens, its verification over all places of the pass. The loop "
        "around them and reading the prompt are left out."
    )
    bars = [
        _shares("tokens", [(line, line.number) for line in lines], tokens),
        _shares("time", [(line, line.seconds) for line in lines], seconds),
    ]
    return [says(wasted), *bars, table("Tokens and time by fate", columns, rows), says(about)]


def _shares(name: str, lines: Sequence[tuple[Line, float]], whole: float) -> Html:
    """One bar, cut by fate."""
    there = [(line, amount / whole) for line, amount in lines if amount]
    cut = [
        tag("i", line.mark, cls=f"sv-{line.letter}", style=f"flex-grow:{part_:.4f}", title=f"{line.word}: {part_:.0%}")
        for line, part_ in there
    ]
    words = f"{name}: " + ", ".join(f"{line.word} {part_:.0%}" for line, part_ in there)
    return tag("div", tag("span", name), tag("div", *cut, role="img", translate="no", aria_label=words), cls="sv-share")
