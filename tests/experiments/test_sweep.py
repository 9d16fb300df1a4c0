"""A sweep's arithmetic: which cells there are, what they share, pooled rows, and intervals that are what they say."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from specviz.core.records import Fate, StepRecord, TokenRecord
from specviz.core.settings import RunSettings, SettingsError
from specviz.experiments import sweep
from specviz.experiments.compare import ALONE
from specviz.experiments.sweep import Prompt, grid, measure, table
from specviz.metrics.intervals import FEWEST_STEPS, INTERVALS, Outcome, intervals
from specviz.traces.trace import Trace

WORDS = Prompt("words", "w1 w2 w3", False)
OTHER = Prompt("other", "w5 w2", False)
BASE = RunSettings(max_new_tokens=16, draft_length="heuristic", seed=3)


def step(index, accepted, rejected, seconds, start=0):
    """A chain step of `accepted` tokens, then a refused one or none."""
    tokens = [TokenRecord(1, "a", Fate.ACCEPTED, here - 1) for here in range(accepted)]
    tokens += [TokenRecord(2, "b", Fate.REJECTED, accepted - 1)] if rejected else []
    extra = TokenRecord(3, "c", Fate.RESAMPLED if rejected else Fate.BONUS, accepted - 1)
    ids = (1,) * accepted + (3,)
    return StepRecord(
        index, start, BASE, tuple(tokens), extra, ids, None, "k", len(tokens) + 1, 0.0, seconds, 0.0
    )  # fmt: skip


def trace(*steps):
    return Trace("", (1,), tuple(steps), "", "length", {})


def test_the_grid_is_every_choice_on_every_prompt_at_a_fixed_k():
    cells = grid([WORDS, OTHER], BASE, ["greedy", "sampling"], [1, 2, 4], [0, 0.5], "tiny")
    assert len(cells) == len({cell.key for cell in cells}) == 2 * 2 * 3 * 2
    assert {cell.settings.draft_length for cell in cells} == {"fixed"}
    # a prompt after the other, so that what is done when somebody stops is a whole picture
    assert [cell.prompt.name for cell in cells] == ["words"] * 12 + ["other"] * 12
    assert str(cells[0]) == "greedy, K = 1, “words”"


def test_a_cell_is_known_again_among_other_choices_and_not_under_other_settings():
    def keys(*, prompts=(WORDS,), base=BASE, ks=(1, 4), models="tiny"):
        return {cell.key for cell in grid(list(prompts), base, ["greedy"], list(ks), [0], models)}

    once = keys()
    assert once < keys(ks=(1, 2, 4)) and once < keys(prompts=(OTHER, WORDS))
    assert keys(prompts=(replace(WORDS, name="renamed"),)) == once
    for changed in (replace(BASE, seed=4), replace(BASE, max_new_tokens=17), replace(BASE, options={"width": 3})):
        assert not keys(base=changed) & once
    assert not keys(models="another") & once and not keys(prompts=(replace(WORDS, chat=True),)) & once


def test_rows_pool_the_prompts_that_are_done(pair):
    ctx = pair("ctx_t", "ctx_d")
    cells = grid([WORDS, OTHER], BASE, ["greedy", "prompt lookup"], [1, 4], [0], "tiny")
    done = {cell.key: measure(ctx, cell) for cell in cells[:6]}  # all of the first prompt, greedy of the second
    found = table(cells, done).set_index(["strategy", "k"])
    assert list(found["prompts"]) == [2, 2, 1, 1] and (found["prompts_wanted"] == 2).all()
    for (strategy, k), line in found.iterrows():
        outcomes = [done[c.key] for c in cells if c.choice == (0, strategy, k) and c.key in done]
        steps = [s for o in outcomes for s in o.lane.steps]
        assert line["tokens"] == 16 * len(outcomes) and line["target_passes"] == len(steps)
        assert line["block_efficiency"] == pytest.approx(line["tokens"] / len(steps))
        speeds = [
            line["tokens"] / sum(s.step_s for o in outcomes for s in getattr(o, side).steps)
            for side in ("lane", "alone")
        ]
        assert line["tokens_per_s"] == pytest.approx(speeds[0])
        assert line["speed_up"] == pytest.approx(speeds[0] / speeds[1])
        assert line["same"]
        assert all(not s.positions for s in steps)
    assert table(cells, {}).empty


def test_a_strategy_that_does_not_fit_is_an_error_before_anything_runs(pair):
    cell = grid([WORDS], BASE, ["greedy"], [1], [0], "tiny")[0]
    with pytest.raises(SettingsError, match="no draft model"):
        sweep.begin(pair("target12"), cell)
    both = sweep.begin(pair("target12", "draft12"), cell)
    assert [lane.name for lane in both.lanes] == [ALONE, "greedy"]


def test_steps_that_are_all_alike_do_not_tell_how_they_vary():
    # 0 of 13 accepted is no proof that nothing ever is
    lane, alone = (
        trace(*(step(i, 0, True, 0.2 + i / 100) for i in range(13))),
        trace(*(step(i, 0, False, 0.1) for i in range(13))),
    )
    found = intervals([Outcome(lane, alone)])
    assert found["acceptance_rate"] is None and found["block_efficiency"] is None
    low, high = found["speed_up"]
    assert low < 0.1 * 13 / sum(0.2 + i / 100 for i in range(13)) < high


def test_too_few_steps_or_no_drafts_give_no_interval():
    few = trace(*(step(i, 1, False, 0.2) for i in range(FEWEST_STEPS - 1)))
    many = trace(*(step(i, 0, False, 0.1) for i in range(8)))
    assert intervals([Outcome(few, many)]) == dict.fromkeys(INTERVALS) == intervals([])
    # nothing drafted: speeds have an interval, acceptance has none
    uneven = trace(*(step(i, 0, False, 0.1 + i / 100) for i in range(8)))
    found = intervals([Outcome(uneven, many)])
    assert found["acceptance_rate"] is None and found["speed_up"] is not None


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """200 made-up measurements of a known speed-up: tokens a step 1 … 4, noisy times, alone 1 token a step."""
    draws, held, tests = np.random.default_rng(5), 0, 200
    for _ in range(tests):
        kept = draws.integers(0, 4, size=60)
        noise = draws.gamma(25, 1 / 25, size=(2, 60))
        lane = trace(*(step(i, int(n), False, 0.16 * x) for i, (n, x) in enumerate(zip(kept, noise[0], strict=True))))
        alone = trace(*(step(i, 0, False, 0.1 * x) for i, x in enumerate(noise[1])))
        low, high = intervals([Outcome(lane, alone)], rounds=400)["speed_up"]
        held += low <= (2.5 / 0.16) / (1 / 0.1) <= high
    spread = 4 * math.sqrt(0.95 * 0.05 / tests)
    assert abs(held / tests - 0.93) < spread  # a percentile interval of 60 steps is a little narrow


def test_prompts_that_differ_widen_the_interval():
    def one(tokens):
        return Outcome(
            trace(*(step(i, tokens - 1, False, 0.2) for i in range(20))),
            trace(*(step(i, 0, False, 0.1) for i in range(20))),
        )

    low, high = intervals([one(1), one(2), one(4)])["speed_up"]
    assert low == pytest.approx(0.5) and high == pytest.approx(2)
    assert intervals([one(2), one(2), one(2)])["speed_up"] is None


def test_gaps_are_gaps():
    cell = grid([WORDS], BASE, ["greedy"], [0], [0], "tiny")[0]
    many = trace(*(step(i, 0, False, 0.1) for i in range(8)))
    line = table([cell], {cell.key: Outcome(many, many)}).iloc[0]
    assert pd.isna(line["acceptance_rate"]) and pd.isna(line["acceptance_rate_low"]) and pd.isna(line["cost_ratio"])
    assert line["speed_up"] == 1 and pd.isna(line["speed_up_low"])
