"""Costs measured on request without Gradio: in turns, cancellable, kept; and what is known of a run before and after."""

from dataclasses import replace

import pytest

import specviz
from specviz.core.records import BaselineRecord, Costs
from specviz.core.settings import RunSettings, SpecvizError
from specviz.decoding import calibration
from specviz.sessions.measuring import Measuring
from specviz.sessions.shelf import Shelf
from specviz.sessions.turns import Turns
from specviz.sessions.visitors import Visitor
from specviz.ui.studies.speed import EXAMPLE, Own
from tests.conftest import tiny_pair
from tests.sessions.handlers import KEY, VALUES, load

SETTINGS = RunSettings(strategy="greedy", k=3, max_new_tokens=30, temperature=0)


@pytest.fixture
def measuring():
    calibration._KEPT.clear()  # other tests of this process may have measured the same pair
    return Measuring(Shelf(load), Turns())


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
    return Visitor(values=VALUES | changes)


def test_costs_are_measured_with_progress_and_fill_what_was_unknown(measuring, trace):
    before = measuring.known(trace)
    assert not before.known and before.alpha.value is not None
    said, done = drain(measuring.measure(visitor(), trace, lambda: True))
    assert done and any("%" in sentence for sentence in said)
    after = measuring.known(trace)
    assert after.known and "on this machine" in after.source and after.reach == max(calibration.PLACES) - 1
    # the next time nothing has to be measured
    assert not any("%" in sentence for sentence in drain(measuring.measure(visitor(), trace, lambda: True))[0])


def test_others_take_turns_between_two_passes(measuring, trace, monkeypatch):
    calibration._KEPT.clear()
    order = []
    steps = measuring.measure(visitor(), trace, lambda: True)
    for said in steps:
        order.append(said)
        measuring.turns.submit(lambda: order.append("another visitor")).result()
    assert order.count("another visitor") > 10


def test_stop_ends_it_within_one_pass_and_keeps_nothing(measuring, trace):
    calibration._KEPT.clear()
    left = iter([True] * 4)
    said, done = drain(measuring.measure(visitor(), trace, lambda: next(left, False)))
    assert done is False and len(said) < 8 and not measuring.known(trace).known


def test_frozen_costs_come_before_those_of_the_moment_and_the_runs_own_before_both(measuring, trace):
    frozen = replace(trace, costs={"greedy": Costs(0.25, ((1, 1.0), (5, 1.5)))})
    assert measuring.known(frozen).cost_ratio == 0.25 and "kept with it" in measuring.known(frozen).source
    drain(measuring.measure(visitor(), frozen, lambda: True))
    assert measuring.known(frozen).cost_ratio == 0.25 and "on this machine" in measuring.known(frozen, here=True).source
    alone = replace(frozen, baseline=BaselineRecord(trace.output_ids, (0.01,) * len(trace.output_ids)))
    assert "against the target alone" in measuring.known(alone).source


OTHER = {"target": "another", "draft": "model", "device": "cuda", "dtype": "bfloat16"}


def test_a_strategy_that_only_another_version_knows_is_not_measured(measuring, trace):
    steps = tuple(replace(s, settings=replace(s.settings, strategy="oracle")) for s in trace.steps)
    with pytest.raises(SpecvizError, match="no strategy"):
        drain(measuring.measure(visitor(), replace(trace, steps=steps), lambda: True))


@pytest.mark.parametrize(
    ("changes", "values", "sentence"),
    [
        ({"steps": ()}, {}, "Nothing was drafted"),
        ({"pair": OTHER}, {}, r"another ← model \(cuda in bfloat16\); choose that pair"),
        ({"pair": {}}, {}, "an unknown pair"),
        ({}, {"target": "missing"}, "no model named missing"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(measuring, trace, changes, values, sentence):
    with pytest.raises(SpecvizError, match=sentence):
        drain(measuring.measure(visitor(**values), replace(trace, **changes), lambda: True))


def test_sliders_stand_at_the_runs_values_and_moving_them_leaves_its_curve(measuring, trace):
    drain(measuring.measure(visitor(), trace, lambda: True))
    found = measuring.known(trace)
    own = Own.unpacked(Own.of(found).packed())
    curve = own.curve(own.sliders)
    assert (curve.alpha, curve.c, curve.reach) == (found.alpha.value, found.cost_ratio, found.reach)
    assert curve.v(5) == pytest.approx(found.v(5)) and "own values. α" in own.told(curve)
    moved = own.curve((0.5, 0.25, 0.1))
    assert (moved.alpha, moved.c, moved.v(4), moved.reach) == (0.5, 0.25, 1.4, None)
    assert "Values of the sliders" in own.told(moved)


@pytest.mark.parametrize("text", ["", "null", "{", "[]", "3", '{"sliders": 1}', '{"exact": [1], "sliders": [0, 0, 0]}'])
def test_what_the_page_carries_is_no_runs_values_where_it_is_not_of_that_shape(text):
    own = Own.unpacked(text)
    assert own.sliders == EXAMPLE and "An example" in own.warning(own.curve(own.sliders))
