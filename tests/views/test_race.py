"""A race as plain data: when each token came, who takes part, what is said of the texts; and what the browser makes of it."""

from dataclasses import replace

import pytest

from specviz.core.records import BaselineRecord, Difference
from specviz.core.settings import RunSettings
from specviz.core.words import say
from specviz.decoding import baseline
from specviz.experiments.compare import Comparison, lanes_of
from specviz.experiments.compared import ALONE
from specviz.views.race import race
from tests.conftest import tiny_pair
from tests.views import js

GREEDY = RunSettings(temperature=0, k=3, max_new_tokens=20)


def traces_of(settings=GREEDY, rivals=("greedy",), steps=None):
    both = Comparison(tiny_pair("ctx_t", "ctx_d"), [1, 2, 3], lanes_of(settings, list(rivals)))
    for number, _ in enumerate(both.steps(), start=1):
        if number == steps:
            break
    both.hold_against_alone()
    return both.traces()


def made(traces):
    return race(traces, ALONE, {n: baseline.verdict(t.baseline) for n, t in traces.items() if t.baseline})


def test_the_clock_of_a_lane_is_the_sum_of_its_steps_and_its_tokens_are_those_of_the_output():
    traces = traces_of()
    found = made(traces)
    assert [lane["name"] for lane in found["lanes"]] == [ALONE, "greedy"]
    for lane in found["lanes"]:
        trace = traces[lane["name"]]
        whole = sum(step.step_s for step in trace.steps)
        assert lane["at"] == sorted(lane["at"]) and lane["at"][-1] == pytest.approx(1000 * whole, abs=0.01)
        assert [len(step) for step in lane["tok"]] == [len(step.emitted_ids) for step in trace.steps]
        assert [token[0] for step in lane["tok"] for token in step] == [f"w{i}" for i in trace.output_ids]
        assert lane["stop"] == "length"
    letters = {lane["name"]: {t[1] for step in lane["tok"] for t in step} for lane in found["lanes"]}
    # "t" in the last step of greedy, too: no room was left to draft
    assert letters == {ALONE: {"t"}, "greedy": {"a", "s", "b", "t"}}


def timed(trace, seconds):
    """The same run with as many seconds a step."""
    return replace(trace, steps=tuple(replace(s, draft_s=0, verify_s=seconds, other_s=0) for s in trace.steps))


@pytest.mark.parametrize("fastest", [("greedy", "prompt lookup"), ("sampling", "beam search")])
def test_the_target_alone_and_the_two_fastest_lanes_race_until_more_are_chosen(fastest):
    traces = traces_of(rivals=("greedy", "sampling", "beam search", "prompt lookup"))
    traces = {name: timed(trace, 0.01 if name in fastest else 1) for name, trace in traces.items()}
    found = made(dict(reversed(traces.items())))  # whatever the order, the target alone stands first
    assert {lane["name"] for lane in found["lanes"] if lane["in"]} == {ALONE, *fastest}
    assert found["lanes"][0]["name"] == ALONE and len(found["lanes"]) == 5


def test_identical_texts_get_a_tick_and_a_difference_its_position_logits_and_margin():
    traces = traces_of()
    held = made(traces)["lanes"][1]["held"]
    assert held == {"same": True, "position": None, "says": "The target alone writes the same 20 tokens."}
    record = BaselineRecord((1,), (0.1,), False, 9, Difference(4, 1, "w1", 2, "w2", 3.5, 3.75), tie_bound=0.5)
    traces["greedy"] = replace(traces["greedy"], baseline=record)
    held = made(traces)["lanes"][1]["held"]
    assert held["position"] == 4 and not held["same"]
    assert "logits are 3.500 and 3.750. The margin 0.250 is below 0.5: a near-tie." in held["says"]
    # a margin above the bound is never called one
    record = replace(record, tie_bound=0.1)
    traces["greedy"] = replace(traces["greedy"], baseline=record)
    assert "a fault, not a near-tie" in made(traces)["lanes"][1]["held"]["says"]


@pytest.mark.parametrize(
    ("dtype", "temperature", "key"),
    [("float32", 0, "promised"), ("bfloat16", 0, "near_ties"), ("float32", 1, "not_compared")],
)
def test_what_is_promised_of_the_texts_is_said(dtype, temperature, key):
    traces = traces_of(replace(GREEDY, temperature=temperature))
    traces = {n: replace(t, pair={**t.pair, "dtype": dtype}) for n, t in traces.items()}
    found = made(traces)
    bounds = {trace.baseline.tie_bound for trace in traces.values() if trace.baseline}
    assert found["note"] in {say(f"race.{key}", dtype=dtype, bound=f"{bound:g}") for bound in bounds}
    assert ("held" in found["lanes"][1]) == (temperature == 0)


def test_with_less_than_two_lanes_begun_there_is_no_race():
    assert made({}) == {"lanes": []}
    assert made(traces_of(steps=1)) == {"lanes": []}  # prompts are read, nothing is made
    stopped = made(traces_of(steps=8))
    assert [lane["stop"] for lane in stopped["lanes"]] == [None, None]


def test_the_browser_knows_what_has_come_at_a_moment():
    lane = {"at": [80, 170, 300], "tok": [[["a", "a"], ["b", "s"]], [["c", "b"]], [["d", "s"]]], "stop": "eos"}
    told = "[0, 79, 80, 200, 300, 999].map((ms) => standing(measured(GIVEN), ms))"
    found = js.run(["dom.js", "lanes.js"], told, lane)
    assert [(n["steps"], n["tokens"], n["ms"], n["done"]) for n in found] == [
        (0, 0, 0, False),
        (0, 0, 79, False),
        (1, 2, 80, False),
        (2, 3, 200, False),
        (3, 4, 300, True),
        (3, 4, 300, True),
    ]
    # no step has ended: no rate, rather than 0 or infinity
    assert (
        found[0]["rate"] is None
        and found[2]["rate"] == pytest.approx(25)
        and found[5]["rate"] == pytest.approx(4000 / 300)
    )
