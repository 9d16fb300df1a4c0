"""Counting, against figures printed by other engines and against cases counted by hand."""

import pytest

from specviz.core.records import Fate, StepRecord, TokenRecord
from specviz.core.settings import RunSettings
from specviz.metrics import count
from specviz.metrics.frames import steps_frame, tokens_frame
from tests.made_runs import run_of


def test_llama_cpp_pull_request_24536():
    # 87 steps, 259 drafted, accepted at least 1, 2, 3: 70, 55, 42
    lengths = [3] * 42 + [2] * 13 + [1] * 15 + [0] * 17
    drafted = [3] * 85 + [2] * 2  # 259; the two short drafts are among those that accepted nothing
    counts = count(run_of(list(zip(drafted, lengths, strict=True))))
    assert counts.drafted == 259
    assert counts.drafted_share.value == pytest.approx(0.64479, abs=5e-6)
    assert counts.block_efficiency.value == pytest.approx(2.92, abs=0.005)
    assert str(counts.mean_draft_length) == "2.98 (259 of 87)"
    assert [round(r.value, 3) for r in counts.marginal_by_position] == [0.805, 0.632, 0.483]


def test_vllm_acceptance_metrics_page():
    # histogram [39, 1, 0, 3] counts accepted 0, 1, 2, 3: 10 accepted in all
    counts = count(run_of([(3, 0)] * 39 + [(3, 1)] + [(3, 3)] * 3))
    assert (counts.steps, counts.accepted, counts.drafted) == (43, 10, 129)
    assert counts.block_efficiency.value == pytest.approx(1.2325581395)
    assert counts.drafted_share.value == pytest.approx(0.0775193798)


def test_no_drafts_is_not_zero_percent():
    counts = count(run_of([(0, 0), (0, 0)]))
    assert counts.acceptance_rate.value is None and counts.drafted_share.value is None
    assert str(counts.acceptance_rate) == "no drafts"
    assert counts.bonus == 2 and counts.conditional_by_position == ()


def test_an_empty_run_has_counts_and_tables():
    counts = count([])
    assert counts.steps == 0 and counts.block_efficiency.value is None
    assert steps_frame([]).empty and tokens_frame([]).empty


def test_conditional_acceptance_counts_only_positions_that_were_tested():
    counts = count(run_of([(3, 3), (3, 1), (3, 0)]))
    assert [(r.part, r.whole) for r in counts.conditional_by_position] == [(2, 3), (1, 2), (1, 1)]
    assert (counts.acceptance_rate.part, counts.acceptance_rate.whole) == (4, 6)
    assert (counts.rejected, counts.untested, counts.resampled, counts.bonus) == (2, 3, 2, 1)


def test_in_a_tree_a_position_is_rejected_once_however_many_siblings_were():
    tokens = (
        TokenRecord(1, "a", Fate.REJECTED, -1),
        TokenRecord(2, "b", Fate.ACCEPTED, -1),
        TokenRecord(3, "c", Fate.REJECTED, 1),
        TokenRecord(4, "d", Fate.REJECTED, 1),
    )
    step = StepRecord(
        0, 0, RunSettings(), tokens, TokenRecord(5, "e", Fate.RESAMPLED, 1), (2, 5), None, "k", 5, 0.01, 0.04, 0.0
    )
    counts = count([step])
    assert (counts.acceptance_rate.part, counts.acceptance_rate.whole) == (1, 2)
    assert (counts.accepted, counts.rejected) == (1, 3)


def test_tables_have_a_row_a_step_and_a_row_a_token():
    steps = run_of([(3, 1), (0, 0), (3, 3)])
    frame = steps_frame(steps)
    assert frame["running_acceptance"].tolist() == [0.5, 0.5, pytest.approx(4 / 5)]
    assert frame["acceptance"].isna().tolist() == [False, True, False]
    assert len(tokens_frame(steps)) == 3 + 1 + 0 + 1 + 3 + 1
    assert tokens_frame(steps)["emitted"].sum() == sum(len(s.emitted_ids) for s in steps)
