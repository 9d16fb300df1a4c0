"""Sampled trees: what each sibling was drawn from, and whole runs against the target's distribution."""

from dataclasses import replace

import pytest
import torch

import specviz
from specviz.core.coins import coins_of
from specviz.core.records import ROOT, Fate
from specviz.core.sampling import to_probs
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.drafting import STRATEGIES
from specviz.drafting.base import Readers
from specviz.drafting.tree import MAX_NODES
from specviz.models.cached import CachedModel
from specviz.verification import RULES
from tests import tiny
from tests.chi_squared import FILTERS, p_value

LOSSLESS = [name for name, rule in RULES.items() if rule.lossless]
ONE_ALWAYS = [LOSSLESS[0], *(pytest.param(rule, marks=pytest.mark.slow) for rule in LOSSLESS[1:])]
PROMPT = [1, 2, 3, 1, 2, 4]
TREE = RunSettings(strategy="sampled tree", max_new_tokens=40)


def tree(siblings, replacement=0, **more):
    return replace(TREE, options={"siblings": siblings, "replacement": replacement}, **more)


def drafted(pair, ids, settings, coins=None, start=0, strategy="sampled tree"):
    readers = Readers(CachedModel(pair.target), CachedModel(pair.draft, pair.target.vocab_size))
    drafter = STRATEGIES[strategy].start(readers)
    return drafter.propose(ids, settings.k, settings, coins or coins_of(settings.seed), start)


def test_only_the_first_of_the_siblings_is_continued(pair):
    draft = drafted(pair("ctx_t", "ctx_d"), PROMPT, tree(3, k=3))
    assert draft.parents == (ROOT, ROOT, ROOT, 0, 0, 0, 3, 3, 3) and draft.stop == "k"


@pytest.mark.parametrize("replacement", [0, 1])
def test_each_sibling_carries_the_distribution_that_it_was_drawn_from(tables, replacement):
    table = to_probs(tiny.draft_table(), 0.8, 6, 0.9)
    for seed in range(20):
        settings = tree(4, replacement, k=2, temperature=0.8, top_k=6, top_p=0.9, seed=seed)
        draft = drafted(tables, [3], settings)
        for node, parent in enumerate(draft.parents):
            expected = table[3 if parent == ROOT else draft.token_ids[parent]].clone()
            before = [draft.token_ids[n] for n in range(node) if draft.parents[n] == parent]
            if not replacement:
                expected[before] = 0
                assert draft.token_ids[node] not in before
            assert torch.allclose(draft.probs[node], expected / expected.sum(), atol=1e-6)


def test_equal_draws_stay_separate_siblings(tables):
    seen = [drafted(tables, [3], tree(4, 1, k=1, seed=seed)).token_ids for seed in range(30)]
    assert all(len(tokens) == 4 for tokens in seen) and any(len(set(tokens)) < 4 for tokens in seen)


@pytest.mark.parametrize("strategy", ["sampled tree", "beam search"])
@pytest.mark.parametrize("rule", LOSSLESS)
def test_a_position_says_how_likely_one_of_its_siblings_was_to_be_taken(tables, strategy, rule):
    """By hand: each sibling's chance among what is left when all before it were rejected."""
    target = to_probs(tiny.target_table())
    options = {"siblings": 3} if strategy == "sampled tree" else {"width": 3}
    settings = RunSettings(strategy=strategy, rule=rule, k=2, max_new_tokens=60, options=options)
    run, several = engine.start(tables, [3], settings), 0
    while not run.finished(settings):
        ids = run.ids
        step = engine.step(run, settings)
        draft = drafted(tables, ids, settings, start=step.start, strategy=strategy)
        for position in step.positions:
            siblings = [n for n, t in enumerate(step.tokens) if t.parent == position.node]
            if len(siblings) < 2:
                assert position.accept_prob is None
                continue
            several += 1
            row = target[ids[-1] if position.node == ROOT else step.tokens[position.node].token_id]
            left, rejected = row, 1.0
            for n in siblings:
                token, q = step.tokens[n].token_id, draft.probs[n]
                kept = float(left[token]) if rule == "token matching" else min(1.0, float(left[token] / q[token]))
                rejected *= 1 - kept
                rest = left.index_fill(0, torch.tensor([token]), 0.0)
                left = rest if rule == "token matching" else (left - q).clamp_min(0)
                left = left / left.sum().clamp_min(1e-9)
            assert position.accept_prob == pytest.approx(1 - rejected, abs=1e-4)
            if strategy == "beam search":  # point masses: as likely as all of them together
                chosen = row[[step.tokens[n].token_id for n in siblings]].sum()
                assert position.accept_prob == pytest.approx(float(chosen), abs=1e-5)
            overlap = torch.minimum(row, draft.probs[siblings[0]]).sum()
            assert position.overlap == pytest.approx(float(overlap), abs=1e-5)
    assert several > 10


