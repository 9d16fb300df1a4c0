"""Costs measured on request without Gradio: in turns, cancellable, kept; and what is known of a run before and after."""

from dataclasses import replace

import pytest

import specviz
from specviz.core.records import BaselineRecord, Costs
from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import say
from specviz.decoding import calibration
from specviz.sessions.control_values import ControlValues
from specviz.sessions.cost_measurement import CostMeasurement
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.job import Job
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.visitors import Visitor
from specviz.ui.studies.speed import EXAMPLE, Own
from tests.conftest import tiny_pair
from tests.sessions.handlers import KEY, VALUES, load

SETTINGS = RunSettings(strategy="greedy", k=3, max_new_tokens=30, temperature=0)


@pytest.fixture
def cost_measurement():
    calibration._KEPT.clear()  # other tests of this process may have measured the same pair
    return CostMeasurement(ModelCache(load), DecodeQueue())


@pytest.fixture
def trace():
    return specviz.run(tiny_pair(*KEY[:2]), "w1 w2", SETTINGS)


def drain(steps):
    said = []
    while True:
        try:
            said.append(next(steps))
        except StopIteration as end:
            return said, end.value


def visitor(**changes):
    return Visitor(ControlValues(VALUES | changes))


def test_costs_are_measured_with_progress_and_fill_what_was_unknown(cost_measurement, trace):
    before = cost_measurement.known(trace)
    assert not before.known and before.alpha.value is not None
    said, done = drain(cost_measurement.measure(Job().claim(), visitor(), trace))
    assert done and any("%" in sentence for sentence in said)
    after = cost_measurement.known(trace)
    assert after.known and after.source == "here" and after.reach == max(calibration.POSITIONS) - 1
    # the next time nothing has to be measured
    assert not any("%" in sentence for sentence in drain(cost_measurement.measure(Job().claim(), visitor(), trace))[0])


def test_others_take_turns_between_two_passes(cost_measurement, trace, monkeypatch):
    calibration._KEPT.clear()
    order = []
    steps = cost_measurement.measure(Job().claim(), visitor(), trace)
    for said in steps:
        order.append(said)
        cost_measurement.queue.submit(lambda: order.append("another visitor")).result()
    assert order.count("another visitor") > 10


def test_stop_ends_it_within_one_pass_and_keeps_nothing(cost_measurement, trace):
    calibration._KEPT.clear()
    job = Job()
    steps = cost_measurement.measure(job.claim(), visitor(), trace)
    said = [next(steps) for _ in range(4)]
    job.stop()
    more, done = drain(steps)
    assert done is False and len(said) + len(more) < 8 and not cost_measurement.known(trace).known


def test_frozen_costs_come_before_those_of_the_moment_and_the_runs_own_before_both(cost_measurement, trace):
    frozen = replace(trace, costs={"greedy": Costs(0.25, ((1, 1.0), (5, 1.5)))})
    assert cost_measurement.known(frozen).cost_ratio == 0.25 and cost_measurement.known(frozen).source == "frozen"
    drain(cost_measurement.measure(Job().claim(), visitor(), frozen))
    assert (
        cost_measurement.known(frozen).cost_ratio == 0.25 and cost_measurement.known(frozen, here=True).source == "here"
    )
    alone = replace(frozen, baseline=BaselineRecord(trace.output_ids, (0.01,) * len(trace.output_ids)))
    assert cost_measurement.known(alone).source == "run"


OTHER = {"target": "another", "draft": "model", "device": "cuda", "dtype": "bfloat16"}


def test_a_strategy_that_only_another_version_knows_is_not_measured(cost_measurement, trace):
    steps = tuple(replace(s, settings=replace(s.settings, strategy="oracle")) for s in trace.steps)
    with pytest.raises(SpecvizError, match="no strategy “oracle”"):
        drain(cost_measurement.measure(Job().claim(), visitor(), replace(trace, steps=steps)))


@pytest.mark.parametrize(
    ("changes", "values", "sentence"),
    [
        ({"steps": ()}, {}, "Nothing was drafted"),
        ({"pair": OTHER}, {}, r"another ← model \(cuda in bfloat16\)\. Choose this pair"),
        ({"pair": {}}, {}, "an unknown pair"),
        ({}, {"target": "missing"}, "no model named missing"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(cost_measurement, trace, changes, values, sentence):
    with pytest.raises(SpecvizError, match=sentence):
        drain(cost_measurement.measure(Job().claim(), visitor(**values), replace(trace, **changes)))


def test_sliders_stand_at_the_runs_values_and_moving_them_leaves_its_curve(cost_measurement, trace):
    drain(cost_measurement.measure(Job().claim(), visitor(), trace))
    found = cost_measurement.known(trace)
    own = Own.unpacked(Own.of(found).packed())
    curve = own.curve(own.sliders)
    assert (curve.alpha, curve.c, curve.reach) == (found.alpha.value, found.cost_ratio, found.reach)
    assert curve.v(5) == pytest.approx(found.v(5)) and say("speed.whose_run") in own.told(curve)
    moved = own.curve((0.5, 0.25, 0.1))
    assert (moved.alpha, moved.c, moved.v(4), moved.reach) == (0.5, 0.25, 1.4, None)
    assert say("speed.whose_sliders") in own.told(moved)


@pytest.mark.parametrize("text", ["", "null", "{", "[]", "3", '{"sliders": 1}', '{"exact": [1], "sliders": [0, 0, 0]}'])
def test_what_the_page_carries_is_no_runs_values_where_it_is_not_of_that_shape(text):
    own = Own.unpacked(text)
    assert own.sliders == EXAMPLE and say("speed.example") in own.warning(own.curve(own.sliders))
