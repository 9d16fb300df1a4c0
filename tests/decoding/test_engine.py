"""The loop, over every strategy, rule and K: what must hold whoever drafts and whoever decides."""

import json
import math
from dataclasses import replace

import pytest
import torch
from transformers import AutoTokenizer

import specviz
from specviz.core import runtime
from specviz.core.coins import coin
from specviz.core.records import ROOT, Costs, Fate
from specviz.core.sampling import to_probs
from specviz.core.settings import Knob, RunSettings, SettingsError, SpecvizError
from specviz.decoding import engine
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.metrics.rates import rejected_position
from specviz.models.cached import CachedModel
from specviz.traces.trace import Trace
from specviz.verification import RULES
from tests import tiny
from tests.conftest import table_model

LOSSLESS = [name for name, rule in RULES.items() if rule.lossless]
GREEDY = RunSettings(temperature=0, max_new_tokens=40)
PROMPT = [1, 2, 3, 1, 2, 4]


TREES = ["beam search", "dynamic tree", "sampled tree", "feature tree"]


def deepest(step):
    depth = {ROOT: 0}
    for node, token in enumerate(step.tokens):
        depth[node] = depth[token.parent] + 1
    return max(depth.values())


CHEAP = dict.fromkeys(
    ("greedy", "sampling", "beam search, width 2", "dynamic tree, children 4, tree_size 12", "prompt lookup, ngram 3"),
    Costs(0.05, ((1, 1.0), (9, 1.3))),
) | {"sampled tree, siblings 2, replacement 0": Costs(0.05)}
"""Costs under which drafting pays, so that "cost-aware" drafts; what a tiny model measures would never."""
ADAPTIVE = [name for name in LENGTHS if name != "fixed"]


def ids_of(steps):
    return [i for step in steps for i in step.emitted_ids]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("rule", LOSSLESS)
@pytest.mark.parametrize("k", [0, 1, 2, 4, 7])
def test_at_temperature_0_every_strategy_gives_the_targets_own_greedy_tokens(pair, strategy, rule, k):
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, replace(GREEDY, strategy=strategy, rule=rule, k=k))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("length", ADAPTIVE)
@pytest.mark.parametrize("k", [0, 1, 4])
def test_however_far_is_drafted_the_tokens_are_the_targets_own(pair, strategy, length, k):
    settings = replace(GREEDY, strategy=strategy, draft_length=length, k=k)
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, settings, CHEAP)
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    assert trace.stop == "length" and (k > 0 or all(s.k == 0 for s in trace.steps))
    for step in trace.steps:
        assert deepest(step) <= step.k and (length == "heuristic" or step.k <= k)
        assert step.draft_stop != "room" or len(trace.output_ids) - step.start <= step.k


@pytest.mark.parametrize(
    ("strategy", "rule", "length"),
    [(s, r, "fixed") for s in STRATEGIES for r in LOSSLESS]
    + [(s, LOSSLESS[0], n) for s in STRATEGIES for n in ADAPTIVE],
)
def test_counts_add_up_in_every_step(pair, strategy, rule, length):
    settings = RunSettings(strategy=strategy, rule=rule, k=3, max_new_tokens=30, draft_length=length)
    for temperature in (0, 1):
        trace = engine.run(pair("target12", "draft12"), [1, 2, 1], replace(settings, temperature=temperature), CHEAP)
        start = 0
        for step in trace.steps:
            accepted, rejected, untested = (step.count(f) for f in (Fate.ACCEPTED, Fate.REJECTED, Fate.UNTESTED))
            assert accepted + rejected + untested == len(step.tokens)
            assert deepest(step) <= step.k
            assert len(step.emitted_ids) == accepted + (step.extra is not None)
            resampled = step.extra is not None and step.extra.fate is Fate.RESAMPLED
            assert rejected_position(step) == resampled <= rejected
            if strategy not in TREES:
                assert deepest(step) == len(step.tokens) and rejected == resampled
            assert step.start == start and step.target_positions <= len(step.tokens) + 1 + (start == 0) * 3
            start += len(step.emitted_ids)
        assert start == 30 and trace.stop == "length"


