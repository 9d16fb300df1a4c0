"""Trace files: strict, validated, and a bad one gets a sentence."""

import dataclasses
import json
import re
from dataclasses import replace

import pytest

from specviz.core.assets import ASSETS
from specviz.core.records import BaselineRecord, Costs, Difference, PlaceRecord, PositionRecord
from specviz.core.settings import MAX_NEW_TOKENS, RunSettings
from specviz.decoding import engine
from specviz.drafting import LENGTHS
from specviz.metrics.rejections import ranks, rejections
from specviz.recordings import gallery
from specviz.traces.trace import MAX_TRACE_CHARS, MOST_WRITTEN, SCHEMA, Trace, TraceError


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
        (lambda d: d.pop("steps"), "cut off or damaged"),
        (lambda d: d.update(stop="bored"), "stop reason"),
        (lambda d: d["steps"].pop(1), "the order is wrong"),
        (lambda d: d["steps"][0].pop("settings"), "settings are missing"),
        (lambda d: d["steps"][0]["settings"].update(k=99), "K must be"),
        (lambda d: d["steps"][0]["emitted_ids"].append(3), "do not match"),
        (lambda d: d["steps"][0]["tokens"][0].update(fate="lost"), "fate must be one of accepted"),
        (lambda d: d["steps"][0]["tokens"][0].update(parent=5), "parent"),
        (lambda d: d["steps"][0]["tokens"][0].update(draft_prob="high"), "draft_prob must be a probability"),
        (lambda d: d["steps"][0]["tokens"][0].update(colour="red"), "cut off or damaged"),
        (lambda d: d["steps"][0].update(asked=33), "K must be"),
        (lambda d: d["steps"][0].pop("asked"), "cut off or damaged"),
        (lambda d: d["steps"][0]["settings"].update(draft_length=None), "draft_length must be"),
        (lambda d: d.pop("costs"), "cut off or damaged"),
        (lambda d: d.update(costs={"greedy": {"cost_ratio": -1, "verify_cost": [[1, 1]]}}), "Costs must be numbers"),
        (lambda d: d.update(costs={"greedy": {"cost_ratio": 1, "verify_cost": [[1, "x"]]}}), "v must be a number"),
        (lambda d: d.update(text=d["text"] + "\ud83d"), "is incomplete"),
        (lambda d: d["pair"].update({"\ude42": 1}), "is incomplete"),
    ],
)
def test_a_bad_file_gets_a_sentence(text, change, sentence):
    with pytest.raises((TraceError, ValueError), match=sentence) as caught:
        Trace.from_json(broken(text, change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"schema": NaN}', "[" * 100_000])
def test_what_is_no_trace_at_all_is_an_error(text):
    with pytest.raises(TraceError):
        Trace.from_json(text)


def test_a_file_that_is_too_large_is_not_read_at_all(text, monkeypatch):
    monkeypatch.setattr("specviz.traces.trace.MAX_TRACE_CHARS", 2_000_000)
    with pytest.raises(TraceError, match="larger than 2 MB"):
        Trace.from_json("x" * 2_000_001)


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
        fixed = [step for step in trace.steps if step.settings.draft_length == "fixed"]
        assert trace.steps and all(step.k == step.settings.k for step in fixed)
        assert fixed or all(step.k <= step.settings.k for step in trace.steps)


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
    trace = Trace.from_json(text)
    first = trace.output_ids[0]
    apart = Difference(1, trace.output_ids[1], "a", 12, "b", 1.5, 1.75)
    record = BaselineRecord((first, 12), (0.5, 0.5), False, 2, apart, 0.5)
    trace = dataclasses.replace(trace, baseline=record)
    again = Trace.from_json(trace.to_json()).baseline
    assert again == record and again.difference.margin == 0.25 and again.tokens_per_s == 2
    assert BaselineRecord((), ()).tokens_per_s is None


def long_run(pair, steps=40, **settings):
    """A run of a few steps said again and again, numbered anew: as long as one likes, in no time."""
    trace = engine.run(pair("target12", "draft12"), [1, 2], RunSettings(max_new_tokens=12, **settings))
    whole, start = [], 0
    while len(whole) < steps:
        for step in trace.steps:
            whole.append(dataclasses.replace(step, index=len(whole), start=start, stop=None))
            start += len(step.emitted_ids)
    times = len(whole) // len(trace.steps)
    return dataclasses.replace(trace, steps=tuple(whole), text=" ".join([trace.text] * times))


@pytest.mark.parametrize("settings", [{"k": 4}, {"strategy": "sampled tree", "k": 3, "options": {"siblings": 3}}])
def test_a_run_too_long_to_be_saved_whole_is_saved_with_fewer_probabilities(pair, monkeypatch, caplog, settings):
    run, sizes = long_run(pair, **settings), []
    whole, run = len(run.to_json()), Trace.from_json(run.to_json())
    assert not caplog.records
    for room in (whole, whole - 1, whole // 2, whole // 3):
        monkeypatch.setattr("specviz.traces.trace.MOST_WRITTEN", room)
        caplog.clear()
        try:
            text = run.to_json()
        except TraceError as error:
            assert "draft fewer tokens per step" in str(error)
            break
        sizes.append(len(text))
        assert len(text) <= room and bool(caplog.records) == (room < whole)
        again = Trace.from_json(text)  # whatever was left out, it still agrees with itself
        assert Trace.from_json(again.to_json()) == again and again.output_ids == run.output_ids
        for ours, theirs in zip(again.steps, run.steps, strict=True):
            assert [(t.fate, t.coin) for t in ours.tokens] == [(t.fate, t.coin) for t in theirs.tokens]
            assert [p.overlap for p in ours.positions] == [p.overlap for p in theirs.positions]
        assert ranks(rejections(again.steps)).keys() == ranks(rejections(run.steps)).keys()
        if room < whole:  # ranks that can no longer be known are not made up
            assert {r.rank for r in rejections(again.steps)} == {None}
    assert sizes == sorted(sizes, reverse=True) and len(sizes) >= 2
    monkeypatch.setattr("specviz.traces.trace.MOST_WRITTEN", 1000)
    with pytest.raises(TraceError, match="Record a shorter run"):
        run.to_json()


def test_the_page_reads_what_may_be_written():
    page = (ASSETS / "runs.js").read_text(encoding="utf-8")
    most = int(re.search(r"MOST_BYTES = ([\d_]+)", page)[1])
    assert most == MAX_TRACE_CHARS > 1.2 * MOST_WRITTEN
    # at K = 4 and temperature 1 a token takes about 3.1 kB, with its share of the candidates
    assert MAX_NEW_TOKENS * 3_100 < MOST_WRITTEN


def test_records_and_files_keep_the_names_of_version_0_1(pair):
    run = engine.run(
        pair("ctx_t", "ctx_d"), [1, 2, 3], RunSettings(strategy="greedy", k=3, temperature=0, max_new_tokens=6)
    )
    apart = Difference(2, 4, "d", 5, "e", 1.0, 1.5)
    run = replace(run, baseline=BaselineRecord((4, 5, 6), (0.1,) * 3, identical=False, compared=3, difference=apart))
    assert run.steps[0].places == run.steps[0].positions != () and apart.place == apart.position == 2
    assert PlaceRecord is PositionRecord
    data = json.loads(run.to_json())
    assert data["steps"][0]["places"] and "positions" not in data["steps"][0]
    assert data["baseline"]["difference"]["place"] == 2 and "position" not in data["baseline"]["difference"]
