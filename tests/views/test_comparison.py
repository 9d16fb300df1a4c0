"""Which lane is called the fastest, what its columns are measured over, and headings that explain themselves."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from specviz.core.words import say
from specviz.metrics.comparison import table
from specviz.metrics.pace import pace
from specviz.metrics.rates import count
from specviz.recordings import gallery
from specviz.views import comparison, every_k, numbers, sweep
from specviz.views.elements import Column, meanings
from tests.made_runs import run_of, trace_of

ALONE = "target alone"
FASTEST, UNSURE = say("columns.fastest"), say("columns.fastest_unsure")


def near(*names):
    return say("columns.near", names=", ".join(names))


def run(*pairs, verify_s=()):
    """A run of (drafted, accepted) a step; `verify_s`: how long each pass took."""
    steps = run_of(list(pairs))
    timed = [
        replace(step, verify_s=seconds) for step, seconds in zip(steps, verify_s or [0.04] * len(steps), strict=True)
    ]
    return trace_of(timed)


def compared(*lanes):
    """A table of lanes (name, speed-up, low, high) as it is drawn."""
    rows = [
        dict.fromkeys([*comparison.COLUMNS, "accepted", "tested", "drafted", "target_passes", "tokens"])
        | {"lane": name, "speed_up": value, "speed_up_low": low, "speed_up_high": high}
        for name, value, low, high in lanes
    ]
    return comparison.html(pd.DataFrame(rows).convert_dtypes(), {}, ALONE, "how")


def marked(html):
    """Name, word and reason of each row that is marked."""
    rows = re.findall(r'<tr class="sv-fastest"><th scope="row">([^<]+?) <b(?: title="([^"]*)")?>([^<]+)</b>', html)
    return [(name, word, why) for name, why, word in rows]


def swept(*lines):
    """A sweep of (strategy, K, speed-up, low, high)."""
    rows = [
        dict.fromkeys([*sweep.COLUMNS, "accepted", "tested", "drafted", "target_passes", "tokens"])
        | {"strategy": name, "k": k, "temperature": 0.0, "prompts": 1, "prompts_wanted": 1}
        | {"speed_up": value, "speed_up_low": low, "speed_up_high": high}
        for name, k, value, low, high in lines
    ]
    return sweep.html(pd.DataFrame(rows).convert_dtypes(), "note")


@pytest.mark.parametrize(
    ("lanes", "first", "word", "reason"),
    [
        # nothing beats the target alone
        ([("suffix lookup", 0.73, 0.6, 0.9)], ALONE, FASTEST, ""),
        ([("suffix lookup", 0.73, 0.6, 1.1)], ALONE, UNSURE, near("suffix lookup")),
        # with one new token there is no interval
        ([("suffix lookup", 0.73, None, None)], ALONE, UNSURE, say("columns.few_steps")),
        ([("a", 1.34, 0.86, 1.99), ("b", 1.33, 0.91, 1.86)], "a", UNSURE, near(ALONE, "b")),
        ([("a", 1.34, 1.2, 1.5), ("b", 1.33, 1.1, 1.4), ("c", 0.9, 0.8, 1.1)], "a", UNSURE, near("b")),
        ([("a", 1.1, 1.05, 1.2), ("b", 1.5, 1.3, 1.7)], "b", FASTEST, ""),
    ],
)
def test_the_fastest_is_called_so_only_as_far_as_it_is(lanes, first, word, reason):
    html = compared((ALONE, 1.0, None, None), *lanes)
    ((name, said, why),) = marked(html)
    # a finger reads it above the table
    assert (f"how {say('columns.unsure', name=first, why=why)}</p>" in html) == bool(reason)
    assert (name, said, why) == (first, word, reason)


def test_nothing_measured_has_no_fastest():
    assert marked(compared((ALONE, 1.0, None, None), ("a", None, None, None))) == []
    assert marked(compared((ALONE, None, None, None), ("a", None, None, None))) == []


def test_a_sweep_calls_the_fastest_by_the_same_rule():
    slow = swept(("a", 1, 0.73, 0.6, 0.9), ("a", 4, 0.5, 0.4, 0.6))
    best = {"strategy": "a", "k": 1, "gain": "0.73× [0.60 … 0.90]"}
    assert marked(slow) == [] and say("sweep.fastest", words=say("sweep.fastest_alone", **best)) in slow
    close = swept(("a", 1, 1.34, 0.86, 1.99), ("b", 4, 1.33, 0.91, 1.86))
    ((name, said, why),) = marked(close)
    assert (name, said) == ("a", UNSURE) and why in close.partition('<div class="sv-compare-scroll')[0]
    assert why == near(say("sweep.alone"), say("sweep.choice", strategy="b", k=4))
    sure = swept(("a", 1, 1.1, 1.05, 1.2), ("a", 4, 1.5, 1.3, 1.7))
    best = {"strategy": "a", "k": 4, "gain": "1.50× [1.30 … 1.70]"}
    assert marked(sure) == [("a", FASTEST, "")] and say("sweep.fastest_choice", **best) in sure
    assert say("sweep.slower", below=0, choices="1 choice", surely=0) in swept(("a", 1, 1.5, 1.3, 1.7))


def test_a_speed_up_that_cannot_be_is_marked():
    row = dict.fromkeys([*comparison.COLUMNS, "accepted", "tested", "drafted"]) | {"tokens": 12, "target_passes": 10}
    marked = comparison.cell(row | {"speed_up": 1.5, "block_efficiency": 1.2}, "speed_up")
    assert "1.50×" in marked and "⚠" in marked and say("findings.doubt_beyond", tau="1.20") in marked
    assert comparison.cell(row | {"speed_up": 1.15, "block_efficiency": 1.2}, "speed_up") == "1.15×"


def test_what_cannot_be_is_not_surely_the_fastest():
    rows = [
        dict.fromkeys([*comparison.COLUMNS, "accepted", "tested", "drafted", "target_passes", "tokens"])
        | {"lane": name, "speed_up": value, "speed_up_low": value, "speed_up_high": value, "block_efficiency": tau}
        for name, value, tau in ((ALONE, 1.0, 1.0), ("a", 1.4, 1.2))
    ]
    assert marked(comparison.html(pd.DataFrame(rows).convert_dtypes(), {}, ALONE, "how"))[0][:2] == (
        "a",
        UNSURE,
    )


def test_the_cost_of_verifying_is_that_of_passes_over_a_draft():
    # a look-up that found something twice in five steps
    lane = run((0, 0), (2, 1), (0, 0), (3, 3), (0, 0), verify_s=(0.010, 0.014, 0.010, 0.018, 0.010))
    alone = run(*[(0, 0)] * 9, verify_s=[0.010] * 9)
    found = table({ALONE: [alone], "look-up": [lane]}, ALONE).set_index("lane")
    assert found.loc["look-up", "verify_ratio"] == pytest.approx(1.6) and pd.isna(found.loc[ALONE, "verify_ratio"])


def test_every_heading_has_its_meaning_on_hover_and_below_the_table():
    recorded = gallery.read("explanation")
    known = pace(recorded)
    tables = {
        "compare": compared((ALONE, 1.0, None, None), ("a", 1.1, 1.0, 1.2)),
        "sweep": swept(("a", 1, 1.1, 1.0, 1.2)),
        "every K": every_k.exact({4: count(recorded.steps)}, 4, known, "notes"),
        "every K, estimated": every_k.estimate(known, [1, 2], 4, 64, "notes"),
    }
    for name, html in tables.items():
        head = re.findall(r"<th scope=\"col\"([^>]*)>([^<]+)</th>", html.partition("</thead>")[0])
        below = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", html))
        assert len(head) >= 5 and html.count("<details") == 1, name
        for title, column in head:
            assert title == f' title="{below[column]}"' and len(below[column]) > 20, (name, column)


def test_what_is_explained_is_escaped():
    assert "&lt;b&gt;" in meanings([Column("<b>", "a & b")]) and "<b>" not in meanings([Column("<b>", "a & b")])


def test_one_of_anything_is_singular():
    one = comparison.strip("greedy", run((0, 0)), ALONE)
    label = say("studies.strip", name="greedy", tokens="1 token", passes="1 pass", fates="1 bonus")
    assert f'aria-label="{label}"' in one and "<small>1 pass</small>" in one


def test_no_heading_of_the_numbers_stands_without_a_word():
    heads = re.findall(r"<th scope=\"col\">(.*?)</th>", numbers.study(run((3, 1), (2, 2), (0, 0))))
    assert len(heads) > 20 and all("<small>" in head for head in heads)
