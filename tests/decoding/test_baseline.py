"""The target alone beside a run: equal at temperature 0, and where not, shown with logits and margin."""

from dataclasses import replace

import specviz
from specviz.core.records import BaselineRecord, Difference
from specviz.core.settings import RunSettings
from specviz.core.words import say
from specviz.decoding import baseline, engine
from specviz.verification import RULES
from tests import tiny

GREEDY = RunSettings(strategy="greedy", k=4, temperature=0, max_new_tokens=30)


def both(pair, settings):
    run = engine.start(pair, [1, 2, 3], settings)
    engine.finish(run, settings)
    single, alone = baseline.alone(run, settings)
    engine.finish(single, alone)
    return run, single


def test_at_temperature_0_in_float32_the_outputs_are_identical(pair):
    record = baseline.compare(*both(pair("ctx_t", "ctx_d"), GREEDY))
    assert record.identical is True and record.compared == 30 and record.difference is None
    assert len(record.step_s) == 30 and record.tokens_per_s > 0


def test_one_call_measures_what_the_pieces_of_it_do(pair):
    run, single = both(pair("ctx_t", "ctx_d"), GREEDY)
    steps, record = len(run.steps), baseline.measure(run, GREEDY)
    assert replace(record, step_s=()) == replace(baseline.compare(run, single), step_s=())
    assert len(run.steps) == steps and run.baseline is None


def test_above_temperature_0_nothing_is_compared(pair):
    assert baseline.compare(*both(pair("target12", "draft12"), replace(GREEDY, temperature=1))).identical is None


def test_a_run_that_was_hot_for_one_step_is_not_compared(pair):
    run, single = both(pair("ctx_t", "ctx_d"), GREEDY)
    run.steps[3] = replace(run.steps[3], settings=replace(GREEDY, temperature=0.5))
    assert baseline.compare(run, single).identical is None


def test_a_difference_is_shown_with_its_position_logits_and_margin(pair):
    run, single = both(pair("ctx_t", "ctx_d"), GREEDY)
    run.output_ids[7] = (run.output_ids[7] + 1) % 12  # as if a near-tie had fallen the other way
    record = baseline.compare(run, single)
    assert record.identical is False and record.difference.position == 7
    assert record.difference.margin > record.tie_bound > 0  # and this one is no near-tie
    assert record.difference.alone_logit > record.difference.run_logit


def test_the_penalty_counts_in_the_comparison(pair):
    record = baseline.compare(*both(pair("target12", "draft12"), replace(GREEDY, repetition_penalty=1.5)))
    assert record.identical is True


def test_both_read_the_same_ids_of_the_prompt():
    chat = "{{ bos_token }} {% for m in messages %}{{ m['content'] }}{% endfor %}"
    target = tiny.folder("target12", bos=0, add_bos=True, chat=chat)
    pair = specviz.load_pair(target, tiny.folder("draft12"), dtype="float32")
    for with_template in (True, False):
        settings = replace(GREEDY, chat=with_template)
        run = engine.start(pair, "w5 w3", settings)
        engine.step(run, settings)
        single, _ = baseline.alone(run, settings)
        assert run.prompt_ids == single.prompt_ids == list(run.trace().prompt_ids) == [0, 5, 3]


def test_stored_generation_defaults_change_neither_the_run_nor_the_target_alone():
    stored = {"do_sample": True, "temperature": 0.7, "top_p": 0.8, "repetition_penalty": 1.3, "max_length": 5}
    folders = [tiny.folder(name, generation=stored) for name in ("target12", "draft12")]
    run, single = both(specviz.load_pair(*folders, dtype="float32"), GREEDY)
    assert run.output_ids == single.output_ids == tiny.generate(tiny.folder("target12"), [1, 2, 3], 30)


def test_a_rule_that_is_not_lossless_gets_no_tick(pair, monkeypatch):
    monkeypatch.setitem(RULES, "lossy", replace(RULES["token matching"], lossless=False))
    record = baseline.compare(*both(pair("ctx_t", "ctx_d"), replace(GREEDY, rule="lossy")))
    assert record.identical is None and record.difference is None


def test_the_sentence_about_it_promises_nothing_and_names_the_rule(pair):
    run, single = both(pair("ctx_t", "ctx_d"), replace(GREEDY, rule="lenience"))
    told = baseline.verdict(baseline.compare(run, single), run.steps)
    assert told == say("sessions.verdict_lossy", rules="lenience")
    warm, alone = both(pair("ctx_t", "ctx_d"), replace(GREEDY, temperature=1))
    assert say("sessions.verdict_sampled") == baseline.verdict(baseline.compare(warm, alone), warm.steps)


def test_in_half_precision_a_difference_is_shown_and_is_a_near_tie_only_within_its_bound(pair):
    record = baseline.compare(*both(pair("ctx_t", "ctx_d", "bfloat16"), replace(GREEDY, max_new_tokens=60)))
    assert record.tie_bound == 0.5
    assert record.identical or record.difference.margin < record.tie_bound


def test_one_compared_token_is_told_as_one():
    for compared, words in ((1, "the same 1 token."), (2, "the same 2 tokens.")):
        assert words in baseline.verdict(BaselineRecord((1,), (0.1,), True, compared))


def test_the_verdict_tells_position_logits_margin_and_whether_it_is_a_near_tie():
    apart = Difference(7, 1, "a", 2, "b", 1.5, 1.75)
    near = baseline.verdict(BaselineRecord((1,), (0.1,), False, 8, apart, tie_bound=0.5))
    assert "Token 8 differs: 'a' here, 'b' with" in near and "1.500 and 1.750. The margin 0.250" in near
    assert near.endswith("is below 0.5: a near-tie.")
    far = baseline.verdict(BaselineRecord((1,), (0.1,), False, 8, apart, tie_bound=0.001))
    assert far.endswith("is not below 0.001: this is a fault, not a near-tie.")
