"""Every K from the run on screen: which pair it asks, what it says of itself, and when it only estimates."""

import re
from dataclasses import replace

import pytest

import specviz
from specviz.core.records import BaselineRecord, Costs
from specviz.core.settings import RunSettings, SpecvizError
from specviz.metrics import count
from specviz.metrics.pace import pace
from specviz.recordings import gallery
from specviz.sessions.cost_measurement import CostMeasurement
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.model_cache import ModelCache
from specviz.ui.studies.every_k import look as drawn
from specviz.ui.studies.speed import Own
from tests.conftest import tiny_pair
from tests.sessions.handlers import load

GREEDY = RunSettings(strategy="greedy", temperature=0, k=4, max_new_tokens=40)


@pytest.fixture
def model_cache():
    found = ModelCache(load)
    found.ask(("ctx_t", "ctx_d", "")).done.wait(30)
    return found


def look(trace, model_cache, queue):
    return drawn(trace, CostMeasurement(model_cache, queue))


def made(**changes):
    return specviz.run(tiny_pair("ctx_t", "ctx_d"), [1, 2, 3], replace(GREEDY, **changes))


def cells(table):
    """Rows of the table as text, by K."""
    rows = re.findall(r'<th scope="row">(\d+)(.*?)</th>(.*?)</tr>', table)
    return {
        int(k): (re.sub("<[^>]+>", "", mark).strip(), re.findall(r"<td>(.*?)</td>", body)) for k, mark, body in rows
    }


def test_the_table_holds_every_k_and_proves_itself_on_the_runs_own(model_cache):
    table = look(made(), model_cache, DecodeQueue())
    rows = cells(table)
    assert list(rows) == list(range(1, 17)) and rows[4][0] == "this run" and rows[5][0] == ""
    for k in (1, 4, 9):
        counts = count(made(k=k).steps)
        assert f"({counts.acceptance_rate.part} of {counts.acceptance_rate.whole})" in rows[k][1][0]
        assert f"(40 in {counts.steps})" in rows[k][1][1] and rows[k][1][2] == str(counts.steps)
    assert "✓ At its own K = 4" in table and "Exact in float32" in table
    # no costs are known: no speed-up is made up
    assert "speed-up to expect</th>" not in table and "Measure target alone" in table


def test_a_speed_up_is_expected_where_costs_are_known_and_never_called_measured(model_cache):
    trace = made()
    steps = tuple(replace(s, draft_s=0.001 * s.depth, verify_s=0.1) for s in trace.steps)
    table = look(replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9)), model_cache, DecodeQueue())
    rows = cells(table)
    gains = {k: float(row[1][-1].rstrip("×")) for k, row in rows.items()}
    best = max(gains, key=gains.get)
    assert "best to expect" in rows[best][0] and "c = 0.01" in table and "it is not measured" in table


def test_above_temperature_0_it_is_an_estimate_and_says_so(model_cache):
    table = look(made(temperature=1.0, strategy="sampling"), model_cache, DecodeQueue())
    assert "An estimate, not a count" in table and "≈" in cells(table)[1][1][1]
    with pytest.raises(SpecvizError, match="Nothing was drafted"):
        look(made(temperature=1.0, strategy="none"), model_cache, DecodeQueue())


@pytest.mark.parametrize("strategy", ["sampling", "prompt lookup"])
def test_its_estimate_is_the_curve_of_why_this_speed(model_cache, strategy):
    trace = made(temperature=1.0, strategy=strategy, max_new_tokens=120)
    steps = tuple(replace(s, draft_s=0.01 * s.depth, verify_s=0.1 + 0.01 * s.depth) for s in trace.steps)
    trace = replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9))
    known = pace(trace)
    assert known.known and known.alpha.whole >= 10
    rows = cells(look(trace, model_cache, DecodeQueue()))
    own = Own.of(known)
    shown = own.curve(own.sliders)
    assert {k: row[1][-1] for k, row in rows.items()} == {k: f"{shown.gain(k):.2f}×" for k in rows}
    assert "this run" in rows[4][0] and "this run" not in rows[5][0]
    assert str(known.alpha) in look(trace, model_cache, DecodeQueue())