@pytest.mark.parametrize(
    ("strategy", "length"), [(s, "fixed") for s in STRATEGIES] + [("sampling", name) for name in ADAPTIVE]
)
def test_same_seed_same_trace_other_seed_other_trace(pair, strategy, length):
    def tokens(seed):
        settings = RunSettings(strategy=strategy, seed=seed, max_new_tokens=40, draft_length=length)
        trace = engine.run(pair("target12", "draft12"), [1], settings)  # its costs measured, not given
        return [(s.asked, s.tokens, s.extra, s.emitted_ids) for s in trace.steps]

    state = torch.random.get_rng_state()
    assert tokens(1) == tokens(1) != tokens(2)
    assert torch.equal(state, torch.random.get_rng_state())  # the global generator is nobody's


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_leaves_nothing_behind_for_the_next(strategy):
    """Neither on the models, which all runs share, nor in the strategy: the first run teaches the second nothing."""

    def fresh():
        return specviz.load_pair(tiny.folder("ctx_t"), tiny.folder("ctx_d"), dtype="float32")

    def plain(trace):
        return [(s.k, s.tokens, s.extra, s.draft_stop, s.target_positions) for s in trace.steps]

    def as_loaded(model):
        own = {name: str(getattr(model, name)) for name in model.__dataclass_fields__ if name not in ("model", "codec")}
        weights = [(name, weight.data_ptr(), weight.sum().item()) for name, weight in model.model.named_parameters()]
        inside = {name: repr(value) for name, value in vars(model.model).items() if not name.startswith("_")}
        return own, weights, inside

    settings = RunSettings(strategy=strategy, k=4, max_new_tokens=30)
    both = fresh()
    before, first = [as_loaded(m) for m in (both.target, both.draft)], plain(engine.run(both, PROMPT, settings))
    engine.run(both, PROMPT, replace(settings, temperature=0, max_new_tokens=60))  # accepts far more
    assert plain(engine.run(both, PROMPT, settings)) == first
    assert [as_loaded(m) for m in (both.target, both.draft)] == before


@pytest.mark.parametrize("strategy", ["greedy", "sampling"])
def test_drafts_are_the_drafters_own_continuation_computed_without_a_cache(pair, strategy):
    both = pair("ctx_t", "ctx_d")
    trace = engine.run(both, PROMPT, RunSettings(strategy=strategy, k=3, max_new_tokens=30, temperature=0.8))
    for step in trace.steps:
        ids = PROMPT + list(trace.output_ids[: step.start])
        for position, token in enumerate(step.tokens):
            logits = both.draft.model(torch.tensor([ids])).logits[0, -1]
            if strategy == "greedy":
                expected = int(logits.argmax())
            else:
                probs = torch.softmax(logits / 0.8, -1).double().cumsum(-1)
                expected = int(
                    torch.searchsorted(probs, coin(1, step.start + position, "draft") * probs[-1], right=True)
                )
                assert token.draft_prob == pytest.approx(float(torch.softmax(logits / 0.8, -1)[expected]), rel=1e-4)
            assert token.token_id == expected
            ids = [*ids, token.token_id]


def test_shown_probabilities_are_those_of_the_tables(pair):
    target, draft = tiny.probs(tiny.target_table()), tiny.probs(tiny.draft_table())
    trace = engine.run(pair("target12", "draft12"), [1], RunSettings(k=3, max_new_tokens=40))
    ids = [1, *trace.output_ids]
    for step in trace.steps:
        current = ids[step.start]
        for token in step.tokens:
            q = draft[current, token.token_id].item()
            assert token.draft_prob == pytest.approx(q, rel=1e-4) and token.drafter_prob == pytest.approx(q, rel=1e-4)
            p = target[current, token.token_id].item()
            assert token.target_prob == pytest.approx(p, rel=1e-4) == token.verifier_prob
            if token.fate is not Fate.UNTESTED:
                assert token.accept_prob == pytest.approx(min(1, p / q), rel=1e-3)
                assert (token.coin < token.accept_prob) == (token.fate is Fate.ACCEPTED)
            current = token.token_id
        for position in step.positions:
            at = ids[step.start] if position.node == -1 else step.tokens[position.node].token_id
            if position.overlap is not None:
                assert position.overlap == pytest.approx(tiny.overlap()[at].item(), abs=1e-5)
            assert sum(c.target_prob for c in position.candidates) + position.target_tail == pytest.approx(1, abs=1e-5)
        at = ids[step.start + len(step.emitted_ids) - 1]
        assert step.extra.target_prob == pytest.approx(target[at, step.extra.token_id].item(), rel=1e-4)


