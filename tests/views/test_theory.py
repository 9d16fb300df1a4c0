"""The curve against the paper's table, the words of the gap, and all the ways in which something is not measured."""

import json
import re

import pytest

from specviz.core.words import say
from specviz.metrics.diagnosis import TESTED, diagnose, headline
from specviz.metrics.pace import Point, pace
from specviz.metrics.theory import free, speed_up
from specviz.recordings import gallery
from specviz.views import theory
from specviz.views.amounts import apart, rate
from specviz.views.findings import findings, headlined
from specviz.views.palette import ROLES
from specviz.views.theory import Curve
from tests.made_runs import case, ran, run_of, trace_of, words
from tests.published import TABLE_1


def drawn(curve):
    told = json.loads(theory.picture(curve))
    return {trace["meta"]["line"]: trace for trace in told["figure"]["data"]}, told


@pytest.mark.parametrize(("alpha", "k", "_", "gain"), TABLE_1)
def test_the_curve_goes_through_the_papers_table(alpha, k, _, gain):
    traces, _ = drawn(Curve(alpha, 0.0, free))
    line = traces["expected"]
    assert dict(zip(line["x"], line["y"], strict=True))[k] == pytest.approx(gain, abs=0.005)
    assert traces["alone"]["y"] == [1, 1]


def test_textbook_and_measured_line_part_and_the_best_k_is_marked():
    v = lambda k: 1 + 0.2 * k  # noqa: E731
    traces, told = drawn(Curve(0.7, 0.1, v, reach=4, points=[Point(4, 1.2, 40, 90)]))
    textbook, real = traces["textbook"], traces["expected"]
    assert textbook["line"]["width"] < real["line"]["width"]
    assert real["x"] == [0, 1, 2, 3, 4] and traces["extrapolated"]["x"][0] == 4
    assert real["y"][4] == pytest.approx(speed_up(0.7, 4, 0.1, v)) and real["y"][4] < textbook["y"][4]
    assert traces["points"]["x"] == [4] and traces["points"]["y"] == [1.2]
    assert traces["best"]["x"] == [told["best"]] and f"K = {told['best']}" in traces["best"]["text"][0]
    assert all(trace["meta"]["role"] in ROLES for trace in traces.values())
    assert say("speed.point", k=4, gain="1.20") in told["says"]


def test_no_k_helps_and_a_best_k_beyond_16():
    curve = Curve(0.1, 0.5, free)
    traces, told = drawn(curve)
    assert told["best"] == 0 and "best" not in traces and curve.verdict().code == "below_break_even"
    traces, told = drawn(Curve(0.9, 0.01, free))
    assert told["best"] == 24 and traces["expected"]["x"][-1] == 32


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("c", [0.0, 2.0])
def test_the_ends_of_the_sliders_are_drawn(alpha, c):
    _, told = drawn(Curve(alpha, c, lambda k: 1 + k))
    assert not re.search("NaN|Infinity", json.dumps(told))
    assert theory.told(Curve(alpha, c, lambda k: 1 + k), "Made up.")


def test_the_curve_of_a_look_up_that_seldom_finds_stays_low_and_says_why():
    curve = Curve(0.9, 0.0, free, reach=8, short=((0, 0.9),))
    traces, _ = drawn(curve)
    assert max(traces["expected"]["y"]) < 1.7 < traces["textbook"]["y"][4]
    assert say("speed.values_short", share="90%") in words(theory.told(curve, ""))


def test_a_v_that_came_out_too_low_is_told():
    said = words(theory.explained(case(noisy=((4, 0.93),))))
    assert say("speed.v_noisy", ratio="0.93", v="1.00") in said


def test_the_gap_is_explained_factor_by_factor():
    found = pace(gallery.read("explanation"))
    said = words(theory.explained(found))
    numbers = [float(n) for n in re.findall(r"× (\d\.\d\d)", said)]
    figures = [float(n) for n in re.findall(r"(\d\.\d\d)×", said)]
    assert len(numbers) == 4 and figures[-1] == figures[1]
    assert figures[1] == round(found.main().speed_up, 2)
    product = figures[0] * numbers[0] * numbers[1] * numbers[2] * numbers[3]
    assert product == pytest.approx(figures[1], abs=0.03)
    assert rate(found.alpha) in said and say("speed.source_run", single=say("speed.single_target_alone", n=1)) in said


def test_findings_are_a_list_that_begins_with_what_was_measured():
    found = case(alpha=0.3, c=0.5, k=8, slope=0.2)
    said = words(findings(found)).strip()
    assert said.startswith(headlined(headline(found)))
    titles = [said.index(say(f"findings.{finding.cause}_title")) for finding in diagnose(found)]
    assert len(titles) >= 3 and titles == sorted(titles)


def test_the_finding_and_the_table_of_causes_tell_the_same_of_verification():
    found = case(alpha=0.6, c=0.05, k=8, slope=0.1, short=((0, 0.2), (3, 0.1)))
    (costly,) = [finding for finding in diagnose(found) if finding.cause == "costly_verification"]
    rows = re.findall(r"<td>(\d\.\d\d)×</td></tr>", theory.explained(found))
    assert rows[1:3] == [f"{costly.numbers[name]:.2f}" for name in ("textbook", "real")]


def test_what_was_changed_on_the_way_and_a_machine_that_was_not_equally_quick_are_told():
    said = words(theory.explained(case(mixed=("k", "temperature"), alone_s=0.033)))
    assert say("speed.mixed", settings="K, temperature") in said
    assert say("speed.drift", time="33.0 ms") in said
    assert say("speed.drift", time="51.0 ms") not in words(theory.explained(case(alone_s=0.051)))


@pytest.mark.parametrize(
    ("trace", "keys"),
    [
        (trace_of([]), ["findings.target_alone", "findings.draft_first"]),
        (ran("none", 0), ["findings.target_alone", "findings.draft_first"]),
        (ran("greedy", 4, 1), ["findings.target_alone"]),
        (trace_of(run_of([(3, 1)])), ["findings.few_tested", "findings.no_costs"]),
        (ran("prompt lookup", 3), ["findings.not_measured"]),
        (ran("beam search", 2, temperature=0, options={"width": 3}), ["speed.alpha_tree"]),
        (
            trace_of(run_of([(3, 1), (0, 0), (0, 0), (0, 0)] * 5)),
            ["speed.single_own_steps", "speed.gap_not_measured"],
        ),
    ],
    ids=["empty", "alone", "one token", "one step", "lookup", "tree", "no baseline"],
)
def test_gaps_and_words_where_something_is_not_measured(trace, keys):
    found = pace(trace)
    said = words(findings(found) + theory.explained(found))
    # 2 tested tokens, 15 steps without a draft: the fields of the sentences that have some
    fields = {"findings.few_tested": {"n": 2, "least": TESTED}, "speed.single_own_steps": {"n": 15}}
    assert all(say(key, **fields.get(key, {})) in said for key in keys), said
    assert not re.search(r"\bnan\b|\binf\b|None|\b0%", said)


def test_a_break_even_that_is_not_zero_does_not_look_like_it():
    assert (apart(0.3), apart(0.004), apart(0.0912, 0.09), apart(0.00001)) == ("0.30", "0.004", "0.091", "1e-05")
