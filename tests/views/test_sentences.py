"""The sentences that views make of codes and numbers, in every language, as one text file to read and to compare.

After a wanted change rewrite the file, and read its difference: ``python -m tests.views.test_sentences``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd

from specviz.core.records import BaselineRecord
from specviz.core.words import languages, say, speaking
from specviz.metrics.comparison import Fastest
from specviz.metrics.lossless import Reading, chance
from specviz.metrics.pace import Point, pace
from specviz.metrics.theory import Theory, free
from specviz.metrics.trust import Doubt
from specviz.traces.trace import Trace
from specviz.views import comparison, every_k, lossless, numbers, sweep, theory, timeline
from specviz.views.doubts import doubted
from specviz.views.figures import FIGURES
from specviz.views.findings import findings, judged
from tests.made_runs import case, run_of, trace_of

SNAPSHOT = Path(__file__).with_name("sentences.txt")
RUN = trace_of(run_of([(3, 3), (3, 1), (3, 0), (0, 0), (3, 2)]))
TIMED = replace(RUN, baseline=BaselineRecord((1,) * 9, (0.02,) * 9))
CASES = [
    case(alpha=0.6, c=0.8),
    case(alpha=0.6, c=0.05, k=16),
    case(alpha=0.1, c=0.05, k=1),
    case(alpha=0.2, c=0.0),
    case(alpha=0.6, c=0.1, k=4, slope=0.4),
    case(slope=0.3, tree=True, points=(Point(2.5, 0.9, 9, 30, True),)),
    case(alpha=0.9, c=0.05, k=2, reach=2),
    case(idle=20, short=((0, 0.4),), k=8),
    case(measured=1.0),
    case(alpha=0.7, slope=0.005, points=(Point(4, 1.2, 40, 90), Point(2, 1.1, 9, 20)), whole=1.15),
    case(tested=1, cost_ratio=None, points=()),
    case(strategy="", tested=0, points=()),
    case(strategy="", points=(), whole=1.01),
    case(strategy="", points=(), whole=1.32),
]
DOUBTS = [
    Doubt("beyond", {"tau": 1.55}),
    Doubt("uneven", {"mean_s": 0.071, "median_s": 0.02}),
    Doubt("too_good", {"expected": 2.4}),
    Doubt("others", {"turns": 3}),
]


def lines(html: str) -> list[str]:
    """Text of a piece of page, a line a block, notes on hover included."""
    text = re.sub(r'<[^>]*?(?:title|aria-label)="([^"]*)"[^>]*>', r"\n[\1]\n", html)
    text = re.sub(r"</?(?:p|li|td|th|tr|h3|h4|div|summary|dt|dd|caption|text|small|br|ul|ol)\b[^>]*>", "\n", text)
    kept = [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", line))).strip() for line in text.split("\n")]
    return list(dict.fromkeys(line for line in kept if re.search(r"[A-Za-z]{2}", line)))


def swept() -> pd.DataFrame:
    row = dict.fromkeys(sweep.COLUMNS, 0.5) | {
        "accepted": 3,
        "tested": 6,
        "drafted": 9,
        "target_passes": 5,
        "tokens": 8,
    }
    row |= {"strategy": "greedy", "lane": "greedy", "temperature": 0.0, "prompts": 1, "prompts_wanted": 2, "same": True}
    row |= {"speed_up_low": 1.1, "speed_up_high": 1.4, "mean_draft_length": 1.8, "block_efficiency": 1.6}
    return pd.DataFrame([row | {"k": 2, "speed_up": 1.2}, row | {"k": 4, "speed_up": 1.9, "temperature": 1.0}])


def panel(kind: str, counts: tuple[int, int], exact: float | None) -> lossless.Panel:
    probs = np.array([0.5, 0.5])
    return lossless.Panel("rule", kind, "", [Reading(np.array(counts), probs, chance(probs, 100))], exact)


def sections() -> Iterator[tuple[str, Iterator[str] | list[str]]]:
    for at, found in enumerate(CASES):
        yield f"diagnosis {at}", lines(findings(found))
    yield "doubts", map(doubted, DOUBTS)
    theories = [Theory(0.7, 0.1), Theory(0.1, 0.3), Theory(0.9, 1.5)]
    yield "verdicts", map(judged, theories)
    yield "curve", lines(theory.told(theory.Curve(0.7, 0.1, free, ((0, 0.3),), 4, ()), say("speed.whose_run")))
    yield "explained", lines(theory.explained(pace(TIMED)) + theory.explained(case(mixed=("k", "rule"), alone_s=0.03)))
    yield "not explained", lines(theory.explained(case(points=())) + theory.explained(pace(trace_of([]))))
    yield "numbers", lines(numbers.study(RUN))
    for name, trace in _bare():
        yield f"numbers: {name}", lines(numbers.study(trace))
    yield "timeline", lines(timeline.study(RUN) + timeline.study(TIMED) + timeline.study(TIMED, 4))
    near = [Fastest(0, "near", ("a", "b", "c", "d", "e")), Fastest(0, "near", ("a",)), Fastest(0, "few_steps")]
    yield "fastest", map(comparison.reason, near)
    table = swept().rename(columns={"strategy": "s"})
    yield "comparison", lines(comparison.html(table, {"greedy": RUN}, "target alone", "heading"))
    yield "sweep", lines(sweep.html(swept(), "note"))
    yield "every K", lines(every_k.estimate(pace(TIMED), range(1, 3), 2, 9, "notes"))
    for shown in (
        ("lossless", (50, 50), None),
        ("lossy", (50, 50), 0.0),
        ("lossy", (52, 48), 0.1),
        ("wrong", (90, 10), 0.4),
    ):
        yield (
            f"lossless: {shown[0]} {shown[1]}",
            lines(lossless.html([panel(*shown)], ["a", "b"], "heading", "replays", 100)),
        )
    for name, build in FIGURES.items():
        meta = build().layout.meta
        yield f"chart: {name}", [meta["title"], meta["means"], meta["says"], *(t.hovertemplate for t in build().data)]


def _bare() -> list[tuple[str, Trace]]:
    return [
        ("no step", trace_of([])),
        ("no draft", trace_of(run_of([(0, 0)]))),
        ("all accepted", trace_of(run_of([(3, 3)]))),
        ("all rejected", trace_of(run_of([(3, 0)]))),
    ]


def told() -> str:
    """Each sentence once a language, where it comes first."""
    parts: list[str] = []
    for code in languages():
        known: set[str] = set()
        with speaking(code):
            for name, found in sections():
                new = [line for line in found if line not in known]
                parts += [f"== {code}, {name}", *new, ""]
                known.update(new)
    return "\n".join(parts)


def test_all_sentences_are_as_they_were_read() -> None:
    assert told() == SNAPSHOT.read_text(encoding="utf-8"), (
        "If this is wanted: python -m tests.views.test_sentences, then read the difference."
    )


if __name__ == "__main__":
    SNAPSHOT.write_text(told(), encoding="utf-8")