@pytest.mark.parametrize("strategy", ["sampling", "sampled tree", "beam search", "dynamic tree"])
def test_an_untested_token_has_the_targets_probability_and_no_verdict(tables, strategy):
    settings = RunSettings(strategy=strategy, k=4, temperature=0.8, top_p=0.9, top_k=7, max_new_tokens=40)
    own, target = tiny.probs(tiny.target_table()), to_probs(tiny.target_table(), 0.8, 7, 0.9)
    trace, untested = engine.run(tables, [1], settings), 0
    ids = [1, *trace.output_ids]
    for step in trace.steps:
        for token in step.tokens:
            before = ids[step.start] if token.parent == ROOT else step.tokens[token.parent].token_id
            assert token.target_prob == pytest.approx(target[before, token.token_id].item(), abs=1e-6)
            assert token.verifier_prob == pytest.approx(own[before, token.token_id].item(), abs=1e-6)
            verdict = (token.accept_prob, token.coin)
            assert (verdict == (None, None)) == (token.fate is Fate.UNTESTED)
            untested += token.fate is Fate.UNTESTED
    assert untested > 10


def test_k_strategy_rule_and_temperature_can_change_between_steps(pair):
    schedule = [
        RunSettings(strategy="sampling", k=2),
        RunSettings(strategy="greedy", k=5),
        RunSettings(strategy="none"),
        RunSettings(strategy="prompt lookup", k=3, rule="token matching"),
        RunSettings(strategy="greedy", k=0, temperature=0),
    ]
    turns = iter(schedule * 4)
    made = [
        step
        for step, _ in zip(specviz.steps(pair("ctx_t", "ctx_d"), PROMPT, lambda: next(turns)), range(15), strict=False)
    ]
    assert [(s.strategy, s.k) for s in made[:5]] == [(s.strategy, s.k) for s in schedule]
    assert len(made[1].tokens) == 5 and not made[2].tokens and not made[4].tokens


def test_switching_strategy_at_temperature_0_never_changes_the_text(pair):
    names = iter(list(STRATEGIES) * 40)
    made = specviz.steps(pair("ctx_t", "ctx_d"), PROMPT, lambda: replace(GREEDY, strategy=next(names)))
    assert ids_of(made) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_the_k_that_is_set_is_the_k_that_is_drafted(pair, k):
    trace = engine.run(pair("cycle12", "cycle12"), [0], replace(GREEDY, strategy="greedy", k=k, max_new_tokens=45))
    full = [len(s.tokens) for s in trace.steps if s.draft_stop == "k"]
    assert set(full) == {k} and all(s.draft_stop in ("k", "room") for s in trace.steps)
    assert all(len(s.emitted_ids) == k + 1 for s in trace.steps if s.draft_stop == "k")


WIDE = {"delta": {"epsilon": 0.9}, "epsilon": {"delta": 1}}
"""Of two bounds the lower one counts: the other must be out of the way to be seen."""

CHANGES = {
    "strategy": ("greedy", "none"),
    "draft_length": ("fixed", "heuristic"),
    "k": (2, 5),
    "temperature": (0.5, 2.0),
    "top_k": (0, 2),
    "top_p": (1.0, 0.4),
    "repetition_penalty": (1.0, 3.0),
    "rule": ("speculative sampling", "token matching"),
    "max_new_tokens": (20, 25),
    "stop": ((), ("w3",)),
    "seed": (1, 2),
    "chat": (False, True),
}


@pytest.mark.parametrize("name", [n for n in RunSettings.__dataclass_fields__ if n != "options"])
def test_every_setting_changes_what_a_run_does(name):
    chat = "w4 {% for m in messages %}{{ m['content'] }}{% endfor %}"
    both = specviz.load_pair(tiny.folder("target12", chat=chat), tiny.folder("draft12"), dtype="float32")
    made = []
    for value in CHANGES[name]:
        trace = engine.run(both, "w1 w2", replace(RunSettings(k=3, max_new_tokens=20), **{name: value}))
        made.append((trace.prompt_ids, [(s.tokens, s.extra) for s in trace.steps]))
    assert made[0] != made[1]


@pytest.mark.parametrize(
    ("strategy", "length", "name"),
    [(s, "fixed", name) for s, strategy in STRATEGIES.items() for name in strategy.knobs]
    + [("sampling", length, name) for length, entry in LENGTHS.items() for name in entry.knobs],
)
def test_every_knob_changes_what_is_drafted(pair, strategy, length, name):
    knob = {**STRATEGIES[strategy].knobs, **LENGTHS[length].knobs}[name]
    made = set()
    for value in {knob.low, knob.high, *(min(knob.high, knob.low + n * knob.step) for n in (1, 2))}:
        settings = RunSettings(strategy=strategy, draft_length=length, k=4, max_new_tokens=40, options={name: value})
        if STRATEGIES[strategy].objection(pair("ctx_t", "ctx_d"), settings) is None:
            made.add(tuple(s.tokens for s in engine.run(pair("ctx_t", "ctx_d"), PROMPT, settings).steps))
    assert len(made) > 1


