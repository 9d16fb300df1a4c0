"""α, c, v and speed-ups read off a run whose times are made up, so that every figure can be worked out by hand."""

from dataclasses import replace

import pytest

from specviz.core.records import BaselineRecord, Costs
from specviz.core.settings import RunSettings
from specviz.metrics.pace import Point, pace, with_costs
from specviz.metrics.trust import Doubt
from specviz.recordings import gallery
from specviz.traces.trace import Trace
from tests.made_runs import run_of


def trace_of(steps, alone_s=0.025, tokens=10):
    alone = BaselineRecord(tuple(range(tokens)), (alone_s,) * tokens) if alone_s else None
    return Trace("p", (1,), tuple(steps), "", None, {}, baseline=alone)


def test_costs_are_those_of_the_runs_own_steps_against_the_target_alone():
    # 10 ms for 3 tokens, 40 ms for a pass over 4 positions, 25 ms for one over 1
    found = pace(trace_of(run_of([(3, 3), (3, 1), (3, 0)])))
    assert found.cost_ratio == pytest.approx(10 / 3 / 25)
    assert found.verify_cost == ((1, 1.0), (4, pytest.approx(1.6))) and found.v(3) == pytest.approx(1.6)
    assert (found.alpha.part, found.alpha.whole) == (4, 6) and found.by_position == (2 / 3, 1 / 2, 1.0)
    assert (found.k, found.reach, found.steps, found.idle) == (3, 3, 3, 0) and found.known
    assert (found.source, found.single_of) == ("run", "target_alone")
    # 7 tokens in 150 ms against 40 a second
    assert found.points == (Point(3.0, pytest.approx(7 / 0.15 / 40), 3, 7),)
    assert found.explained().measured == found.main().speed_up


def test_a_step_without_room_for_a_draft_is_no_drafter_that_found_nothing():
    steps = run_of([(3, 3), (3, 1), (3, 0), (0, 0)])
    asked = replace(steps[-1], settings=steps[0].settings, asked=None)
    cut = pace(trace_of([*steps[:3], replace(asked, draft_stop="room")]))
    found_nothing = pace(trace_of([*steps[:3], replace(asked, draft_stop="no match")]))
    assert (cut.idle, cut.steps, found_nothing.idle, found_nothing.steps) == (0, 3, 1, 4)
    assert cut.short == found_nothing.short == ((0, 0.25),)


def test_only_drafts_that_were_stopped_by_something_are_short():
    steps = [replace(s, settings=replace(s.settings, k=5)) for s in run_of([(2, 2), (2, 0), (3, 1), (5, 3)])]
    why = ["end of match", "confidence", "end token", "k"]
    steps = [replace(s, draft_stop=w) for s, w in zip(steps, why, strict=True)]
    assert pace(trace_of(steps)).short == ((2, 0.25), (3, 0.25))


def test_a_look_up_that_seldom_finds_is_explained_by_that():
    """Nine of ten steps find nothing: whatever the finds are worth, the speed-up to expect stays near 1."""
    idle = [replace(s, settings=replace(s.settings, k=3), draft_stop="no match") for s in run_of([(0, 0)] * 9)]
    found = pace(trace_of([*run_of([(3, 3)]), *idle]))
    parts = found.explained()
    assert parts.textbook > 2 and parts.textbook * parts.verification * parts.missing < 13 / 10
    assert parts.missing < 0.6


def test_a_policy_that_said_zero_counts_for_its_speed_up():
    steps = [replace(s, settings=replace(s.settings, draft_length="cost-aware")) for s in run_of([(2, 2)] * 3)]
    zero = replace(steps[0], tokens=(), emitted_ids=(1,), asked=0, draft_stop="none")
    (point,) = pace(trace_of([*steps, zero])).points
    assert (point.steps, point.tokens, point.adaptive, point.k) == (4, 10, True, 1.5)
    assert pace(trace_of([*steps, zero])).idle == 0


def test_without_the_target_alone_the_steps_without_a_draft_stand_in_and_no_speed_up_is_claimed():
    found = pace(trace_of(run_of([(3, 3), (0, 0), (0, 0), (0, 0), (3, 1), (3, 0)]), None))
    assert (found.single_of, found.single_n) == ("own_steps", 3) and found.cost_ratio == pytest.approx(10 / 3 / 40)
    assert found.points == () and found.main() is None and found.explained() is None
    few = pace(trace_of(run_of([(3, 3), (0, 0), (3, 1)]), None))
    assert few.cost_ratio is None and few.v is None and few.source == "" and not few.known


@pytest.mark.parametrize("steps", [[], run_of([(0, 0)] * 4)])
def test_nothing_drafted_is_known_as_nothing(steps):
    found = pace(trace_of(steps))
    assert found.strategy == "" and found.alpha.value is None and found.cost_ratio is None and found.v is None
    assert found.points == () and (found.k, found.steps) == (0, 0)


