"""Drafting with a feature head: switched to midway, at the edges of a run, and when the head itself is bad."""

from dataclasses import replace

import pytest
import torch

from specviz.core.records import Fate
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.models import head_store
from specviz.models.loading import Pair, load_model
from tests import tiny

HEAD = RunSettings(strategy="feature head", k=3, temperature=0, max_new_tokens=40)
PROMPT = [1, 2, 3, 1, 2, 4]


@pytest.fixture
def alone():
    return Pair(load_model(tiny.folder("ctx_t"), dtype="float32"), None)


def test_a_run_that_switches_to_it_and_back_keeps_the_targets_text(pair):
    plan = ["greedy", "feature head", "feature head", "none", "beam search", "feature head", "prompt lookup"]
    run = engine.start(pair("ctx_t", "ctx_d"), PROMPT, replace(HEAD, strategy="none"))
    while not run.finished(HEAD):
        step = engine.step(run, replace(HEAD, strategy=plan[len(run.steps) % len(plan)], k=len(run.steps) % 4 + 1))
        assert step.stop or step.strategy in ("none", "prompt lookup") or step.tokens
    assert run.output_ids == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


def test_the_text_is_read_again_once_on_a_switch_and_never_after_that(alone):
    run = engine.start(alone, PROMPT, replace(HEAD, strategy="none"))
    for _ in range(5):
        engine.step(run, replace(HEAD, strategy="none"))
    fed: list[int] = []
    target, read = run.readers.target, run.readers.target._pass

    def counted(*arguments):
        rows = read(*arguments)
        fed.append(target.positions)
        return rows

    target._pass = counted
    before = len(run.ids)
    first = engine.step(run, HEAD)
    assert fed == [before - 1, 1 + len(first.tokens)] and first.catch_up_s > 0
    fed.clear()
    engine.finish(run, HEAD)
    assert fed == [1 + len(step.tokens) for step in run.steps[6:]]


def test_a_run_that_starts_with_it_reads_the_prompt_once(alone):
    run = engine.start(alone, PROMPT, HEAD)
    assert run.readers.target.known(PROMPT) == len(PROMPT) - 1
    step = engine.step(run, HEAD)
    assert run.readers.target.positions == 1 + len(step.tokens) == 4


def test_a_single_token_is_read_by_the_target_first(alone):
    trace = engine.run(alone, [5], HEAD)
    assert trace.steps[0].tokens == () and trace.steps[0].draft_stop == "nothing read"
    assert trace.steps[1].tokens
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), [5], 40)


def test_room_context_and_k_zero_clip_the_draft(alone):
    assert all(not step.tokens for step in engine.run(alone, PROMPT, replace(HEAD, k=0)).steps)
    trace = engine.run(alone, PROMPT, replace(HEAD, k=30, max_new_tokens=5))
    assert len(trace.output_ids) == 5 and all(len(step.tokens) <= 4 for step in trace.steps)
    long = engine.run(alone, [1 + i % 11 for i in range(120)], replace(HEAD, max_new_tokens=500))
    assert long.stop == "context" and len(long.prompt_ids) + len(long.output_ids) == 128


@pytest.mark.parametrize("temperature", [0, 1])
def test_an_id_without_a_row_is_never_drafted_and_still_emitted(pair, temperature):
    settings = replace(HEAD, temperature=temperature, max_new_tokens=60)
    trace = engine.run(pair("padtarget16"), [0, 1], settings)
    assert trace.output_ids[:2] == (2, 15)  # 15 is the last id, which the head has no row for
    assert 15 not in {token.token_id for step in trace.steps for token in step.tokens}


def test_the_draft_carries_what_it_was_drawn_from(alone):
    hot = engine.run(alone, PROMPT, replace(HEAD, temperature=1.0))
    assert all(0 < token.draft_prob < 1 for step in hot.steps for token in step.tokens)
    cold = engine.run(alone, PROMPT, HEAD)
    assert all(token.draft_prob == 1 for step in cold.steps for token in step.tokens)


def test_a_head_that_answers_with_nan_ends_the_draft_and_not_the_run(alone, monkeypatch):
    spoilt = head_store.load_head(head_store.HEADS["head of ctx_t"], alone.target)
    with torch.no_grad():
        spoilt.network.norm.fill_(torch.nan)
    monkeypatch.setattr("specviz.drafting.feature.loaded_head", lambda target: spoilt)
    trace = engine.run(alone, PROMPT, HEAD)
    assert {step.draft_stop for step in trace.steps[:-1]} == {"draft failed: its logits are not numbers"}
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


def test_a_target_without_a_head_is_told_so_and_a_broken_head_too(pair, monkeypatch, tmp_path):
    with pytest.raises(SettingsError, match="no feature head was trained on bytes_lm; choose another strategy"):
        engine.run(pair("bytes_lm"), [1, 2], HEAD)
    monkeypatch.setattr("specviz.models.head_store.HEADS", {"broken": tmp_path})
    monkeypatch.setattr("specviz.drafting.feature.head_of", head_store.head_of)
    with pytest.raises(SettingsError, match=r"cannot be used: .* is not a feature head; train one, or choose"):
        engine.run(pair("bytes_lm"), [1, 2], HEAD)


def test_a_perfect_head_is_accepted_whole(alone, monkeypatch):
    """A head whose rows say what the target will say: all K are accepted, and the bonus comes on top."""
    right = tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)

    def logits(self, ids, last=1):
        row = torch.zeros(1, 12)
        row[0, right[len(ids) - len(PROMPT)]] = 9.0
        return row

    monkeypatch.setattr("specviz.models.head_reader.HeadReader.logits", logits)
    trace = engine.run(alone, PROMPT, HEAD)
    assert {token.fate for step in trace.steps for token in step.tokens} == {Fate.ACCEPTED}
    assert len(trace.steps) == 10