@pytest.mark.parametrize(("rule", "name"), [(r, name) for r, rule in RULES.items() for name in rule.knobs])
def test_every_knob_of_a_rule_changes_what_is_accepted(pair, rule, name):
    knob, made = RULES[rule].knobs[name], set()
    for value in (knob.low, knob.high):
        settings = RunSettings(
            rule=rule, k=4, max_new_tokens=40, temperature=3, options={name: value, **WIDE.get(name, {})}
        )
        trace = engine.run(pair("target12", "draft12"), PROMPT, settings)
        made.add(trace.output_ids)
        assert trace.pair["lossless"] is RULES[rule].lossless
    assert len(made) == 2


@pytest.mark.parametrize("length", ADAPTIVE)
def test_nothing_of_a_draft_length_leaks_into_the_next_run(pair, length):
    both = pair("cycle12", "cycle12")
    settings = replace(GREEDY, strategy="greedy", k=3, draft_length=length)
    first = engine.run(both, [0], settings, CHEAP)
    state = {name: id(value) for name, value in vars(both.target.model).items()}
    again, other = engine.start(both, [0], settings, CHEAP), engine.start(both, [0], replace(settings, k=5), CHEAP)
    asked = [[], []]
    while not again.finished(settings) or not other.finished(settings):  # two visitors, step by step
        for run, k, seen in ((again, 3, asked[0]), (other, 5, asked[1])):
            if not run.finished(settings):
                seen.append(engine.step(run, replace(settings, k=k)).k)
    assert asked[0] == [s.k for s in first.steps]
    assert (asked[0][0], asked[1][0]) == ((2, 2) if length == "cost-aware" else (3, 5))
    assert {name: id(value) for name, value in vars(both.target.model).items()} == state


@pytest.mark.parametrize("length", LENGTHS)
def test_a_new_draft_length_k_or_strategy_in_mid_run_holds_from_the_next_step(pair, length):
    settings = replace(GREEDY, strategy="sampling", temperature=1, draft_length="fixed", k=2)
    run = engine.start(pair("target12", "draft12"), [1], settings, CHEAP)
    for changes in ({}, {"draft_length": length}, {"draft_length": length, "k": 7}, {"draft_length": length, "k": 0}):
        for _ in range(2):
            engine.step(run, replace(settings, **changes))
    asked = [s.k for s in run.steps]
    assert asked[:2] == [2, 2] and asked[-2:] == [0, 0]
    if length != "cost-aware":
        assert (asked[2], asked[4]) == (2, 7)
    assert [s.settings.draft_length for s in run.steps] == ["fixed"] * 2 + [length] * 6


@pytest.mark.parametrize("length", ADAPTIVE)
def test_stopping_and_one_token_runs_are_the_same_however_far_is_drafted(pair, length):
    for strategy in ("greedy", "sampled tree"):
        one = engine.run(
            pair("ctx_t", "ctx_d"),
            PROMPT,
            replace(GREEDY, strategy=strategy, draft_length=length, max_new_tokens=1),
            CHEAP,
        )
        assert len(one.output_ids) == len(one.steps) == 1 and one.steps[0].draft_stop in ("room", "none")
        settings = replace(GREEDY, strategy=strategy, k=8, stop=("w3 w4",), draft_length=length)
        trace = engine.run(pair("cycle12", "cycle12"), [0], settings, CHEAP)
        assert trace.stop == "stop string" and trace.text.split() == ["w1", "w2"]
        ending = specviz.load_pair(tiny.folder("cycle12", eos=4), tiny.folder("cycle12"), dtype="float32")
        trace = engine.run(ending, [0], replace(GREEDY, strategy=strategy, k=8, draft_length=length), CHEAP)
        assert (list(trace.output_ids), trace.stop) == ([1, 2, 3, 4], "eos")


def test_the_same_model_as_target_and_draft_accepts_everything(pair):
    both = pair("ctx_t", "ctx_t")
    assert both.draft is both.target
    trace = engine.run(both, PROMPT, replace(GREEDY, strategy="greedy"))
    assert all(t.fate is Fate.ACCEPTED for s in trace.steps for t in s.tokens)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_repetition_penalty_gives_the_tokens_of_the_target_alone(pair, strategy):
    settings = replace(GREEDY, strategy=strategy, repetition_penalty=1.5, max_new_tokens=12)
    trace = engine.run(pair("target12", "draft12"), [0], settings)
    assert list(trace.output_ids) == tiny.generate(tiny.folder("target12"), [0], 12, repetition_penalty=1.5)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_end_token_runs_to_the_limit(pair, strategy):
    trace = engine.run(pair("cycle12", "cycle12"), [0], replace(GREEDY, strategy=strategy, max_new_tokens=12))
    assert (len(trace.output_ids), trace.stop) == (12, "length")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", [4, 5, 20])