def test_siblings_run_out_where_the_filters_leave_fewer(tables):
    draft = drafted(tables, [3], tree(4, 0, k=2, top_k=2))
    assert draft.parents == (ROOT, ROOT, 0, 0)
    assert drafted(tables, [3], tree(4, 0, k=3, temperature=0)).parents == (ROOT, 0, 1)  # one-hot: a chain


def test_no_coin_is_used_twice(tables):
    asked = []

    def spy(position, purpose, sibling):
        asked.append((position, purpose, sibling))
        return coins_of(1)(position, purpose, sibling)

    drafted(tables, [3], tree(3, k=3), spy, start=10)
    assert asked == [(10 + position, "draft", sibling) for position in range(3) for sibling in range(3)]


def test_one_sibling_is_the_sampling_strategy_coin_for_coin(pair):
    both = pair("ctx_t", "ctx_d")
    one = engine.run(both, PROMPT, tree(1, k=3))
    chain = engine.run(both, PROMPT, replace(TREE, strategy="sampling", k=3))
    assert [(s.tokens, s.extra, s.positions) for s in one.steps] == [
        (s.tokens, s.extra, s.positions) for s in chain.steps
    ]


@pytest.mark.parametrize("rule", ONE_ALWAYS)
@pytest.mark.parametrize("replacement", [0, 1])
@pytest.mark.parametrize(
    ("siblings", "k", "filters"),
    [
        (2, 2, "top-k and top-p"),
        pytest.param(2, 1, "plain", marks=pytest.mark.slow),
        pytest.param(3, 2, "plain", marks=pytest.mark.slow),
        pytest.param(3, 2, "temperature 2", marks=pytest.mark.slow),
    ],
)
def test_whole_runs_have_the_targets_distribution(tables, rule, replacement, siblings, k, filters):
    settings = tree(siblings, replacement, k=k, rule=rule, max_new_tokens=3)
    assert p_value(tables, replace(settings, **FILTERS[filters])) > 1e-4


def test_the_test_can_fail_siblings_judged_as_if_each_were_the_first(tables, monkeypatch):
    rule = RULES["speculative sampling"]

    def forgetful(token, target, draft):
        left = rule.residual(token, target, draft)
        return left if draft.gt(0).sum() < tiny.WORDS else target  # the first sibling leaves everything

    monkeypatch.setitem(RULES, "speculative sampling", replace(rule, residual=forgetful))
    assert p_value(tables, tree(2, k=2, max_new_tokens=3)) < 1e-4


def test_the_test_can_fail_siblings_without_replacement_judged_as_if_with(tables, monkeypatch):
    entry = STRATEGIES["sampled tree"]

    def careless(readers):
        drafter = entry.start(readers)

        def propose(*args):
            draft = drafter.propose(*args)
            firsts = {parent: draft.probs[draft.parents.index(parent)] for parent in draft.parents}
            return replace(draft, probs=tuple(firsts[parent] for parent in draft.parents))

        return replace(drafter, propose=propose)

    monkeypatch.setitem(STRATEGIES, "sampled tree", replace(entry, start=careless))
    assert p_value(tables, tree(3, k=2, max_new_tokens=3)) < 1e-4


@pytest.mark.parametrize("siblings", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("replacement", [0, 1])
def test_at_temperature_0_it_gives_the_targets_own_greedy_tokens(pair, siblings, k, replacement):
    for rule in LOSSLESS:
        trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, tree(siblings, replacement, k=k, rule=rule, temperature=0))
        assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)


def test_a_later_sibling_that_is_taken_ends_in_a_bonus(pair):
    later = 0
    for seed in range(10):
        trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, tree(3, k=2, seed=seed))
        for step in trace.steps:
            path = [n for n, t in enumerate(step.tokens) if t.fate is Fate.ACCEPTED]
            leaf = bool(path) and path[-1] not in [t.parent for t in step.tokens]
            assert (step.extra.fate is Fate.BONUS) == (leaf or not step.tokens)
            later += leaf and step.tokens[path[-1]].parent == ROOT
            assert step.target_positions <= len(step.tokens) + 1 + (step.start == 0) * len(PROMPT)
    assert later > 0


