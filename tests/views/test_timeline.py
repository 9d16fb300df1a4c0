"""One clock: every bar where its time is, both lanes from the same token on, words where something is missing."""

import re
from dataclasses import replace

import pytest

from specviz.core.records import BaselineRecord
from specviz.recordings import gallery
from specviz.views import timeline
from tests.metrics.test_rates import run_of
from tests.views.test_numbers import ran, trace_of, words


def bars(html, kind):
    found = re.findall(rf'sv-time-{kind}" style="left:([\d.]+)px;width:([\d.]+)px" title="([^"]*)"', html)
    return [(float(left), float(width), title) for left, width, title in found]


def with_alone(trace, *times):
    return replace(trace, baseline=BaselineRecord(tuple(range(len(times))), times))


def test_bars_stand_where_their_times_are_and_say_step_tokens_and_ms():
    html = timeline.study(with_alone(trace_of(run_of([(3, 3), (3, 0)])), *[0.02] * 9))
    px = timeline.STEP_PX / 0.05
    draft, verify, alone = (bars(html, kind) for kind in ("draft", "verify", "alone"))
    assert [left for left, _, _ in draft] == pytest.approx([0, 0.05 * px], abs=0.1)
    assert [left for left, _, _ in verify] == pytest.approx([0.01 * px, 0.06 * px], abs=0.1)
    assert verify[0][2] == "step 1: verifying over 4 places, 4 tokens written, 40.0 ms"
    assert draft[1][2] == "step 2: drafting 3 tokens, 10.0 ms"
    # 100 ms hold five passes of the target alone
    assert len(alone) == 5 and alone[4][0] == pytest.approx(0.08 * px, abs=0.1) and "token 5, 20.0 ms" in alone[4][2]
    assert "took 100 ms and wrote 5 tokens; the target alone made 5 tokens in that time" in words(html)


def test_a_window_further_on_begins_both_lanes_at_the_same_token():
    trace = with_alone(trace_of(run_of([(3, 1)] * 200)), *[0.025] * 400)
    html = timeline.study(trace, 101)
    assert bars(html, "draft")[0][2].startswith("step 101:") and len(bars(html, "draft")) == timeline.WINDOW
    assert bars(html, "alone")[0][2].startswith("target alone: token 201,")
    assert "Steps 101 to 160 of 200" in words(html)
    assert "Step 200 of 200" in words(timeline.study(trace, 10_000)) and "Steps 1 to 60" in words(
        timeline.study(trace, -3)
    )


@pytest.mark.parametrize(
    ("trace", "sentence"),
    [
        (trace_of([]), timeline.EMPTY),
        (trace_of(run_of([(0, 0)])), "Step 1 of 1 took 50.0 ms and wrote 1 token. Press Measure target alone"),
        (trace_of([replace(s, draft_s=0.0, verify_s=0.0) for s in run_of([(2, 1)])]), "carry no times"),
        (
            with_alone(trace_of(run_of([(3, 3), (3, 3)])), 0.02),
            "the target alone made 1 token in that time, all that was measured",
        ),
        (ran("prompt lookup", 3), "Press Measure target alone"),
        (ran("beam search", 2, options={"width": 3}), "Press Measure target alone"),
    ],
    ids=["empty", "one step", "no times", "short baseline", "lookup", "tree"],
)
def test_gaps_and_words(trace, sentence):
    assert sentence in words(timeline.study(trace))


def test_what_the_baseline_does_not_reach_is_said():
    trace = with_alone(trace_of(run_of([(3, 3)] * 70)), *[0.02] * 9)
    assert "measured on the first 9 tokens only" in words(timeline.study(trace, 65))


def test_each_phase_has_a_letter_and_a_place_in_the_legend():
    html = timeline.study(gallery.read("explanation"))
    legend = html[html.index("sv-time-legend") :]
    assert all(f"sv-time-{kind}" in legend for kind, _, _ in timeline.LEGEND)
    assert ">V+" in html and ">D<" in html and ">A<" in html