def test_an_end_token_inside_a_draft_ends_the_run_there(strategy, limit):
    both = specviz.load_pair(tiny.folder("cycle12", eos=4), tiny.folder("cycle12"), dtype="float32")
    trace = engine.run(both, [0, 1, 2, 3, 4, 5, 0], replace(GREEDY, strategy=strategy, k=8, max_new_tokens=limit))
    assert (list(trace.output_ids), trace.stop) == ([1, 2, 3, 4], "eos")  # eos wins over length on the last position
    assert trace.text.split() == ["w1", "w2", "w3"]
    last = trace.steps[-1]
    assert len(last.emitted_ids) == last.count(Fate.ACCEPTED) + (last.extra is not None)


def test_a_drafts_own_end_token_ends_only_that_draft():
    both = specviz.load_pair(tiny.folder("cycle12"), tiny.folder("cycle12", eos=2), dtype="float32")
    trace = engine.run(both, [0], replace(GREEDY, strategy="greedy", k=8, max_new_tokens=14))
    assert (len(trace.output_ids), trace.stop) == (14, "length")
    assert trace.steps[0].draft_stop == "end token" and len(trace.steps[0].tokens) == 2
    assert trace.steps[0].extra.fate is Fate.BONUS  # to the target it is a token like any other
    both = specviz.load_pair(tiny.folder("cycle12", eos=4), tiny.folder("cycle12", eos=2), dtype="float32")
    trace = engine.run(both, [0], replace(GREEDY, strategy="greedy", k=8, max_new_tokens=14))
    assert (list(trace.output_ids), trace.stop) == ([1, 2, 3, 4], "eos")


def test_the_text_so_far_is_the_tokenizers_one_decode_of_all_ids(pair):
    both, tokenizer = pair("pieces_lm"), AutoTokenizer.from_pretrained(tiny.folder("pieces_lm"))
    settings = RunSettings(strategy="prompt lookup", max_new_tokens=60, temperature=3, top_k=5)
    run = engine.start(both, "the cat sat the cat", settings)
    joined = ""
    while not run.finished(settings):
        step = engine.step(run, settings)
        joined += both.target.codec.decode(step.emitted_ids)
        assert run.text == tokenizer.decode(run.output_ids, skip_special_tokens=True)
    assert run.text == run.trace().text != joined  # steps decoded one by one lose blanks and split characters


@pytest.mark.parametrize("stop", ["w3 w4", "w3"])
def test_stop_strings_cut_where_the_target_alone_is_cut(pair, stop):
    settings = replace(GREEDY, strategy="greedy", k=8, stop=(stop,))
    trace = engine.run(pair("cycle12", "cycle12"), [0], settings)
    alone = engine.run(pair("cycle12", "cycle12"), [0], replace(settings, strategy="none"))
    assert (
        trace.text == alone.text and trace.output_ids == alone.output_ids and trace.stop == alone.stop == "stop string"
    )
    assert stop not in trace.text
    last = trace.steps[-1]
    assert last.extra is None and last.count(Fate.UNTESTED) == len(last.tokens) - len(last.emitted_ids) > 0


def test_a_stop_string_set_in_mid_run_does_not_reach_back(pair):
    settings = replace(GREEDY, strategy="greedy", k=2)
    run = engine.start(pair("cycle12", "cycle12"), [0], settings)
    for _ in range(3):
        engine.step(run, settings)
    late = replace(settings, stop=("w3",))
    engine.finish(run, late)
    assert run.stop == "stop string" and len(run.output_ids) == 12 + 3
    assert run.text.split()[-1] == "w2" and run.text.count("w3") == 1


def test_the_context_ends_a_run_cleanly(pair):
    trace = engine.run(pair("gpt2pos32"), list(range(12)) * 2 + [1, 2, 3, 4], replace(GREEDY, strategy="prompt lookup"))
    assert (len(trace.output_ids), trace.stop) == (4, "context")


