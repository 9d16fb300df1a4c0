"""Draft models that are derived from the target or found for it: early exit, copies in few bits, tables of n-grams."""

import threading
from dataclasses import replace

import pytest
import torch

import specviz
from specviz.core.records import Fate
from specviz.core.settings import RunSettings, SettingsError, SpecvizError
from specviz.decoding import engine
from specviz.drafting import STRATEGIES
from specviz.drafting.early_exit import EarlyExitDrafter, exit_of
from specviz.models.loading import Pair, load_model
from specviz.models.shallow import depth
from tests import tiny

PROMPT = [1, 2, 3, 1, 2, 4]
MADE = ["early exit", "8-bit copy", "4-bit copy", "n-gram table"]
EXIT = RunSettings(strategy="early exit", temperature=0, max_new_tokens=40)


def fresh(tmp_path, name="ctx_t"):
    """A pair that no other test has made anything for."""
    return Pair(load_model(tiny.copy(name, tmp_path), dtype="float32"), None)


@pytest.mark.parametrize("strategy", MADE)
def test_it_needs_no_draft_model_and_the_pairs_own_has_no_part_in_it(pair, strategy):
    settings = RunSettings(strategy=strategy, max_new_tokens=20)
    alone, beside = (engine.run(pair("ctx_t", draft), PROMPT, settings) for draft in (None, "draft12"))
    assert [s.tokens for s in alone.steps] == [s.tokens for s in beside.steps]


@pytest.mark.parametrize("strategy", MADE)
def test_at_temperature_1_each_token_carries_a_real_distribution(pair, strategy):
    trace = engine.run(pair("ctx_t"), PROMPT, RunSettings(strategy=strategy, k=2, max_new_tokens=30))
    tested = [t for s in trace.steps for t in s.tokens if t.fate is not Fate.UNTESTED]
    assert any(0 < t.draft_prob < 1 for t in tested)
    for t in tested:
        assert t.draft_prob == pytest.approx(t.drafter_prob, rel=1e-3)  # no filter: what it was drawn from is its own
        assert t.accept_prob == pytest.approx(min(1, t.target_prob / t.draft_prob), rel=1e-3)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        ("early exit", "First 1 of 4 layers of ctx_t, with its norm and head"),
        ("8-bit copy", "ctx_t in 8 bits: 29 matrices"),
        ("4-bit copy", "ctx_t in 4 bits: 29 matrices"),
        ("n-gram table", "n-gram table words: order 3, 1,600 tokens of walks of target12"),
    ],
)
def test_the_trace_names_what_drafted(pair, strategy, words):
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, RunSettings(strategy=strategy, max_new_tokens=4))
    again = specviz.Trace.from_json(trace.to_json())
    assert again.pair["drafted_with"][strategy].startswith(words)
    plain = engine.run(pair("ctx_t", "ctx_d"), PROMPT, RunSettings(strategy="sampling", max_new_tokens=4))
    assert plain.pair["drafted_with"] == {}


