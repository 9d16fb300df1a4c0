"""Lanes side by side: the same text at temperature 0, turns by length, a table with denominators."""

from dataclasses import replace

import pandas as pd
import pytest

from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.experiments.compare import ALONE, Comparison, fitting, lanes_of
from specviz.metrics.comparison import table

PROMPT = [1, 2, 3, 1, 2, 4]
GREEDY = RunSettings(temperature=0, k=3, max_new_tokens=24)


def test_every_strategy_writes_what_the_target_alone_writes(pair):
    ctx = pair("ctx_t", "ctx_d")
    both = Comparison(ctx, PROMPT, lanes_of(GREEDY, fitting(ctx)))
    assert both.share == 0
    lengths = []
    for _ in both.steps():
        lengths.append([lane.length for lane in both.lanes])
    assert both.share == 1 and both.next is None and both.step() is None
    # nobody runs ahead by more than the longest step
    assert max(max(n) - min(n) for n in lengths) <= GREEDY.k + 1
    assert all(trace.baseline is None for trace in both.traces().values())
    both.hold_against_alone()
    traces = both.traces()
    assert len({trace.output_ids for trace in traces.values()}) == 1
    found = table({name: [trace] for name, trace in traces.items()}, ALONE).set_index("lane")
    assert list(found.index) == [ALONE, *fitting(ctx)]
    assert found.loc[ALONE, "speed_up"] == 1 and pd.isna(found.loc[ALONE, "acceptance_rate"])
    assert found.drop(index=ALONE)["same"].all() and pd.isna(found.loc[ALONE, "same"])
    for name, trace in traces.items():
        row = found.loc[name]
        assert row["tokens"] == 24 and row["block_efficiency"] == pytest.approx(24 / len(trace.steps))


def test_a_long_prompt_is_read_in_pieces_for_every_lane_before_any_goes_on(pair, monkeypatch):
    monkeypatch.setattr(engine, "CHUNK", 10)
    both = Comparison(pair("ctx_t", "ctx_d"), PROMPT * 6, lanes_of(GREEDY, ["greedy"]))
    lengths = []
    for _ in range(9):  # 35 positions before the last: four pieces a lane
        both.step()
        lengths.append([lane.length for lane in both.lanes])
    assert lengths == [[-1, -1]] * 3 + [[0, -1]] * 4 + [[0, 0], [1, 0]]


def test_lanes_meet_the_same_coins(pair):
    exact = pair("target12", "draft12")
    both = Comparison(exact, [1], lanes_of(RunSettings(k=2, max_new_tokens=20, seed=5), ["sampling", "greedy"]))
    list(both.steps())
    coins: dict[int, set[float]] = {}
    for lane in both.lanes:
        for step in lane.run.steps:
            if step.extra is not None:
                coins.setdefault(step.start + len(step.emitted_ids) - 1, set()).add(step.extra.coin)
    assert len(coins) == 20 and all(len(found) == 1 for found in coins.values())


def test_the_table_pools_prompts_and_leaves_gaps(pair):
    exact = pair("target12", "draft12")
    lanes = {ALONE: [], "greedy": []}
    for prompt in ([1], [2]):
        both = Comparison(exact, prompt, lanes_of(replace(GREEDY, max_new_tokens=8), ["greedy"]))
        list(both.steps())
        both.hold_against_alone()
        for name, trace in both.traces().items():
            lanes[name].append(trace)
    row = table(lanes, ALONE).set_index("lane").loc["greedy"]
    steps = [s for t in lanes["greedy"] for s in t.steps]
    assert row["tokens"] == 16 and row["drafted"] == sum(s.depth for s in steps)
    assert row["acceptance_rate"] == row["accepted"] / row["tested"]
    nothing = table({ALONE: [], "greedy": []}, ALONE)
    assert nothing["speed_up"].isna().all() and nothing["acceptance_rate"].isna().all()
    assert table({}, ALONE).empty


def test_bad_lanes_are_errors_before_anything_runs(pair):
    with pytest.raises(SettingsError, match="at least one"):
        Comparison(pair("target12", "draft12"), [1], {})
    with pytest.raises(SettingsError, match="no draft model"):
        Comparison(pair("target12", None), [1], lanes_of(GREEDY, ["greedy"]))
    assert "greedy" not in fitting(pair("target12", None))