@pytest.mark.parametrize("strategy", ["none", "prompt lookup"])
def test_a_position_code_that_would_switch_ends_the_run_before_it_does(pair, strategy):
    prompt = [1, 2, 3, 1, 2, 4] * 2
    trace = engine.run(pair("longrope"), prompt, replace(GREEDY, strategy=strategy, max_new_tokens=12))
    assert (len(trace.output_ids), trace.stop) == (4, "context")
    assert list(trace.output_ids) == tiny.generate(tiny.folder("longrope"), prompt, 4)
    assert any("16 tokens" in note for note in trace.pair["notes"])


def test_a_draft_with_a_shorter_context_is_left_out_where_it_ends():
    both = specviz.load_pair(tiny.folder("ctx_t"), tiny.folder("gpt2pos32"), dtype="float32")
    trace = engine.run(both, PROMPT, replace(GREEDY, strategy="greedy"))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    alone = [s for s in trace.steps if s.draft_stop == "draft context" and not s.tokens]
    assert alone and all(len(s.emitted_ids) == 1 for s in alone)
    long = engine.run(both, PROMPT * 7, replace(GREEDY, strategy="greedy", max_new_tokens=5))
    assert list(long.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT * 7, 5)


def test_a_prompt_longer_than_the_context_is_an_error_with_both_numbers(pair):
    with pytest.raises(SpecvizError, match=r"40 tokens.* 32 tokens"):
        engine.start(pair("gpt2pos32"), [1] * 40, GREEDY)


@pytest.mark.parametrize("prompt", ["", [], " "])
def test_an_empty_prompt_without_a_start_token_is_told_what_to_do(pair, prompt):
    with pytest.raises(SpecvizError, match="Type a prompt"):
        engine.start(pair("target12"), prompt, GREEDY)


@pytest.mark.parametrize("ids", [[12], [-1], [1.5], ["x"], [True], [None]])
def test_token_ids_out_of_range_are_errors(pair, ids):
    with pytest.raises(SpecvizError, match="whole numbers from 0 to 11"):
        engine.start(pair("target12"), ids, GREEDY)


def test_the_target_may_emit_an_id_that_nobody_named():
    both = specviz.load_pair(tiny.folder("padtarget16"), tiny.folder("draft12"), dtype="float32")
    for strategy in STRATEGIES:
        trace = engine.run(both, [0], replace(GREEDY, strategy=strategy, max_new_tokens=5))
        assert list(trace.output_ids) == [1, 2, 15, 4, 5]
        assert any("15" in t.text for s in trace.steps for t in [*s.tokens, s.extra] if t and t.token_id == 15)


def test_the_target_is_fed_only_new_positions(pair):
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, RunSettings(strategy="sampling", k=4, max_new_tokens=100))
    assert max(s.target_positions for s in trace.steps) <= 5


@pytest.mark.parametrize(
    ("name", "chunk", "expected"),
    # 47 positions before the last: never one alone; a model that is read afresh each time has nothing to keep
    [("ctx_t", 15, [15, 15, 15, 2]), ("ctx_t", 23, [23, 24]), ("recurrent", 15, [0])],
)
def test_a_long_prompt_is_read_in_pieces_to_the_same_result(pair, monkeypatch, name, chunk, expected):
    prompt = PROMPT * 8
    whole = engine.run(pair(name, "ctx_d"), prompt, replace(GREEDY, strategy="greedy", max_new_tokens=12))
    monkeypatch.setattr(engine, "CHUNK", chunk)
    run = engine.begin(pair(name, "ctx_d"), prompt, GREEDY)
    assert run.prefill_s == 0
    pieces = []
    while engine.read(run):
        pieces.append(run.readers.target.positions)
    pieces.append(run.readers.target.positions)
    assert pieces == expected and run.prefill_s > 0
    parts = engine.run(pair(name, "ctx_d"), prompt, replace(GREEDY, strategy="greedy", max_new_tokens=12))
    assert parts.output_ids == whole.output_ids
    assert [s.target_positions for s in parts.steps] == [s.target_positions for s in whole.steps]


def test_every_phase_has_the_time_of_its_own_passes_and_of_nothing_else(tables, monkeypatch):
    """On a clock that only passes of a model move: 100 for one of the target, 1 for one of the draft."""
    now = [0.0]

    def clocked(name, table, seconds):
        model = table_model(name, table)
        plain = model.model.forward

        def forward(input_ids, logits_to_keep=0):
            now[0] += seconds
            return plain(input_ids, logits_to_keep)

        model.model.forward = forward
        return model

    monkeypatch.setattr(runtime, "perf_counter", lambda: now[0])
    both = type(tables)(clocked("slow", tiny.target_table(), 100), clocked("quick", tiny.draft_table(), 1))
    settings = RunSettings(strategy="greedy", k=3, max_new_tokens=30)
    run = engine.start(both, [1, 2], settings)
    now[0] += 1000  # somebody looks at it for a while: drawing and pauses lie between the steps
    while not run.finished(settings):
        drafted = len((made := engine.step(run, settings)).tokens)
        assert (made.draft_s, made.verify_s, made.other_s, made.catch_up_s) == (drafted, 100, 0, 0)
        assert made.step_s == drafted + 100  # once a step, however many tokens it gave
        now[0] += 1000
    assert run.prefill_s == 0  # read afresh at each pass


