"""Every K from the run on screen: which pair it asks, what it says of itself, and when it only estimates."""

import re
from dataclasses import replace

import pytest

import specviz
from specviz.core.records import BaselineRecord, Costs
from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import say
from specviz.metrics import count
from specviz.metrics.pace import pace
from specviz.recordings import gallery
from specviz.sessions.cost_measurement import CostMeasurement
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.model_cache import ModelCache
from specviz.ui.studies.every_k import look as drawn
from specviz.ui.studies.speed import Own
from specviz.views.amounts import rate
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


def told(key, **fields):
    return say(f"every_k.{key}", **fields)


def expected(table):
    """Whether it has a column of expected speed-ups."""
    return f"{say('columns.expected')}</th>" in table


def best_k(table):
    """Whether one K is marked as the best."""
    return f"<b>{say('columns.best_k')}" in table


def cells(table):
    """Rows of the table as text, by K."""
    rows = re.findall(r'<th scope="row">(\d+)(.*?)</th>(.*?)</tr>', table)
    return {
        int(k): (re.sub("<[^>]+>", "", mark).strip(), re.findall(r"<td>(.*?)</td>", body)) for k, mark, body in rows
    }


def test_the_table_holds_every_k_and_proves_itself_on_the_runs_own(model_cache):
    table = look(made(), model_cache, DecodeQueue())
    rows = cells(table)
    assert list(rows) == list(range(1, 17)) and rows[4][0] == say("columns.own_k") and rows[5][0] == ""
    for k in (1, 4, 9):
        counts = count(made(k=k).steps)
        assert f"({counts.acceptance_rate.part} of {counts.acceptance_rate.whole})" in rows[k][1][0]
        assert f"(40 in {counts.steps})" in rows[k][1][1] and rows[k][1][2] == str(counts.steps)
    assert "✓ " in table and told("exact", dtype="float32") in table
    # no costs are known: no speed-up is made up
    assert not expected(table) and told("no_costs") in table


def test_a_speed_up_is_expected_where_costs_are_known_and_never_called_measured(model_cache):
    trace = made()
    steps = tuple(replace(s, draft_s=0.001 * s.depth, verify_s=0.1) for s in trace.steps)
    table = look(replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9)), model_cache, DecodeQueue())
    rows = cells(table)
    gains = {k: float(row[1][-1].rstrip("×")) for k, row in rows.items()}
    best = max(gains, key=gains.get)
    assert say("columns.best_k") in rows[best][0] and expected(table) and "c = 0.01" in table


def test_above_temperature_0_it_is_an_estimate_and_says_so(model_cache):
    table = look(made(temperature=1.0, strategy="sampling"), model_cache, DecodeQueue())
    alpha = rate(count(made(temperature=1.0, strategy="sampling").steps).acceptance_rate)
    assert told("estimate", alpha=alpha, strategy="sampling") in table and "≈" in cells(table)[1][1][1]
    with pytest.raises(SpecvizError, match=told("nothing_drafted")):
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
    own_k = say("columns.own_k")
    assert own_k in rows[4][0] and own_k not in rows[5][0]
    assert rate(known.alpha) in look(trace, model_cache, DecodeQueue())


def test_a_rule_that_changes_the_output_and_changed_settings_are_told(model_cache):
    trace = made(temperature=1.0, strategy="sampling")
    loose = tuple(replace(s, settings=replace(s.settings, rule="lenience", temperature=0.5)) for s in trace.steps[9:])
    table = look(replace(trace, steps=(*trace.steps[:9], *loose)), model_cache, DecodeQueue())
    assert "sv-lo-lossy" in table and told("mixed", settings="rule, temperature") in table
    assert "sv-lo-lossy" not in look(trace, model_cache, DecodeQueue())


def test_costs_measured_apart_are_told_at_a_few_k(model_cache):
    trace = made(k=8)
    costs = {"greedy": Costs(0.05, ((1, 1.0), (9, 1.4)))}
    table = look(replace(trace, costs=costs), model_cache, DecodeQueue())
    v = "v(1) = 1.05, v(2) = 1.10, v(4) = 1.20, v(8) = 1.40"
    source, beside = say("speed.source_frozen"), told("beside_same")
    assert told("costs", c="0.05", v=v, source=source, beside=beside) in table


def test_a_handful_of_tests_makes_no_best_k(model_cache):
    trace = made(temperature=1.0, strategy="sampling", max_new_tokens=4)
    steps = tuple(replace(s, draft_s=0.001 * s.depth, verify_s=0.1) for s in trace.steps)
    trace = replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9))
    table = look(trace, model_cache, DecodeQueue())
    assert told("too_few", least=10) in table and not best_k(table)
    own = Own.of(pace(trace))
    shown = own.curve(own.sliders)
    assert say("speed.few_tested", n=pace(trace).alpha.whole, least=10) in own.warning(shown)
    assert "<strong>" not in own.told(shown)


def test_nor_does_a_step_of_greedy(model_cache):
    trace = made(max_new_tokens=3)
    steps = tuple(replace(s, draft_s=0.0001 * s.depth, verify_s=0.1) for s in trace.steps)
    table = look(replace(trace, steps=steps, baseline=BaselineRecord((1,) * 9, (0.1,) * 9)), model_cache, DecodeQueue())
    assert expected(table) and not best_k(table)
    one = told("matches", k=4, passes="1 target pass", accepted="0 of 0")
    assert one in look(made(max_new_tokens=1), model_cache, DecodeQueue())


def test_the_pair_of_the_run_must_be_in_memory():
    pair = told("pair", target="ctx_t", draft="ctx_d")
    with pytest.raises(SpecvizError, match=told("load", pair=pair)):
        look(made(), ModelCache(load), DecodeQueue())
    with pytest.raises(SpecvizError, match=say("studies.no_step")):
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
    assert told("other_strategy", used="greedy, prompt lookup", name="ctx_d") in both
    table = look(lookup, model_cache, DecodeQueue())
    assert told("other_strategy", used="prompt lookup", name="ctx_d") in table
    assert told("no_costs") not in table and told("no_greedy") in table
    assert told("other_strategy", used="greedy", name="ctx_d") not in look(made(), model_cache, DecodeQueue())
    # what the look-up costs is known, and is not what greedy drafting costs
    frozen = replace(
        made(strategy="prompt lookup"), costs={"prompt lookup, ngram 3": Costs(0.01, ((1, 1.0), (5, 1.2)))}
    )
    assert not expected(look(frozen, model_cache, DecodeQueue()))
