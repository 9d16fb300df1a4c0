"""A recorded comparison is read back as it was, and a file that is none is one sentence."""

from __future__ import annotations

import json

import pytest

from specviz.core.settings import RunSettings
from specviz.experiments.compare import Comparison, lanes_of
from specviz.experiments.compared import ALONE, Compared
from specviz.traces.trace import Trace, TraceError
from tests.conftest import tiny_pair


@pytest.fixture(scope="module")
def compared():
    settings = RunSettings(k=3, temperature=0, max_new_tokens=12)
    both = Comparison(tiny_pair("ctx_t", "ctx_d"), [1, 2, 3], lanes_of(settings, ["greedy", "prompt lookup"]))
    assert not both.compared().ended
    for _ in both.steps():
        pass
    both.hold_against_alone()
    return both.compared()


def test_it_is_read_back_without_its_candidates(compared):
    assert compared.ended
    text = compared.to_json()
    again = Compared.from_json(text)
    assert list(again.traces) == [ALONE, "greedy", "prompt lookup"] and again.ended
    assert again.to_json() == text and len(text) < sum(len(t.to_json()) for t in compared.traces.values()) / 2
    for name, trace in compared.traces.items():
        read, saved = again.traces[name], Trace.from_json(trace.to_json())
        assert read.output_ids == saved.output_ids and read.baseline == saved.baseline
        assert [step.tokens for step in read.steps] == [step.tokens for step in saved.steps]
        assert not any(step.positions for step in read.steps)


def without(lane):
    return lambda data: data["lanes"].pop(lane)


def last_first(data):
    data["lanes"] = dict(reversed(data["lanes"].items()))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without(ALONE), "needs the lane 'target alone' first"),
        (last_first, "needs the lane 'target alone' first"),
        (lambda data: [without(name)(data) for name in ("greedy", "prompt lookup")], "at least one other"),
        (lambda data: data.update(schema=2), "not a recorded comparison"),
        (lambda data: data.update(lanes=[]), "not a recorded comparison"),
        (lambda data: data["lanes"].update(greedy=5), "not a specviz trace"),
        (lambda data: data["lanes"]["greedy"].update(stop=None), "'greedy' of this comparison is not finished"),
        (
            lambda data: data["lanes"]["greedy"].update(prompt_ids=[1, 2], prompt_texts=["a", "b"]),
            "'greedy' has a different prompt or target",
        ),
        (lambda data: data["lanes"]["greedy"]["pair"].update(target="x"), "'greedy' has a different prompt or target"),
        (lambda data: data["lanes"]["greedy"]["steps"][0].update(index=4), "Step 1 of this trace: the order is wrong"),
        (lambda data: data["lanes"]["greedy"].update(prefill_s=float("nan")), "contains NaN"),
    ],
)
def test_what_cannot_be_is_one_sentence(compared, change, sentence):
    data = json.loads(compared.to_json())
    change(data)
    with pytest.raises(TraceError, match=sentence) as error:
        Compared.from_json(json.dumps(data))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '"x"', "[" * 100_000])
def test_another_file_is_named_as_that(text):
    with pytest.raises(TraceError, match="not a recorded comparison"):
        Compared.from_json(text)
