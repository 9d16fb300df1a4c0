"""Every convention of one run, against figures that engines printed."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from specviz.metrics import count
from specviz.metrics.dictionary import counters, dictionary, histogram
from tests.made_runs import run_of


def book(*runs):
    return {
        (entry.code, entry.position) if entry.position else entry.code: entry
        for entry in dictionary([SimpleNamespace(steps=steps) for steps in runs])
    }


def test_vllm_acceptance_metrics_page():
    steps = run_of([(3, 0)] * 39 + [(3, 1)] + [(3, 3)] * 3)
    found = book(steps)
    assert histogram(steps) == [39, 1, 0, 3]
    assert found["drafted_share"].value == pytest.approx(0.0775193798)
    assert (found["drafted_share"].part, found["drafted_share"].whole) == (10, 129)
    assert found["block_efficiency"].value == pytest.approx(1.2325581395)
    assert found["accepted_per_pass"].value == pytest.approx(10 / 43)
    of_drafts = found["mean_acceptance_length"]
    assert of_drafts.value == pytest.approx(1.2325581395) and (of_drafts.part, of_drafts.whole) == (10, 43)
    assert ("vLLM", "mean_acceptance_length", "") in of_drafts.called


def test_llama_cpp_pull_request_24536():
    lengths = [3] * 42 + [2] * 13 + [1] * 15 + [0] * 17
    steps = run_of(list(zip([3] * 85 + [2] * 2, lengths, strict=True)))
    found = book(steps)
    rates = [found["position_of_drafts", n].value for n in (1, 2, 3)]
    assert [round(rate, 3) for rate in rates] == [0.805, 0.632, 0.483]
    assert counters(count(steps))['vllm:spec_decode_num_accepted_tokens_per_pos{position="0"}'] == 70
    assert counters(count(steps))["LM Studio total_draft_tokens_count"] == 259


def test_steps_without_a_draft_separate_two_lengths_that_engines_print():
    found = book(run_of([(3, 3), (0, 0), (3, 1)]))
    assert found["block_efficiency"].value == pytest.approx(7 / 3)
    assert found["mean_acceptance_length"].value == pytest.approx(1 + 4 / 2)
    # 10 ms of drafting in each step of 50 ms, in that which found nothing too
    overhead = found["draft_overhead"]
    assert (overhead.value, overhead.part, overhead.whole) == pytest.approx((0.2, 0.03, 0.15))
    assert overhead.called == (("TensorRT-LLM", "specDecodingStats.draftOverhead", ""),)


def test_pooling_and_means_differ_and_say_so():
    found = book(run_of([(4, 4), (1, 0)]), run_of([(2, 1)]))
    assert found["drafted_share"].value == pytest.approx(5 / 7)
    assert found["mean_of_steps"].value == pytest.approx((1 + 0 + 0.5) / 3)
    assert found["mean_of_prompts"].value == pytest.approx((4 / 5 + 1 / 2) / 2)


def test_no_drafts_leave_gaps():
    alone = [replace(step, settings=replace(step.settings, k=0)) for step in run_of([(0, 0)])]
    for entry in dictionary([SimpleNamespace(steps=alone)]):
        assert entry.value is None or entry.code == "block_efficiency"
    found = book(alone)
    # there are passes to divide by, but no drafts
    for code in ("accepted_per_pass", "draft_overhead"):
        assert found[code].lack == "no_drafts"
    empty = book([])
    assert all(entry.value is None for entry in empty.values()) and histogram([]) == []
