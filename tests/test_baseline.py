"""The target alone beside a run: equal at temperature 0, and where not, shown with logits and margin."""

from dataclasses import replace

from specviz import baseline, engine
from specviz.settings import RunSettings

GREEDY = RunSettings(strategy="greedy", k=4, temperature=0, max_new_tokens=30)


def both(pair, settings):
    run = engine.start(pair, [1, 2, 3], settings)
    while not run.finished(settings):
        engine.step(run, settings)
    single, alone = baseline.alone(run, settings)
    while not single.finished(alone):
        engine.step(single, alone)
    return run, single


def test_at_temperature_0_in_float32_the_outputs_are_identical(pair):
    record = baseline.compare(*both(pair("ctx_t", "ctx_d"), GREEDY))
    assert record.identical is True and record.compared == 30 and record.difference is None
    assert len(record.step_s) == 30 and record.tokens_per_s > 0


def test_above_temperature_0_nothing_is_compared(pair):
    assert baseline.compare(*both(pair("target12", "draft12"), replace(GREEDY, temperature=1))).identical is None


def test_a_run_that_was_hot_for_one_step_is_not_compared(pair):
    run, single = both(pair("ctx_t", "ctx_d"), GREEDY)
    run.steps[3] = replace(run.steps[3], settings=replace(GREEDY, temperature=0.5))
    assert baseline.compare(run, single).identical is None


def test_a_difference_is_shown_with_its_place_logits_and_margin(pair):
    run, single = both(pair("ctx_t", "ctx_d"), GREEDY)
    run.output_ids[7] = (run.output_ids[7] + 1) % 12  # as if a near-tie had fallen the other way
    record = baseline.compare(run, single)
    assert record.identical is False and record.difference.place == 7
    assert record.difference.margin > record.tie_bound > 0  # and this one is no near-tie
    assert record.difference.alone_logit > record.difference.run_logit


def test_the_penalty_counts_in_the_comparison(pair):
    record = baseline.compare(*both(pair("target12", "draft12"), replace(GREEDY, repetition_penalty=1.5)))
    assert record.identical is True
