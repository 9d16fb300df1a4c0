"""Costs: measured once, frozen for a run, and enough to make the run again."""

from dataclasses import replace

import pytest

from specviz.core.records import Costs
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import calibration, engine
from specviz.drafting import STRATEGIES
from specviz.models.pair import Pair
from specviz.traces.trace import Trace
from tests import tiny
from tests.conftest import table_model

PROMPT = [1, 2, 3, 1, 2, 4]
SETTINGS = RunSettings(strategy="sampling", k=6, draft_length="cost-aware", max_new_tokens=60)

WIDE = RunSettings(strategy="beam search", options={"width": 3})


def seen(trace):
    return [(s.asked, s.tokens, s.extra, s.emitted_ids, s.draft_stop) for s in trace.steps]


def test_a_step_is_priced_by_drafts_and_by_positions_on_a_line_between_what_was_measured():
    measured = Costs(0.1, ((1, 1.0), (3, 1.2), (5, 1.3)))
    chain = calibration.prices({"greedy": measured}, None, RunSettings(strategy="greedy"))
    assert [chain(k) for k in (0, 1, 2, 3, 4, 6)] == pytest.approx([1, 1.2, 1.4, 1.55, 1.7, 2.0])
    beams = calibration.prices({"beam search, width 3": measured}, None, WIDE)
    assert beams(1) == pytest.approx(0.1 + 1.25) and beams(2) == pytest.approx(0.2 + 1.4)


@pytest.mark.parametrize(
    "wrong",
    [
        (-1.0, ((1, 1.0),)),
        (float("nan"), ((1, 1.0),)),
        (0.1, ()),
        (0.1, ((2, 1.0),)),
        (0.1, ((1, 1.0), (1, 1.0))),
        (0.1, ((1, 0.0),)),
        (0.1, ((1, 1.0), (2, float("inf")))),
    ],
)
def test_costs_that_cannot_be_are_errors(wrong):
    with pytest.raises(SettingsError):
        Costs(*wrong)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "none"])
def test_every_strategy_can_be_measured(pair, strategy):
    costs = calibration.measured(pair("ctx_t", "ctx_d"), RunSettings(strategy=strategy))
    assert [positions for positions, _ in costs.verify_cost] == list(calibration.POSITIONS)
    ratios = [v for _, v in costs.verify_cost]
    assert ratios[0] == 1 and ratios == sorted(ratios) and costs.cost_ratio > 0


def test_a_pair_is_measured_once_and_another_one_for_itself(pair, monkeypatch):
    made = []
    plain = calibration._measure
    monkeypatch.setattr(calibration, "_measure", lambda *args: made.append(1) or plain(*args))
    table = tiny.target_table()
    one, other = Pair(table_model("a", table), table_model("b", table)), Pair(table_model("a", table), None)
    settings = replace(SETTINGS, strategy="greedy", max_new_tokens=9)
    for _ in range(3):
        engine.run(one, [1], settings)
    assert len(made) == 1
    engine.run(one, [1], replace(settings, strategy="beam search"))
    engine.run(one, [1], replace(settings, strategy="beam search", options={"width": 3}))
    engine.run(other, [1], replace(settings, strategy="prompt lookup"))
    assert len(made) == 4


def test_measured_in_slices_others_take_turns_between_and_it_is_kept_as_ever(pair):
    both = Pair(table_model("sliced", tiny.target_table()), table_model("draft", tiny.draft_table()))
    settings = replace(SETTINGS, strategy="greedy")
    slices, shares = calibration.in_slices(both, settings), []
    other = engine.start(pair("target12", "draft12"), [1], RunSettings(k=2, max_new_tokens=200))
    while True:
        try:
            shares.append(next(slices))
        except StopIteration as end:
            found = end.value
            break
        engine.step(other, RunSettings(k=2, max_new_tokens=200))
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] < 1
    assert len(shares) == (1 + calibration.ROUNDS) * (1 + len(calibration.POSITIONS))
    assert calibration.measured(both, settings) is found and found.verify_cost[0] == (1, 1.0)
    with pytest.raises(StopIteration) as at_once:
        next(calibration.in_slices(both, settings))
    assert at_once.value.value is found