def test_reading_a_text_for_the_first_time_is_not_drafting(pair, monkeypatch):
    """On a clock that counts positions computed: what a cache had not seen is prefill or catching up."""
    now = [0.0]
    plain = CachedModel._pass

    def counted(self, *args):
        out = plain(self, *args)
        now[0] += self.positions
        return out

    monkeypatch.setattr(CachedModel, "_pass", counted)
    monkeypatch.setattr(runtime, "perf_counter", lambda: now[0])
    alone, greedy = replace(GREEDY, strategy="none"), replace(GREEDY, strategy="greedy", k=2)
    run = engine.start(pair("ctx_t", "ctx_d"), PROMPT, alone)
    assert run.prefill_s == len(PROMPT) - 1
    for _ in range(5):
        assert (made := engine.step(run, alone)).step_s == made.verify_s == 1
    first, second = engine.step(run, greedy), engine.step(run, greedy)
    assert (first.catch_up_s, first.draft_s, first.verify_s) == (len(PROMPT) + 4, 2, 3)
    assert second.catch_up_s == 0 and second.draft_s <= 3 and second.verify_s == 3


def test_names_that_do_not_exist_and_strategies_that_do_not_fit(pair):
    with pytest.raises(SettingsError, match=r"no strategy named 'magic'.*sampling"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="magic"))
    with pytest.raises(SettingsError, match="no rule named"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="none", rule="magic"))
    with pytest.raises(SettingsError, match=r"no draft model.*prompt lookup"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="greedy"))
    with pytest.raises(SettingsError, match="No strategy has a knob"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="none", options={"magic": 1}))
    with pytest.raises(SettingsError, match="n-gram must be"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="prompt lookup", options={"ngram": 99}))


def test_a_knob_is_checked_against_the_range_of_the_strategy_that_is_chosen(pair, monkeypatch):
    narrow = Knob("width", 1, 1, 2, 1, "", whole=True)
    monkeypatch.setitem(STRATEGIES, "greedy", replace(STRATEGIES["greedy"], knobs={"width": narrow}))
    for strategy, beyond in (("greedy", 3), ("beam search", 9), ("none", 9)):
        chosen = replace(GREEDY, strategy=strategy)
        engine.check(pair("ctx_t", "ctx_d"), replace(chosen, options={"width": beyond - 1}))
        with pytest.raises(SettingsError, match="width must be"):
            engine.check(pair("ctx_t", "ctx_d"), replace(chosen, options={"width": beyond}))


def test_a_bad_setting_in_mid_run_keeps_the_run(pair):
    run = engine.start(pair("target12"), [1], replace(GREEDY, strategy="none"))
    engine.step(run, replace(GREEDY, strategy="none"))
    with pytest.raises(SettingsError):
        engine.step(run, replace(GREEDY, strategy="greedy"))
    assert len(run.steps) == len(run.output_ids) == 1
    engine.step(run, replace(GREEDY, strategy="none"))
    assert len(run.steps) == 2


def test_a_run_is_advanced_by_pieces_of_its_prompt_and_then_by_steps(pair, monkeypatch):
    monkeypatch.setattr(engine, "CHUNK", 2)
    settings = replace(GREEDY, strategy="greedy", max_new_tokens=12)
    run, seen = engine.begin(pair("ctx_t", "ctx_d"), PROMPT * 3, settings), []
    while engine.advance(run, settings):
        seen.append((run.read, len(run.steps)))
    pieces = sum(not read for read, _ in seen)
    assert pieces > 1 and seen[pieces:] == [(True, made) for made in range(len(run.steps))]
    assert run.output_ids == list(engine.run(run.pair, PROMPT * 3, settings).output_ids)
    assert not engine.advance(run, settings) and len(run.steps) == len(seen) - pieces


def test_a_run_ended_by_length_goes_on_when_the_limit_is_raised(pair):
    short = replace(GREEDY, strategy="none", max_new_tokens=2)
    run = engine.start(pair("cycle12"), [0], short)
    engine.finish(run, short)
    assert run.stop == "length"
    with pytest.raises(SpecvizError, match="ended"):
        engine.step(run, short)
    engine.step(run, replace(short, max_new_tokens=3))
    assert run.output_ids == [1, 2, 3]


