"""One clock: every bar where its time is, both lanes from the same token on, words where something is missing."""

import re
from dataclasses import replace

import pytest

from specviz.core.records import BaselineRecord
from specviz.core.words import say
from specviz.recordings import gallery
from specviz.views import timeline
from tests.made_runs import ran, run_of, trace_of, words


def bars(html, kind):
    found = re.findall(rf'sv-time-{kind}" style="left:([\d.]+)px;width:([\d.]+)px" title="([^"]*)"', html)
    return [(float(left), float(width), title) for left, width, title in found]


def told(name, **fields):
    return say(f"timeline.{name}", **fields)


def with_alone(trace, *times):
    return replace(trace, baseline=BaselineRecord(tuple(range(len(times))), times))


def test_bars_stand_where_their_times_are_and_say_step_tokens_and_ms():
    html = timeline.study(with_alone(trace_of(run_of([(3, 3), (3, 0)])), *[0.02] * 9))
    px = timeline.STEP_PX / 0.05
    draft, verify, alone = (bars(html, kind) for kind in ("draft", "verify", "alone"))
    assert [left for left, _, _ in draft] == pytest.approx([0, 0.05 * px], abs=0.1)
    assert [left for left, _, _ in verify] == pytest.approx([0.01 * px, 0.06 * px], abs=0.1)
    assert verify[0][2] == told("bar_verify", step=1, positions="4 positions", tokens="4 tokens", time="40.0 ms")
    assert draft[1][2] == told("bar_draft", step=2, drafted="3 tokens", time="10.0 ms")
    # 100 ms hold five passes of the target alone
    assert (
        len(alone) == 5
        and alone[4][0] == pytest.approx(0.08 * px, abs=0.1)
        and alone[4][2] == told("bar_alone", token=5, time="20.0 ms")
    )
    assert told("steps", n=2, first=1, last=2, whole=2, time="100 ms", tokens="5 tokens") in words(html)
    assert told("alone_made", tokens="5 tokens") in words(html)


def test_a_window_further_on_begins_both_lanes_at_the_same_token():
    trace = with_alone(trace_of(run_of([(3, 1)] * 200)), *[0.025] * 400)
    html = timeline.study(trace, 101)
    assert (
        bars(html, "draft")[0][2] == told("bar_draft", step=101, drafted="3 tokens", time="10.0 ms")
        and len(bars(html, "draft")) == timeline.WINDOW
    )
    assert bars(html, "alone")[0][2] == told("bar_alone", token=201, time="25.0 ms")
    for first, last, shown in ((101, 160, 101), (200, 200, 10_000), (1, 60, -3)):
        label = told("label", first=first, last=last)
        assert f'aria-label="{label}"' in timeline.study(trace, shown)


@pytest.mark.parametrize(
    ("trace", "key", "fields"),
    [
        (trace_of([]), "studies.no_step", {}),
        (
            trace_of(run_of([(0, 0)])),
            "timeline.steps",
            {"n": 1, "first": 1, "whole": 1, "time": "50.0 ms", "tokens": "1 token"},
        ),
        (trace_of([replace(s, draft_s=0.0, verify_s=0.0) for s in run_of([(2, 1)])]), "timeline.no_times", {}),
        (
            with_alone(trace_of(run_of([(3, 3), (3, 3)])), 0.02),
            "timeline.alone_ended",
            {"tokens": "1 token", "alone": "20.0 ms"},
        ),
        (ran("prompt lookup", 3), "timeline.alone_missing", {}),
        (ran("beam search", 2, options={"width": 3}), "timeline.alone_missing", {}),
    ],
    ids=["empty", "one step", "no times", "short baseline", "lookup", "tree"],
)
def test_gaps_and_words(trace, key, fields):
    assert say(key, **fields) in words(timeline.study(trace))


def test_what_the_baseline_does_not_reach_is_said():
    trace = with_alone(trace_of(run_of([(3, 3)] * 70)), *[0.02] * 9)
    assert told("alone_short", tokens="first 9 tokens") in words(timeline.study(trace, 65))


def test_each_phase_has_a_letter_and_a_place_in_the_legend():
    html = timeline.study(gallery.read("explanation"))
    legend = html[html.index("sv-time-legend") :]
    assert all(f"sv-time-{kind}" in legend for kind in timeline.KINDS)
    assert ">V+" in html and ">D<" in html and ">A<" in html