@pytest.mark.parametrize("strategy", ["8-bit copy", "4-bit copy", "n-gram table"])
def test_it_is_made_once_and_kept_with_the_target(tmp_path, strategy):
    both, entry, told = fresh(tmp_path), STRATEGIES[strategy], []
    assert entry.fits(both) is None and not entry.ready(both)
    threads = [
        threading.Thread(target=entry.prepare, args=(both, lambda *said: told.append(said[1]))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entry.ready(both) and len(set(told)) == 1
    run = engine.start(both, PROMPT, replace(EXIT, strategy=strategy))
    engine.step(run, replace(EXIT, strategy=strategy))
    assert entry.ready(both) and len(set(told)) == 1


def test_early_exit_needs_no_making(tmp_path):
    assert STRATEGIES["early exit"].ready(fresh(tmp_path))


@pytest.mark.parametrize("strategy", MADE)
def test_a_step_that_finds_it_missing_makes_it(tmp_path, strategy):
    trace = engine.run(fresh(tmp_path), PROMPT, replace(EXIT, strategy=strategy))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


@pytest.mark.parametrize("strategy", MADE)
def test_used_from_the_middle_of_a_run_it_reads_the_text_so_far_first(pair, strategy):
    both, names = pair("ctx_t", "ctx_d"), iter(["greedy"] * 3 + [strategy] * 40)
    made = list(specviz.steps(both, PROMPT, lambda: replace(EXIT, strategy=next(names))))
    whole = engine.run(both, PROMPT, replace(EXIT, strategy=strategy))
    assert [i for s in made for i in s.emitted_ids] == list(whole.output_ids)
    assert made[3].tokens[0].drafter_prob is not None


# --------------------------------------------------------------------------------------------------------- early exit


def test_an_exit_after_the_first_layer_drafts_what_that_layer_alone_would(pair):
    # ctx_d is ctx_t's first layer with its norm and head
    own = engine.run(pair("ctx_t"), PROMPT, replace(EXIT, options={"exit_layer": 1}))
    draft = engine.run(pair("ctx_t", "ctx_d"), PROMPT, replace(EXIT, strategy="sampling"))
    for one, other in zip(own.steps, draft.steps, strict=True):
        assert [(t.token_id, t.fate) for t in one.tokens] == [(t.token_id, t.fate) for t in other.tokens]
        assert [t.drafter_prob for t in one.tokens] == pytest.approx([t.drafter_prob for t in other.tokens], rel=1e-4)
    assert list(own.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


def test_more_layers_agree_better(pair):
    def alpha(layer):
        steps = engine.run(pair("ctx_t"), PROMPT, replace(EXIT, options={"exit_layer": layer}, temperature=1)).steps
        accepted, rejected = (sum(s.count(f) for s in steps) for f in (Fate.ACCEPTED, Fate.REJECTED))
        return accepted / (accepted + rejected)

    assert alpha(1) < alpha(3)


@pytest.mark.parametrize("layer", [4, 5, 63])
def test_an_exit_beyond_the_last_but_one_layer_is_invalid_and_nothing_is_lost(pair, layer):
    both, bad = pair("ctx_t"), replace(EXIT, options={"exit_layer": layer})
    sentence = rf"ctx_t has 4 layers, so the exit layer must be from 1 to 3; you gave {layer}"
    with pytest.raises(SettingsError, match=sentence):
        engine.start(both, PROMPT, bad)
    run = engine.start(both, PROMPT, EXIT)
    engine.step(run, EXIT)
    before = list(run.output_ids)
    with pytest.raises(SettingsError, match=sentence):
        engine.step(run, bad)
    assert run.output_ids == before and len(run.steps) == 1
    while not run.finished(EXIT):
        engine.step(run, EXIT)
    assert run.output_ids == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    # another strategy's run may carry the number along
    assert engine.start(both, PROMPT, replace(bad, strategy="prompt lookup"))


@pytest.mark.parametrize("layer", [-1, 64, 1.5, "two", True])
def test_an_impossible_exit_is_invalid(pair, layer):
    with pytest.raises(SettingsError, match="exit layer must be a whole number from 0 to 63"):
        engine.start(pair("ctx_t"), PROMPT, replace(EXIT, options={"exit_layer": layer}))


def test_0_is_a_third_of_the_layers():
    assert [exit_of(EXIT, layers) for layers in (2, 4, 12, 30)] == [1, 1, 4, 10]


def test_the_exit_can_be_moved_in_mid_run_and_what_must_be_read_anew_is_no_drafting_time(pair, monkeypatch):
    layers, read = iter([1, 1, 3, 3, 2] * 20), []
    plain = EarlyExitDrafter.catch_up
    monkeypatch.setattr(EarlyExitDrafter, "catch_up", lambda self, ids: (read.append(self.exit), plain(self, ids))[1])
    made = list(specviz.steps(pair("ctx_t"), PROMPT, lambda: replace(EXIT, options={"exit_layer": next(layers)})))
    assert [i for s in made for i in s.emitted_ids] == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    assert read[:3] == [1, 3, 2]


def test_after_a_run_that_failed_half_way_the_target_has_all_its_layers(pair, monkeypatch):
    both = pair("ctx_t")
    run = engine.start(both, PROMPT, EXIT)
    engine.step(run, EXIT)
    layer = both.target.model.model.layers[0].mlp
    with monkeypatch.context() as patch:
        patch.setattr(layer, "forward", lambda x: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.step(run, EXIT)
    assert depth(both.target.model) == 4 == both.target.model.config.num_hidden_layers
    alone = engine.run(both, PROMPT, replace(EXIT, strategy="none"))
    assert list(alone.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    while not run.finished(EXIT):
        engine.step(run, EXIT)
    assert run.output_ids == list(alone.output_ids)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("gpt2pos32", "gpt2pos32 is not built like Llama"), ("ctx_d", "ctx_d has only 1 layer")],
)
def test_a_target_that_has_no_early_exit_is_told_so(pair, target, sentence):
    with pytest.raises(SettingsError, match=rf"'early exit' cannot be used: {sentence}.*prompt lookup"):
        engine.start(pair(target), PROMPT, EXIT)


# --------------------------------------------------------------------------------------------------- copies and tables


def test_without_kernels_a_sentence_says_so_and_the_run_goes_on(pair, monkeypatch):
    settings = replace(EXIT, strategy="8-bit copy")
    run = engine.start(pair("ctx_t"), PROMPT, settings)
    engine.step(run, settings)
    monkeypatch.delattr(torch, "_weight_int8pack_mm")
    with pytest.raises(SettingsError, match=r"'8-bit copy' cannot be used: torch .* has no kernels"):
        engine.step(run, settings)
    assert len(run.steps) == 1
    engine.step(run, replace(EXIT, strategy="prompt lookup"))


def test_a_target_of_another_vocabulary_has_no_table(pair):
    with pytest.raises(SettingsError, match=r"no table for the vocabulary of bytes_lm; make one .*table_maker"):
        engine.start(pair("bytes_lm"), PROMPT, replace(EXIT, strategy="n-gram table"))
    with pytest.raises(SpecvizError, match="no n-gram table"):
        STRATEGIES["n-gram table"].prepare(pair("bytes_lm"))


def test_a_table_drafts_by_the_last_two_tokens(pair):
    drafter = STRATEGIES["n-gram table"]
    drafter.prepare(pair("target12"))
    trace = engine.run(pair("target12"), [1, 2], replace(EXIT, strategy="n-gram table", k=1, max_new_tokens=30))
    # counted in target12's own walks it mostly knows the likeliest successor
    accepted = sum(s.count(Fate.ACCEPTED) for s in trace.steps)
    assert accepted >= len([s for s in trace.steps if s.tokens]) // 2
    assert list(trace.output_ids) == tiny.generate(tiny.folder("target12"), [1, 2], 30)