def test_the_penalty_sees_the_branch_and_nothing_else(pair):
    settings = tree(3, 1, k=4, temperature=0, repetition_penalty=1.5, max_new_tokens=12)
    trace = engine.run(pair("target12", "draft12"), [0], settings)
    assert list(trace.output_ids) == tiny.generate(tiny.folder("target12"), [0], 12, repetition_penalty=1.5)


def test_an_end_token_on_the_spine_keeps_its_siblings():
    both = specviz.load_pair(tiny.folder("target12"), tiny.folder("draft12", eos=7), dtype="float32")
    ended = [d for seed in range(40) if (d := drafted(both, [0], tree(2, k=4, seed=seed))).stop == "end token"]
    assert ended
    for draft in ended:
        last = [n for n, parent in enumerate(draft.parents) if parent == draft.parents[-1]]
        assert draft.token_ids[last[0]] == 7 and len(last) == 2


def test_an_end_token_among_the_siblings_ends_the_run():
    both = specviz.load_pair(tiny.folder("target12", eos=7), tiny.folder("draft12"), dtype="float32")
    traces = [engine.run(both, [0], tree(3, k=3, seed=seed)) for seed in range(20)]
    ended = [trace for trace in traces if trace.stop == "eos"]
    assert any(trace.steps[-1].extra is None for trace in ended)  # a drafted one was accepted
    for trace in traces:
        assert (7 in trace.output_ids) == (trace.stop == "eos") and 7 not in trace.output_ids[:-1]
        last = trace.steps[-1]
        assert len(last.emitted_ids) == last.count(Fate.ACCEPTED) + (last.extra is not None)


@pytest.mark.parametrize(("target", "draft"), [("recurrent", "ctx_d"), ("ctx_t", "recurrent")])
def test_models_that_are_read_afresh_each_time(pair, target, draft):
    trace = engine.run(pair(target, draft), PROMPT, tree(3, 1, k=3, temperature=0, max_new_tokens=16))
    assert list(trace.output_ids) == tiny.generate(tiny.folder(target), PROMPT, 16)


def test_a_draft_with_a_shorter_context_is_left_out_where_it_ends():
    both = specviz.load_pair(tiny.folder("ctx_t"), tiny.folder("gpt2pos32"), dtype="float32")
    trace = engine.run(both, PROMPT, tree(2, k=4, temperature=0))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    assert trace.steps[-2].draft_stop == "draft context" and not trace.steps[-2].tokens


def test_a_target_with_more_columns_than_the_draft():
    both = specviz.load_pair(tiny.folder("padtarget16"), tiny.folder("draft12"), dtype="float32")
    trace = engine.run(both, [0], tree(4, k=3, temperature=1, max_new_tokens=30))
    assert len(trace.output_ids) == 30 and all(t.token_id < 12 for s in trace.steps for t in s.tokens)


def test_a_wide_and_deep_tree_is_narrowed(pair):
    draft = drafted(pair("ctx_t", "ctx_d"), PROMPT, tree(4, 1, k=32))
    assert len(draft.token_ids) == MAX_NODES and len(draft.path(MAX_NODES - 1)) == 32


def test_k_zero_drafts_nothing_and_the_end_clips(pair):
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, tree(3, k=0, max_new_tokens=3))
    assert [s.draft_stop for s in trace.steps] == ["none"] * 3
    near = engine.run(pair("ctx_t", "ctx_d"), PROMPT, tree(3, k=8, max_new_tokens=3))
    assert near.steps[0].draft_stop == "room" and len(near.output_ids) == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"siblings": 5}, "siblings must be a whole number from 1 to 4; you gave 5"),
        ({"siblings": 1.5}, "siblings must be"),
        ({"replacement": 2}, "with replacement must be a whole number from 0 to 1"),
        ({"replacement": True}, "with replacement must be"),
    ],
)
def test_impossible_knobs_are_invalid(pair, options, sentence):
    with pytest.raises(SettingsError, match=sentence):
        engine.start(pair("ctx_t", "ctx_d"), PROMPT, replace(TREE, options=options))
