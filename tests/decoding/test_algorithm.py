"""The engine against the papers' algorithms, random number for random number."""

from __future__ import annotations

import pytest

from specviz.core.coins import coins_of
from specviz.core.sampling import one_hot, to_probs
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.decoding.algorithm import Node, chain_step, draft_tree, tree_step
from tests import tiny

PROMPT = [3, 4, 3, 8, 8, 3]
TOKENS = 25
SEEDS = range(2)
KS = range(1, 9)
FILTERS = [
    {"temperature": 0},
    {"temperature": 0.7},
    {"temperature": 1.0},
    {"temperature": 1.0, "top_k": 4},
    {"temperature": 1.0, "top_p": 0.7},
    {"temperature": 0.7, "top_k": 6, "top_p": 0.9},
]
filters = pytest.mark.parametrize("filters", FILTERS, ids=lambda f: ", ".join(f"{k} {v}" for k, v in f.items()))


def model(table, filters):
    """ids → probabilities [vocabulary]: a row of the table, filtered."""
    return lambda ids: to_probs(table[ids[-1]][None], **filters)[0]


def greedy(table):
    """ids → a point mass at the likeliest token."""
    return lambda ids: one_hot(int(table[ids[-1]].argmax()), table.shape[1])


def loop(step, k):
    """`step(prefix, start, γ)` until TOKENS are written; γ leaves room for the target's own token."""
    out = []
    while len(out) < TOKENS:
        out += step(PROMPT + out, len(out), min(k, TOKENS - len(out) - 1))
    return out


def run(tables, strategy, k, seed, filters, **options):
    settings = RunSettings(strategy=strategy, k=k, seed=seed, max_new_tokens=TOKENS, options=options, **filters)
    return engine.run(tables, PROMPT, settings)


@filters
@pytest.mark.parametrize("strategy", ["sampling", "greedy"])
def test_chains_are_algorithm_1(tables, strategy, filters):
    M_p = model(tiny.target_table(), filters)
    M_q = model(tiny.draft_table(), filters) if strategy == "sampling" else greedy(tiny.draft_table())
    for k in KS:
        for seed in SEEDS:
            coins = coins_of(seed)
            right = loop(lambda prefix, start, γ, c=coins: chain_step(prefix, start, γ, M_q, M_p, c), k)
            assert list(run(tables, strategy, k, seed, filters).output_ids) == right, (k, seed)


@filters
@pytest.mark.parametrize("width", [1, 2, 3])
def test_sampled_trees_are_specinfers_step(tables, width, filters):
    M_p, M_q = model(tiny.target_table(), filters), model(tiny.draft_table(), filters)
    for k in KS:
        for seed in SEEDS:
            coins = coins_of(seed)

            def step(prefix, start, γ, coins=coins):
                return tree_step(prefix, start, draft_tree(prefix, start, γ, width, M_q, coins), M_p, coins)

            made = run(tables, "sampled tree", k, seed, filters, siblings=width)
            assert list(made.output_ids) == loop(step, k), (k, seed)


@filters
@pytest.mark.parametrize("strategy", ["beam search", "dynamic tree"])
def test_trees_of_likely_tokens_are_verified_as_specinfer_does(tables, strategy, filters):
    M_p = model(tiny.target_table(), filters)
    for k in KS:
        for seed in SEEDS:
            trace = run(tables, strategy, k, seed, filters)
            ids = PROMPT.copy()
            for step in trace.steps:
                nodes = [Node(t.token_id, one_hot(t.token_id, tiny.WORDS)) for t in step.tokens]
                roots = []
                for node, token in zip(nodes, step.tokens, strict=True):
                    (roots if token.parent < 0 else nodes[token.parent].children).append(node)
                right = tree_step(ids, step.start, roots, M_p, coins_of(seed))
                assert list(step.emitted_ids) == right, (k, seed, step.index)
                ids += right


def test_a_step_with_one_child_at_each_node_is_the_chain(tables):
    for seed in range(50):
        M_p, M_q = model(tiny.target_table(), {}), model(tiny.draft_table(), {})
        coins = coins_of(seed)
        chain = chain_step(PROMPT, 0, 5, M_q, M_p, coins)
        assert tree_step(PROMPT, 0, draft_tree(PROMPT, 0, 5, 1, M_q, coins), M_p, coins) == chain


def test_the_test_can_fail_another_seed_writes_another_text(tables):
    M_p, M_q = model(tiny.target_table(), {}), model(tiny.draft_table(), {})
    right = loop(lambda prefix, start, γ: chain_step(prefix, start, γ, M_q, M_p, coins_of(1)), 4)
    assert list(run(tables, "sampling", 4, 2, {}).output_ids) != right
