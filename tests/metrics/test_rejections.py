"""Refusals with ranks, counted by hand; the ledger shares out all of the time."""

from dataclasses import replace

import pytest

from specviz.core.records import Candidate, PositionRecord
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.metrics.rejections import drafted_beyond, last_paying_position, ledger, rank_of, ranks, rejections, saved
from tests.made_runs import run_of


def position(*probs):
    candidates = tuple(Candidate(i, f"w{i}", None, 0.1, p, 0.1) for i, p in enumerate(probs))
    return PositionRecord(-1, 0.5, candidates, 0.0, 0.0)


def test_rank_among_the_drafts_own_candidates():
    here = position(0.2, 0.5, None, 0.3)
    assert [rank_of(here, i) for i in (1, 3, 0, 2, 9)] == [1, 2, 3, None, None]
    assert rank_of(position(*[0.09] * 11), 10) is None  # beyond the ten that are known


def test_at_temperature_0_a_draft_as_wide_as_the_rank_is_not_rejected(pair):
    greedy = RunSettings(strategy="greedy", temperature=0, k=3, max_new_tokens=40)
    ctx = pair("ctx_t", "ctx_d")
    found = rejections(engine.run(ctx, [1, 2, 3], greedy).steps)
    assert found and all(rejection.rank is None or rejection.rank >= 2 for rejection in found)
    assert saved(found, 1) == 0 and saved(found, 12) >= saved(found, 2)
    # the first rejection at the first position: with one more candidate the position is accepted
    first = next(r for r in found if r.position == 1 and r.rank)
    wide = engine.run(
        ctx, [1, 2, 3], replace(greedy, strategy="beam search", k=1, options={"width": min(8, first.rank)})
    )
    at = sum(len(s.emitted_ids) for s in engine.run(ctx, [1, 2, 3], greedy).steps[: first.step])
    step = next(s for s in wide.steps if s.start <= at < s.start + len(s.emitted_ids))
    assert step.start < at or step.extra.fate.value == "bonus"


def test_no_model_behind_the_draft_leaves_the_rank_open(pair):
    lookup = RunSettings(strategy="prompt lookup", temperature=0, k=3, max_new_tokens=40)
    found = rejections(engine.run(pair("ctx_t", "ctx_d"), [1, 2, 3, 1, 2], lookup).steps)
    assert all(rejection.rank is None for rejection in found) and saved(found, 4) == 0
    assert found and ranks(found)["unknown"] == len(found)


def test_ranks_are_counted_in_bins_that_add_up(pair):
    greedy = RunSettings(strategy="greedy", temperature=0, k=3, max_new_tokens=60)
    found = rejections(engine.run(pair("ctx_t", "ctx_d"), [1, 2, 3], greedy).steps)
    bins = ranks(found)
    assert sum(bins.values()) == len(found) and bins["1"] == bins["unknown"] == 0
    assert bins["5–10"] == sum(rejection.rank is not None and rejection.rank > 4 for rejection in found)
    assert saved(found, 4) == bins["2"] + bins["3"] + bins["4"]
    assert set(ranks([]).values()) == {0}


def test_a_tree_says_how_many_siblings_were_rejected(pair):
    wide = RunSettings(strategy="beam search", temperature=0, k=2, max_new_tokens=40, options={"width": 3})
    found = rejections(engine.run(pair("ctx_t", "ctx_d"), [1, 2, 3], wide).steps)
    assert found and max(rejection.siblings for rejection in found) > 1


def test_the_ledger_shares_out_all_drafting_and_verifying():
    steps = run_of([(3, 3), (3, 1), (0, 0), (3, 0)])
    found = ledger(steps)
    assert (found.accepted, found.rejected, found.untested, found.own) == (4, 2, 3, 4)
    whole = found.accepted_s + found.rejected_s + found.untested_s + found.own_s
    assert whole == pytest.approx(sum(s.draft_s + s.verify_s for s in steps))
    assert found.wasted_share == pytest.approx((found.rejected_s + found.untested_s) / whole)
    assert last_paying_position(steps) == 3
    assert [drafted_beyond(steps, position) for position in range(4)] == [9, 6, 3, 0]
    assert ledger([]).wasted_share is None and last_paying_position([]) == 0 and rejections([]) == []
