"""Every convention of one run, against figures that engines printed."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from specviz.metrics import count
from specviz.metrics.dictionary import counters, dictionary, histogram
from tests.metrics.test_rates import run_of


def book(*runs):
    return {entry.name: entry for entry in dictionary([SimpleNamespace(steps=steps) for steps in runs])}


def test_vllm_acceptance_metrics_page():
    steps = run_of([(3, 0)] * 39 + [(3, 1)] + [(3, 3)] * 3)
    found = book(steps)
    assert histogram(steps) == [39, 1, 0, 3]
    assert found["accepted ÷ drafted"].value == pytest.approx(0.0775193798)
    assert found["accepted ÷ drafted"].numbers == "10 ÷ 129"
    assert found["tokens ÷ target passes (τ)"].value == pytest.approx(1.2325581395)
    assert found["accepted ÷ target passes"].value == pytest.approx(10 / 43)
    of_drafts = found["1 + accepted ÷ steps that drafted"]
    assert of_drafts.value == pytest.approx(1.2325581395) and of_drafts.numbers == "1 + 10 ÷ 43"
    assert any("mean_acceptance_length" in name for name in of_drafts.called)


def test_llama_cpp_pull_request_24536():
    lengths = [3] * 42 + [2] * 13 + [1] * 15 + [0] * 17
    steps = run_of(list(zip([3] * 85 + [2] * 2, lengths, strict=True)))
    found = book(steps)
    rates = [found[f"accepted at position {n} ÷ steps that drafted"].value for n in (1, 2, 3)]
    assert [round(rate, 3) for rate in rates] == [0.805, 0.632, 0.483]
    assert counters(count(steps))['vllm:spec_decode_num_accepted_tokens_per_pos{position="0"}'] == 70
    assert counters(count(steps))["LM Studio total_draft_tokens_count"] == 259


def test_steps_without_a_draft_part_two_lengths_that_engines_print():
    found = book(run_of([(3, 3), (0, 0), (3, 1)]))
    assert found["tokens ÷ target passes (τ)"].value == pytest.approx(7 / 3)
    assert found["1 + accepted ÷ steps that drafted"].value == pytest.approx(1 + 4 / 2)
    # 10 ms of drafting in each step of 50 ms, in that which found nothing too
    overhead = found["time of drafting ÷ time of all steps"]
    assert overhead.value == pytest.approx(30 / 150) and overhead.numbers == "30.0 ms ÷ 150.0 ms"
    assert overhead.called == ("TensorRT-LLM: specDecodingStats.draftOverhead",)


def test_pooling_and_means_differ_and_say_so():
    found = book(run_of([(4, 4), (1, 0)]), run_of([(2, 1)]))
    assert found["accepted ÷ drafted"].value == pytest.approx(5 / 7)
    assert found["mean over steps of accepted ÷ drafted"].value == pytest.approx((1 + 0 + 0.5) / 3)
    assert found["mean over prompts of accepted ÷ tested"].value == pytest.approx((4 / 5 + 1 / 2) / 2)


def test_no_drafts_leave_gaps():
    alone = [replace(step, settings=replace(step.settings, k=0)) for step in run_of([(0, 0)])]
    for entry in dictionary([SimpleNamespace(steps=alone)]):
        assert entry.value is None or entry.name.endswith("(τ)")
    found = book(alone)
    # there are passes to divide by, but no drafts
    for name in ("accepted ÷ target passes", "time of drafting ÷ time of all steps"):
        assert found[name].numbers == "nothing was drafted"
    empty = book([])
    assert all(entry.value is None for entry in empty.values()) and histogram([]) == []