def test_lookup_judges_its_first_token_by_the_logits_before_it(pair):
    trace = engine.run(pair("ctx_t"), [1, 1, 1], replace(GREEDY, strategy="prompt lookup", k=1, max_new_tokens=5))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), [1, 1, 1], 5)
    first = trace.steps[0].tokens[0]
    assert first.token_id == 1 and first.fate is Fate.REJECTED
    after = torch.softmax(CachedModel(pair("ctx_t").target).logits([1, 1, 1])[0], -1)
    assert first.verifier_prob == pytest.approx(float(after[1]), abs=1e-5)


def test_nan_from_the_target_is_an_error_and_from_the_draft_ends_the_draft(tables):
    bad = tiny.draft_table().clone()
    bad[5] = math.nan
    broken = table_model("broken", bad)
    trace = engine.run(type(tables)(tables.target, broken), [5], replace(GREEDY, strategy="greedy", max_new_tokens=3))
    assert len(trace.output_ids) == 3 and "not numbers" in trace.steps[0].draft_stop
    run = engine.start(type(tables)(broken, None), [1, 5], replace(GREEDY, strategy="none"))
    with pytest.raises(SpecvizError, match=r"broken in float32 .*NaN"):
        engine.step(run, replace(GREEDY, strategy="none"))
    assert not run.steps and not run.output_ids


def test_a_trace_is_strict_json_and_comes_back_the_same(pair):
    trace = engine.run(pair("target12", "draft12"), [1, 2], RunSettings(k=2, max_new_tokens=9, stop=("zzz",)))
    text = trace.to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(name))
    again = Trace.from_json(text)
    assert again.output_ids == trace.output_ids and again.to_json() == text
    assert [s.settings for s in again.steps] == [s.settings for s in trace.steps]


def test_raising_the_temperature_raises_the_variety(tables):
    def firsts(temperature):
        settings = RunSettings(strategy="sampling", k=1, max_new_tokens=1, temperature=temperature)
        return {engine.run(tables, [0], replace(settings, seed=seed)).output_ids[0] for seed in range(300)}

    assert len(firsts(0)) == 1 < len(firsts(0.5)) <= len(firsts(1)) <= len(firsts(3))


EDGES = [
    {"temperature": 0},
    {"temperature": 1e-6},
    {"temperature": 100},
    {"top_p": 0},
    {"top_p": 1},
    {"top_k": 0},
    {"top_k": 1},
    {"top_k": 12},
    {"top_k": 10**6},
]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("edge", EDGES, ids=str)
def test_settings_at_their_edges_give_whole_runs(tables, strategy, edge):
    settings = RunSettings(strategy=strategy, k=3, max_new_tokens=12)
    trace = engine.run(tables, [0, 1, 0], replace(settings, **edge))
    assert len(trace.output_ids) == 12
    json.loads(trace.to_json(), parse_constant=lambda name: pytest.fail(name))
    greedy = engine.run(tables, [0, 1, 0], RunSettings(strategy="none", temperature=0, max_new_tokens=12))
    if edge in ({"temperature": 0}, {"temperature": 1e-6}, {"top_p": 0}, {"top_k": 1}):  # one token is left
        assert trace.output_ids == greedy.output_ids
    elif "temperature" not in edge:  # off
        assert trace.output_ids == engine.run(tables, [0, 1, 0], settings).output_ids


@pytest.mark.parametrize("seed", [1, 2])
def test_a_tree_pass_equals_a_pass_over_each_branch(pair, seed):
    target = pair("ctx_t").target
    tokens, parents = [3, 5, 7, 2, 9, 1], [-1, -1, 0, 0, 1, 3]
    reader = CachedModel(target)
    reader.catch_up(PROMPT)
    rows = reader.tree_logits(PROMPT, tokens, parents)
    ways = {0: [3], 1: [5], 2: [3, 7], 3: [3, 2], 4: [5, 9], 5: [3, 2, 1]}
    for node, way in ways.items():
        assert torch.allclose(rows[node + 1], CachedModel(target).logits(PROMPT + way)[0], atol=2e-4)
    # only the winning branch stays in the cache, and what is read after it is right
    after = [*PROMPT, 3, 2, 1, 8]
    assert torch.allclose(reader.logits(after)[0], CachedModel(target).logits(after)[0], atol=2e-4)
    assert reader.positions == 1