def test_each_k_has_its_own_speed_up_and_a_policy_one_for_all():
    steps = run_of([(2, 2)] * 3) + [replace(s, settings=replace(s.settings, k=6)) for s in run_of([(6, 1)] * 4)]
    found = pace(trace_of(steps))
    assert [(point.k, point.steps) for point in found.points] == [(3.0, 3), (6.0, 4)] and found.k == 6
    asked = zip(steps, [2, 3, 2, 6, 6, 6, 6], strict=True)
    chosen = [replace(s, settings=replace(s.settings, draft_length="heuristic"), asked=k) for s, k in asked]
    adaptive = pace(trace_of(chosen))
    assert [point.adaptive for point in adaptive.points] == [True] and adaptive.k == round((3 * 2 + 4 * 6) / 7)


def test_many_steps_without_a_draft_are_a_better_measure_than_a_target_alone_of_another_minute():
    found = pace(trace_of(run_of([(3, 3)] * 3 + [(0, 0)] * 8), alone_s=0.02))
    assert (found.single_of, found.single_n) == ("own_steps", 8) and found.v(3) == pytest.approx(1)
    assert (found.single_s, found.alone_s) == (pytest.approx(0.04), pytest.approx(0.02))
    few = pace(trace_of(run_of([(3, 3)] * 3 + [(0, 0)] * 7), alone_s=0.02))
    assert few.single_of == "target_alone" and few.v(3) == pytest.approx(2)


def test_settings_that_were_changed_on_the_way_are_named():
    steps = run_of([(3, 3), (3, 1), (3, 0)])
    warm = replace(steps[0], settings=replace(steps[0].settings, temperature=0.3, k=2))
    assert pace(trace_of([*steps, warm])).mixed == ("k", "temperature") and pace(trace_of(steps)).mixed == ()


def test_times_of_the_target_alone_that_are_uneven_are_told():
    trace = trace_of(run_of([(3, 3)] * 3))
    busy = replace(trace, baseline=BaselineRecord((1,) * 9, (0.02,) * 7 + (0.2, 0.3)))
    assert pace(busy).uneven == Doubt("uneven", pytest.approx({"mean_s": 0.64 / 9, "median_s": 0.02}))
    assert pace(trace).uneven is None and pace(replace(trace, baseline=None)).uneven is None


def test_only_the_last_strategy_counts():
    first = [replace(s, settings=RunSettings(strategy="beam search", k=3), draft_s=1.0) for s in run_of([(3, 3)] * 9)]
    found = pace(trace_of([*first, *run_of([(3, 0)] * 4)]))
    assert found.strategy == "sampling" and found.alpha.value == 0 and found.cost_ratio == pytest.approx(10 / 3 / 25)


def test_noise_never_makes_more_positions_cheaper_than_fewer():
    quick = [replace(s, verify_s=0.02) for s in run_of([(5, 1)] * 3)]
    found = pace(trace_of([*run_of([(2, 1)] * 3), *quick]))
    assert found.verify_cost == ((1, 1.0), (3, 1.0), (6, 1.0))
    # the pass over 3 positions is lowered, the one over 6 raised; both are reported
    assert found.noisy == ((2, pytest.approx(1.6)), (5, pytest.approx(0.8)))
    # two short drafts at the end are not a measurement of their own
    assert pace(trace_of([*run_of([(2, 1)] * 2), *quick])).verify_cost == ((1, 1.0), (6, 1.0))


def test_costs_measured_apart_replace_estimates_a_trees_by_all_its_tokens():
    found = pace(trace_of(run_of([(3, 3), (3, 1), (3, 0)]), None))
    costs = Costs(0.1, ((1, 1.0), (3, 1.2), (5, 1.4)))
    chain = with_costs(found, costs, lambda k: k, "here", 16)
    assert chain.cost_ratio == 0.1 and [chain.v(k) for k in (0, 2, 4, 8)] == pytest.approx([1, 1.2, 1.4, 1.8])
    assert chain.reach == 4 and chain.known and chain.source == "here"
    tree = with_costs(found, costs, lambda k: 2 * k, "here", 16)
    assert tree.v(2) == pytest.approx(1.4) and tree.reach == 2


@pytest.mark.parametrize("name", gallery.present())
def test_every_recording_can_be_explained(name):
    found = pace(gallery.read(name))
    parts = found.explained()
    product = parts.textbook * parts.verification * parts.missing * parts.dependence * parts.overhead
    assert found.known and product == pytest.approx(found.main().speed_up)


@pytest.mark.parametrize("name", gallery.present())
def test_the_measured_speed_up_of_a_run_of_one_k_is_that_of_all_its_steps(name):
    trace = gallery.read(name)
    if len({step.k for step in trace.steps}) == 1 and trace.baseline:
        seconds = sum(step.step_s for step in trace.steps)
        whole = len(trace.output_ids) / seconds / trace.baseline.tokens_per_s
        assert pace(trace).main().speed_up == pytest.approx(whole)
        assert pace(trace).main().steps == len(trace.steps)


def test_turns_of_others_in_the_run_and_beside_the_target_alone_speak_against_the_times():
    trace = trace_of(run_of([(3, 3)] * 3))
    both = replace(trace, others=2, baseline=replace(trace.baseline, others=1))
    assert pace(both).others == Doubt("others", {"turns": 3}) and pace(trace).others is None
    assert pace(replace(trace, others=2, baseline=None)).others is None