def test_nothing_is_measured_where_nothing_is_chosen(pair, monkeypatch):
    monkeypatch.setattr(calibration, "_measure", lambda *args: pytest.fail("measured"))
    fresh = Pair(table_model("fresh", tiny.target_table()), table_model("draft", tiny.draft_table()))
    for changes in ({"k": 0}, {"strategy": "none"}, {"draft_length": "heuristic"}, {"draft_length": "confidence"}):
        trace = engine.run(fresh, [1], replace(SETTINGS, max_new_tokens=9, **changes))
        assert trace.costs == {}


def test_measuring_touches_neither_the_runs_caches_nor_its_times(pair, monkeypatch):
    both = pair("ctx_t", "ctx_d")
    run = engine.start(both, PROMPT, SETTINGS)
    before = (list(run.readers.target._ids), list(run.readers.draft._ids))
    calibration._measure(both, SETTINGS)
    assert (run.readers.target._ids, run.readers.draft._ids) == before
    slow = []

    def waits(*args):
        import time  # noqa: PLC0415

        time.sleep(0.5)
        slow.append(1)
        return Costs(0.1)

    monkeypatch.setattr(calibration, "_measure", waits)
    fresh = Pair(table_model("fresh", tiny.target_table()), table_model("draft", tiny.draft_table()))
    step = engine.step(engine.start(fresh, [1], SETTINGS), SETTINGS)
    assert slow and step.step_s + step.catch_up_s + step.record_s < 0.5


def test_short_contexts_and_a_draft_that_fails_can_be_measured(pair):
    assert calibration._measure(pair("gpt2pos32", "gpt2pos32"), RunSettings(strategy="greedy")).cost_ratio > 0
    nan = table_model("nan", tiny.draft_table() * float("nan"))
    broken = Pair(table_model("fine", tiny.target_table()), nan)
    trace = engine.run(broken, [1], replace(SETTINGS, strategy="greedy", max_new_tokens=5))
    assert len(trace.output_ids) == 5 and trace.costs["greedy"].cost_ratio >= 0


def test_a_saved_run_is_made_again_from_its_costs_whatever_the_clock_says(pair, monkeypatch):
    both = pair("ctx_t", "ctx_d")
    dear = Costs(0.05, ((1, 1.0), (2, 1.01), (3, 1.02), (5, 1.05), (9, 2.5)))
    monkeypatch.setattr(calibration, "measured", lambda *args: dear)
    trace = Trace.from_json(engine.run(both, PROMPT, SETTINGS).to_json())
    assert trace.costs == {"sampling": dear} and len({s.k for s in trace.steps}) > 1
    monkeypatch.setattr(calibration, "measured", lambda *args: Costs(3.0))
    assert seen(engine.run(both, PROMPT, SETTINGS)) != seen(trace)
    again = engine.run(both, PROMPT, SETTINGS, costs=trace.costs)
    assert [s.asked for s in again.steps] == [s.asked for s in trace.steps]
    assert again.output_ids == trace.output_ids and again.costs == trace.costs


def test_a_strategy_that_was_not_measured_before_is_measured_beside_the_given_ones(pair):
    given = {"greedy": Costs(0.1)}
    names = iter(["greedy", "sampling"] * 40)
    run = engine.start(pair("ctx_t", "ctx_d"), PROMPT, SETTINGS, given)
    while not run.finished(SETTINGS):
        engine.step(run, replace(SETTINGS, strategy=next(names)))
    assert run.costs["greedy"] == Costs(0.1) and set(run.costs) == {"greedy", "sampling"} and len(given) == 1
