"""Trace files: strict, validated, and a bad one gets a sentence."""

import dataclasses
import json

import pytest

from specviz import engine
from specviz.drafting import LENGTHS
from specviz.settings import RunSettings
from specviz.trace import SCHEMA, BaselineRecord, Costs, Difference, Trace, TraceError
from specviz.ui import gallery


@pytest.fixture
def text(pair):
    trace = engine.run(pair("target12", "draft12"), [1, 2], RunSettings(k=3, max_new_tokens=12))
    return trace.to_json()


def broken(text, change):
    data = json.loads(text)
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d.update(schema=99), "schema"),
        (lambda d: d.pop("steps"), "cut short or damaged"),
        (lambda d: d.update(stop="bored"), "stop reason"),
        (lambda d: d["steps"].pop(1), "out of order"),
        (lambda d: d["steps"][0].pop("settings"), "no settings"),
        (lambda d: d["steps"][0]["settings"].update(k=99), "K must be"),
        (lambda d: d["steps"][0]["emitted_ids"].append(3), "another number"),
        (lambda d: d["steps"][0]["tokens"][0].update(fate="lost"), "cut short or damaged"),
        (lambda d: d["steps"][0]["tokens"][0].update(parent=5), "parent"),
        (lambda d: d["steps"][0]["tokens"][0].update(draft_prob="high"), "not a number"),
        (lambda d: d["steps"][0]["tokens"][0].update(colour="red"), "cut short or damaged"),
        (lambda d: d["steps"][0].update(asked=33), "K must be"),
        (lambda d: d["steps"][0].pop("asked"), "cut short or damaged"),
        (lambda d: d["steps"][0]["settings"].update(draft_length=None), "draft_length must be"),
        (lambda d: d.pop("costs"), "cut short or damaged"),
        (lambda d: d.update(costs={"greedy": {"cost_ratio": -1, "verify_cost": [[1, 1]]}}), "Costs must be numbers"),
        (lambda d: d.update(costs={"greedy": {"cost_ratio": 1, "verify_cost": [[1, "x"]]}}), "cut short or damaged"),
    ],
)
def test_a_bad_file_gets_a_sentence(text, change, sentence):
    with pytest.raises((TraceError, ValueError), match=sentence) as caught:
        Trace.from_json(broken(text, change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"schema": NaN}', "[" * 100_000])
def test_what_is_no_trace_at_all_is_refused(text):
    with pytest.raises(TraceError):
        Trace.from_json(text)


def test_a_file_of_schema_1_is_read_as_what_it_was(text):
    data = json.loads(text)
    data["schema"] = 1
    del data["costs"]
    for step in data["steps"]:
        del step["asked"]
        step.get("settings", {}).pop("draft_length", None)
    trace = Trace.from_json(json.dumps(data))
    assert [s.k for s in trace.steps] == [3] * len(trace.steps) and trace.costs == {}
    assert {s.settings.draft_length for s in trace.steps} == {"fixed"}
    assert json.loads(trace.to_json())["schema"] == SCHEMA and Trace.from_json(trace.to_json()) == trace


def test_the_recordings_that_come_with_the_code_are_read():
    for name in gallery.present():
        trace = gallery.read(name)
        assert trace.steps and all(step.k == step.settings.k for step in trace.steps)


def test_an_adaptive_run_comes_back_with_its_ks_and_its_costs(pair):
    for length in LENGTHS:
        settings = RunSettings(k=3, max_new_tokens=30, draft_length=length)
        trace = engine.run(
            pair("target12", "draft12"), [1, 2], settings, {"sampling": Costs(0.1, ((1, 1.0), (5, 1 / 3)))}
        )
        again = Trace.from_json(trace.to_json())
        assert [s.k for s in again.steps] == [s.k for s in trace.steps] and again.costs == trace.costs
        assert again.to_json() == trace.to_json()


def test_an_empty_run_is_a_trace(pair):
    run = engine.start(pair("target12"), [1], RunSettings(strategy="none"))
    trace = Trace.from_json(run.trace().to_json())
    assert trace.steps == () and trace.text == "" and trace.stop is None


def test_a_measured_baseline_comes_along(text):
    apart = Difference(3, 1, "a", 2, "b", 1.5, 1.75)
    record = BaselineRecord((1, 2), (0.5, 0.5), False, 2, apart, 0.5)
    trace = dataclasses.replace(Trace.from_json(text), baseline=record)
    again = Trace.from_json(trace.to_json()).baseline
    assert again == record and again.difference.margin == 0.25 and again.tokens_per_s == 2
    assert BaselineRecord((), ()).tokens_per_s is None