def test_a_rule_that_changes_the_output_and_changed_settings_are_told(model_cache):
    trace = made(temperature=1.0, strategy="sampling")
    loose = tuple(replace(s, settings=replace(s.settings, rule="lenience", temperature=0.5)) for s in trace.steps[9:])
    table = look(replace(trace, steps=(*trace.steps[:9], *loose)), model_cache, DecodeQueue())
    assert "changes the output" in table and "Changed in the middle of the run: rule, temperature" in table
    assert "changes the output" not in look(trace, model_cache, DecodeQueue())


def test_costs_measured_apart_are_told_at_a_few_k(model_cache):
    trace = made(k=8)
    costs = {"greedy": Costs(0.05, ((1, 1.0), (9, 1.4)))}
    table = look(replace(trace, costs=costs), model_cache, DecodeQueue())
    assert "c = 0.05, v(1) = 1.05, v(2) = 1.10, v(4) = 1.20, v(8) = 1.40, in straight lines" in table
    assert "(c and v: measured when the run began, and kept with it; as in “Why this speed?”" in table


def test_a_handful_of_tests_makes_no_best_k(model_cache):
    trace = made(temperature=1.0, strategy="sampling", max_new_tokens=4)
    steps = tuple(replace(s, draft_s=0.001 * s.depth, verify_s=0.1) for s in trace.steps)
    trace = replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9))
    table = look(trace, model_cache, DecodeQueue())
    assert "too few to go by" in table and "<b>best to expect" not in table
    own = Own.of(pace(trace))
    shown = own.curve(own.sliders)
    assert "too few to go by" in own.warning(shown) and "<strong>" not in own.told(shown)


def test_nor_does_a_step_of_greedy(model_cache):
    trace = made(max_new_tokens=3)
    steps = tuple(replace(s, draft_s=0.0001 * s.depth, verify_s=0.1) for s in trace.steps)
    table = look(replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9)), model_cache, DecodeQueue())
    assert "speed-up to expect</th>" in table and "<b>best to expect" not in table
    assert "the run made 1 pass" in look(made(max_new_tokens=1), model_cache, DecodeQueue())


def test_the_pair_of_the_run_must_be_in_memory():
    with pytest.raises(SpecvizError, match="Load the pair of this run under Models"):
        look(made(), ModelCache(load), DecodeQueue())
    with pytest.raises(SpecvizError, match="no step yet"):
        look(replace(made(), steps=()), ModelCache(load), DecodeQueue())


def test_a_recording_that_other_models_made_names_them(model_cache):
    story = gallery.read("story")
    with pytest.raises(SpecvizError, match=str(story.pair["target"])):
        look(story, model_cache, DecodeQueue())


def test_no_draft_model_is_a_sentence():
    model_cache = ModelCache(load)
    model_cache.ask(("ctx_t", "", "")).done.wait(30)
    trace = specviz.run(tiny_pair("ctx_t"), [1, 2, 3], replace(GREEDY, strategy="prompt lookup"))
    with pytest.raises(SpecvizError, match="no draft model"):
        look(trace, model_cache, DecodeQueue())


def test_a_run_that_drafted_otherwise_is_told_that_the_table_is_not_what_it_did(model_cache):
    greedy, lookup = made(), made(strategy="prompt lookup")
    both = look(replace(greedy, steps=(*greedy.steps[:5], *lookup.steps[5:])), model_cache, DecodeQueue())
    assert "This run drafted with greedy and prompt lookup; the table" in both
    table = look(lookup, model_cache, DecodeQueue())
    assert "This run drafted with prompt lookup; the table is what greedy drafting by" in table
    assert "Measure target alone" not in table and "no speed-up is told" in table
    assert "This run drafted with" not in look(made(), model_cache, DecodeQueue())
    # what the look-up costs is known, and is not what greedy drafting costs
    frozen = replace(
        made(strategy="prompt lookup"), costs={"prompt lookup, ngram 3": Costs(0.01, ((1, 1.0), (5, 1.2)))}
    )
    assert "speed-up to expect</th>" not in look(frozen, model_cache, DecodeQueue())
