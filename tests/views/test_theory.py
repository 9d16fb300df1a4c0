"""The curve against the paper's table, the words of the gap, and all the ways in which something is not measured."""

import json
import re

import pytest

from specviz.metrics.pace import Point, pace
from specviz.metrics.theory import free, speed_up
from specviz.recordings import gallery
from specviz.views import theory
from specviz.views.palette import ROLES
from specviz.views.theory import Curve
from tests.metrics.test_diagnosis import case
from tests.metrics.test_rates import run_of
from tests.metrics.test_theory import TABLE_1
from tests.views.test_numbers import ran, trace_of, words


def drawn(curve):
    told = json.loads(theory.picture(curve))
    return {trace["name"]: trace for trace in told["figure"]["data"]}, told


@pytest.mark.parametrize(("alpha", "k", "_", "gain"), TABLE_1)
def test_the_curve_goes_through_the_papers_table(alpha, k, _, gain):
    traces, _ = drawn(Curve(alpha, 0.0, free))
    line = traces["with v(K)"]
    assert dict(zip(line["x"], line["y"], strict=True))[k] == pytest.approx(gain, abs=0.005)
    assert traces["target alone: 1"]["y"] == [1, 1]


def test_textbook_and_measured_line_part_and_the_best_k_is_marked():
    v = lambda k: 1 + 0.2 * k  # noqa: E731
    traces, told = drawn(Curve(0.7, 0.1, v, reach=4, points=[Point(4, 1.2, 40, 90)]))
    textbook, real = traces["textbook: verification free, v = 1"], traces["with measured v(K)"]
    assert textbook["line"]["width"] < real["line"]["width"]
    assert real["x"] == [0, 1, 2, 3, 4] and traces["v(K) drawn on beyond"]["x"][0] == 4
    assert real["y"][4] == pytest.approx(speed_up(0.7, 4, 0.1, v)) and real["y"][4] < textbook["y"][4]
    assert traces["measured"]["x"] == [4] and traces["measured"]["y"] == [1.2]
    assert traces["best K"]["x"] == [told["best"]] and f"K = {told['best']}" in traces["best K"]["text"][0]
    assert all(trace["meta"]["role"] in ROLES for trace in traces.values())
    assert "Measured at K = 4: 1.20×." in told["says"]


def test_no_k_helps_and_a_best_k_beyond_16():
    traces, told = drawn(Curve(0.1, 0.5, free))
    assert told["best"] == 0 and "best K" not in traces and "No K can help" in told["says"]
    traces, told = drawn(Curve(0.9, 0.01, free))
    assert told["best"] == 24 and traces["with v(K)"]["x"][-1] == 32


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("c", [0.0, 2.0])
def test_the_ends_of_the_sliders_are_drawn(alpha, c):
    _, told = drawn(Curve(alpha, c, lambda k: 1 + k))
    assert not re.search("NaN|Infinity", json.dumps(told))
    assert theory.told(Curve(alpha, c, lambda k: 1 + k), "Made up.")


def test_the_curve_of_a_look_up_that_seldom_finds_stays_low_and_says_why():
    curve = Curve(0.9, 0.0, free, reach=8, short=((0, 0.9),))
    traces, _ = drawn(curve)
    assert max(traces["with measured v(K)"]["y"]) < 1.7 < traces["textbook: verification free, v = 1"]["y"][4]
    assert "90% of the steps ended their draft early" in words(theory.told(curve, ""))


def test_a_v_that_came_out_too_low_is_told():
    said = words(theory.explained(case(noisy=((4, 0.93),))))
    assert "Measured 0.93, taken as 1.00" in said


def test_the_gap_is_told_factor_by_factor():
    found = pace(gallery.read("explanation"))
    said = words(theory.explained(found))
    numbers = [float(n) for n in re.findall(r"× (\d\.\d\d)", said)]
    figures = [float(n) for n in re.findall(r"(\d\.\d\d)×", said)]
    assert len(numbers) == 4 and figures[-1] == figures[1]
    assert figures[1] == round(found.main().speed_up, 2)
    product = figures[0] * numbers[0] * numbers[1] * numbers[2] * numbers[3]
    assert product == pytest.approx(figures[1], abs=0.03)
    assert str(found.alpha) in said and "the run's own steps against the target alone" in said


def test_findings_are_a_list_that_begins_with_what_was_measured():
    said = words(theory.findings(case(alpha=0.3, c=0.5, k=8, slope=0.2)))
    assert said.strip().startswith("Slower than the target alone") and "Draft too slow" in said
    assert "of the speed, against drafting at no cost" in said


def test_the_finding_and_the_table_of_causes_tell_the_same_of_verification():
    found = case(alpha=0.6, c=0.05, k=8, slope=0.1, short=((0, 0.2), (3, 0.1)))
    turns = re.search(r"That turns (\d\.\d\d)× into (\d\.\d\d)×", words(theory.findings(found))).groups()
    rows = words(theory.explained(found)).split("short drafts")[1].split("verification")
    assert [re.search(r"(\d\.\d\d)×", row).group(1) for row in rows[:2]] == list(turns)


def test_what_was_changed_on_the_way_and_a_machine_that_was_not_equally_quick_are_told():
    said = words(theory.explained(case(mixed=("K", "temperature"), alone_s=0.033)))
    assert "Changed in the middle of the run: K, temperature; α, c and v are of all its steps together" in said
    assert "the target alone took 33.0 ms when it was timed" in said
    assert "equally quick" not in words(theory.explained(case(alone_s=0.051)))


@pytest.mark.parametrize(
    ("trace", "sentences"),
    [
        (trace_of([]), ["Nothing was drafted", "with a strategy that drafts, K above 0"]),
        (ran("none", 0), ["Nothing was drafted", "with a strategy that drafts, K above 0"]),
        (ran("greedy", 4, 1), ["Nothing was drafted"]),
        (trace_of(run_of([(3, 1)])), ["Only 2 drafted tokens were tested", "press Measure target alone"]),
        (ran("prompt lookup", 3), ["press Measure target alone"]),
        (ran("beam search", 2, temperature=0, options={"width": 3}), ["by place of the tree"]),
        (
            trace_of(run_of([(3, 1), (0, 0), (0, 0), (0, 0)] * 5)),
            ["its 15 steps without a draft", "speed-up is not measured"],
        ),
    ],
    ids=["empty", "alone", "one token", "one step", "lookup", "tree", "no baseline"],
)
def test_gaps_and_words_where_something_is_not_measured(trace, sentences):
    found = pace(trace)
    said = words(theory.findings(found) + theory.explained(found))
    assert all(sentence in said for sentence in sentences), said
    assert not re.search(r"\bnan\b|\binf\b|None|\b0%", said)
