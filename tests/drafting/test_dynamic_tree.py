"""Dynamic tree: against a plain reference of the paper's two phases, and whole runs against the target alone."""

from dataclasses import replace

import pytest
import torch

import specviz
from specviz.core.coins import coins_of
from specviz.core.records import ROOT
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.drafting import STRATEGIES
from specviz.drafting.base import Readers
from specviz.models.cached import CachedModel
from specviz.verification import RULES
from tests import tiny
from tests.chi_squared import FILTERS, p_value

LOSSLESS = [name for name, rule in RULES.items() if rule.lossless]
ONE_ALWAYS = [LOSSLESS[0], *(pytest.param(rule, marks=pytest.mark.slow) for rule in LOSSLESS[1:])]
PROMPT = [1, 2, 3, 1, 2, 4]
TREE = RunSettings(strategy="dynamic tree", temperature=0, max_new_tokens=40)


def tree(children, size, **more):
    return replace(TREE, options={"children": children, "tree_size": size}, **more)


def drafted(pair, ids, settings):
    readers = Readers(CachedModel(pair.target), CachedModel(pair.draft, pair.target.vocab_size))
    return STRATEGIES["dynamic tree"].start(readers).propose(ids, settings.k, settings, coins_of(1), 0)


def branches(draft):
    return [tuple(draft.token_ids[n] for n in draft.path(node)) for node in range(len(draft.token_ids))]


def textbook(model, ids, children, size, k, end_ids=()):
    """Expansion and re-ranking with plain passes: no cache, no tree, every branch read whole."""
    layer, all_found = [(0.0, ())], []
    for _ in range(k):
        found = []
        for value, branch in layer:
            scores = torch.log_softmax(model(torch.tensor([[*ids, *branch]])).logits[0, -1].double(), -1)
            likeliest = scores.topk(children)
            for token, score in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True):
                found.append((value + score, (*branch, token)))
        all_found += found
        layer = sorted((f for f in found if f[1][-1] not in end_ids), reverse=True)[:children]
    return {branch for _, branch in sorted(all_found, key=lambda f: (-f[0], len(f[1])))[:size]}


@pytest.mark.parametrize(("children", "size"), [(1, 4), (2, 5), (3, 12), (4, 7), (8, 64)])
@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_the_tree_is_that_of_the_paper(pair, children, size, k):
    both = pair("ctx_t", "ctx_d")
    draft = drafted(both, PROMPT, tree(children, size, k=k))
    found = branches(draft)
    assert set(found) == textbook(both.draft.model, PROMPT, children, size, k) and len(set(found)) == len(found)
    assert draft.stop == "k" and len(found) <= STRATEGIES["dynamic tree"].nodes(k, tree(children, size, k=k))


def test_the_tree_hangs_together_best_first_and_is_made_of_point_masses(pair):
    draft = drafted(pair("ctx_t", "ctx_d"), PROMPT, tree(3, 12, k=6))
    assert len(draft.token_ids) == 12
    for node, parent in enumerate(draft.parents):
        assert ROOT <= parent < node and draft.probs[node][draft.token_ids[node]] == draft.probs[node].sum() == 1
    for parent in {*draft.parents}:
        own = [draft.own_logits[n][draft.token_ids[n]] for n, p in enumerate(draft.parents) if p == parent]
        assert own == sorted(own, reverse=True)


def test_it_is_deep_where_the_draft_is_sure_and_wide_where_it_is_not(pair):
    def depth(pair, ids):
        return max(map(len, branches(drafted(pair, ids, tree(3, 6, k=6)))))

    assert depth(pair("cycle12", "cycle12"), [0]) == 6  # all but certain: a chain
    assert depth(pair("target12", "draft12"), [3]) < 6


def test_one_child_is_greedy_drafting(pair):
    both = pair("ctx_t", "ctx_d")
    one = engine.run(both, PROMPT, tree(1, 64, k=3))
    greedy = engine.run(both, PROMPT, replace(TREE, strategy="greedy", k=3))
    assert [[t.token_id for t in s.tokens] for s in one.steps] == [[t.token_id for t in s.tokens] for s in greedy.steps]


@pytest.mark.parametrize("rule", LOSSLESS)
@pytest.mark.parametrize(("children", "size", "k"), [(1, 1, 1), (2, 5, 3), (3, 12, 4), (4, 20, 6)])
def test_every_shape_gives_the_targets_own_greedy_tokens(pair, rule, children, size, k):
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, tree(children, size, k=k, rule=rule))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    assert all(step.target_positions <= len(step.tokens) + 1 for step in trace.steps[1:])


@pytest.mark.parametrize("rule", ONE_ALWAYS)
@pytest.mark.parametrize(
    ("children", "size", "filters"),
    [pytest.param(3, 4, "plain", marks=pytest.mark.slow), (2, 5, "top-k and top-p")],
)
def test_whole_runs_have_the_targets_distribution(tables, rule, children, size, filters):
    settings = tree(children, size, k=2, rule=rule, temperature=1, max_new_tokens=3)
    assert p_value(tables, replace(settings, **FILTERS[filters])) > 1e-4


def test_the_draft_model_is_asked_once_a_position_and_reads_nothing_twice(pair, monkeypatch):
    fed, plain = [], CachedModel._pass

    def spy(self, *args):
        rows = plain(self, *args)
        fed.append(self.positions)
        return rows

    monkeypatch.setattr(CachedModel, "_pass", spy)
    drafted(pair("ctx_t", "ctx_d"), PROMPT, tree(3, 12, k=5))
    assert fed == [len(PROMPT), 3, 3, 3, 3]


def test_an_end_token_is_proposed_and_not_continued():
    both = specviz.load_pair(tiny.folder("target12"), tiny.folder("draft12", eos=7), dtype="float32")
    draft = drafted(both, [0], tree(4, 64, k=4))
    ends = [n for n, token in enumerate(draft.token_ids) if token == 7]
    assert ends and not set(ends) & set(draft.parents)
    assert set(branches(draft)) == textbook(both.draft.model, [0], 4, 64, 4, end_ids={7})


def test_a_model_that_is_read_afresh_each_time(pair):
    trace = engine.run(pair("recurrent", "ctx_d"), PROMPT, tree(3, 8, k=3, max_new_tokens=16))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("recurrent"), PROMPT, 16)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"children": 0}, "children must be a whole number from 1 to 8"),
        ({"tree_size": 65}, "tree size must be a whole"),
    ],
)
def test_an_impossible_shape_is_invalid(pair, options, sentence):
    with pytest.raises(SettingsError, match=sentence):
        engine.start(pair("ctx_t", "ctx_d"), PROMPT, replace(TREE, options=options))
