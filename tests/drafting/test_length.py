"""How far to draft: known values, by hand and from the papers, and what a policy may not look at."""

from dataclasses import replace

import pytest
import torch

from specviz.core.records import Costs, Fate, StepRecord, TokenRecord
from specviz.core.settings import MAX_K, RunSettings, SettingsError
from specviz.decoding import calibration, engine
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.drafting.length import PROBE_EVERY, Length, acceptance_by_position, accepted_whole, best_k
from specviz.metrics import theory
from specviz.models.pair import Pair
from tests.conftest import table_model

PROMPT = [1, 2, 3, 1, 2, 4]
GREEDY = RunSettings(strategy="greedy", temperature=0, max_new_tokens=60)


def a_step(accepted, drafted, settings, asked=None, parents=None):
    """A step that drafted so many and accepted so many of them; a draft not accepted whole was rejected after."""
    fates = [Fate.ACCEPTED] * accepted + [Fate.REJECTED] * (drafted > accepted) + [Fate.UNTESTED] * drafted
    parents = parents or range(-1, drafted - 1)
    tokens = tuple(TokenRecord(0, "", fate, parent) for fate, parent in zip(fates, parents, strict=False))
    extra = TokenRecord(0, "", Fate.RESAMPLED if drafted > accepted else Fate.BONUS)
    return StepRecord(0, 0, settings, tokens, extra, (0,) * (accepted + 1), None, "k", 1, 0, 0, 0, asked=asked)


def never(k):
    raise AssertionError("nothing needed to be measured")


# ------------------------------------------------------------------------------------------------------------ heuristic


def test_the_heuristic_follows_transformers_schedule():
    settings = RunSettings(k=4, draft_length="heuristic")
    asked, steps = [], []
    for accepted in (4, 6, 2, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 1):
        k = LENGTHS["heuristic"].how_far(steps, settings, never)
        asked.append(k)
        steps.append(a_step(min(accepted, k), k, settings, k))
    assert asked == [4, 6, 8, 7, 6, 8, 7, 6, 5, 4, 3, 2, 1, 1]
    assert LENGTHS["heuristic"].how_far(steps, settings, never) == 3


def test_the_heuristic_stops_at_the_largest_k_and_begins_anew_where_k_is_set_anew():
    settings = RunSettings(k=MAX_K - 1, draft_length="heuristic")
    steps = [a_step(MAX_K - 1, MAX_K - 1, settings, MAX_K - 1)]
    heuristic = LENGTHS["heuristic"]
    assert heuristic.how_far(steps, settings, never) == MAX_K
    assert heuristic.how_far(steps, replace(settings, k=3), never) == 3
    fixed = replace(settings, draft_length="fixed")
    assert heuristic.how_far([a_step(0, 31, fixed)], settings, never) == MAX_K - 1
    assert heuristic.how_far([a_step(0, 0, settings, 7)], settings, never) == 7  # nothing drafted, nothing learnt
    assert heuristic.how_far(steps, replace(settings, k=0), never) == 0


def test_a_tree_is_accepted_whole_where_one_branch_is():
    settings = RunSettings()
    assert accepted_whole(a_step(2, 2, settings)) and not accepted_whole(a_step(1, 2, settings))
    assert not accepted_whole(a_step(0, 0, settings))
    fates = [Fate.REJECTED, Fate.ACCEPTED, Fate.UNTESTED, Fate.ACCEPTED]
    tokens = tuple(TokenRecord(0, "", fate, parent) for fate, parent in zip(fates, (-1, -1, 0, 1), strict=True))
    assert accepted_whole(replace(a_step(0, 1, settings), tokens=tokens))
    deeper = (*tokens, TokenRecord(0, "", Fate.UNTESTED, 2))
    assert not accepted_whole(replace(a_step(0, 1, settings), tokens=deeper))


# ----------------------------------------------------------------------------------------------------------- confidence


@pytest.mark.parametrize("strategy", ["greedy", "sampling", "sampled tree"])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_drafting_stops_after_the_first_token_that_the_drafter_thought_unlikely_and_keeps_it(pair, strategy, threshold):
    settings = RunSettings(strategy=strategy, k=6, draft_length="confidence", temperature=0.7, max_new_tokens=60)
    settings = replace(settings, options={"confidence_threshold": threshold, "siblings": 2})
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, settings)
    stops = {step.draft_stop for step in trace.steps}
    assert "confidence" in stops and stops <= {"confidence", "k", "room"}
    for step in trace.steps:
        spine = {token.parent for token in step.tokens}
        sure = [t.drafter_prob for node, t in enumerate(step.tokens) if node in spine]
        assert all(p >= threshold for p in sure)  # each of them was continued
        if step.draft_stop == "confidence":
            last = step.tokens[-2 if strategy == "sampled tree" else -1]
            assert last.drafter_prob < threshold


def test_the_strictest_threshold_drafts_one_token_and_the_laxest_k(pair):
    def drafted(threshold):
        options = {"confidence_threshold": threshold}
        settings = replace(GREEDY, k=5, draft_length="confidence", options=options)
        steps = engine.run(pair("ctx_t", "ctx_d"), PROMPT, settings).steps
        return {len(s.tokens) for s in steps if s.draft_stop != "room"}

    assert drafted(1) == {1} and drafted(0) == {5}


@pytest.mark.parametrize("strategy", ["beam search", "dynamic tree"])
def test_a_grown_tree_stops_where_none_of_its_branches_is_sure(pair, strategy):
    settings = replace(GREEDY, strategy=strategy, k=5, draft_length="confidence", options={"confidence_threshold": 0.6})
    steps = engine.run(pair("ctx_t", "ctx_d"), PROMPT, settings).steps
    whole = engine.run(pair("ctx_t", "ctx_d"), PROMPT, replace(settings, draft_length="fixed")).steps
    assert any(s.draft_stop == "confidence" for s in steps)
    assert sum(len(s.tokens) for s in steps) / len(steps) < sum(len(s.tokens) for s in whole) / len(whole)


def test_a_drafter_without_a_model_goes_to_k(pair):
    settings = replace(GREEDY, strategy="prompt lookup", options={"confidence_threshold": 1})
    plain = engine.run(pair("ctx_t"), PROMPT, settings)
    trace = engine.run(pair("ctx_t"), PROMPT, replace(settings, draft_length="confidence"))
    assert [s.tokens for s in trace.steps] == [s.tokens for s in plain.steps]
    assert "prompt lookup" in LENGTHS["confidence"].help


# ----------------------------------------------------------------------------------------------------------- cost-aware


@pytest.mark.parametrize(
    ("alpha", "c", "k", "speed_up"),
    [
        (0.5, 0.01, 5, 1.88), (0.5, 0.05, 3, 1.63), (0.5, 0.10, 2, 1.46), (0.5, 0.20, 1, 1.25),
        (0.7, 0.01, 9, 2.97), (0.7, 0.05, 6, 2.35), (0.7, 0.10, 4, 1.98), (0.7, 0.20, 3, 1.58),
        (0.9, 0.01, 24, 7.49), (0.9, 0.05, 13, 4.67), (0.9, 0.10, 10, 3.43), (0.9, 0.20, 7, 2.37),
    ],
)  # fmt: skip
def test_the_best_k_of_the_textbook(alpha, c, k, speed_up):
    settings = RunSettings(strategy="greedy")
    price = calibration.prices({"greedy": Costs(c)}, None, settings)
    assert best_k([alpha] * MAX_K, price) == k == theory.best_k(alpha, c)  # of equals (α = .5, c = .2) the smallest
    assert theory.expected_by_position([alpha] * k) / price(k) == pytest.approx(speed_up, abs=0.005)


def test_no_k_pays_where_acceptance_is_below_the_cost_and_the_least_of_equals_is_taken():
    assert best_k([0.2] * 8, lambda k: 0.3 * k + 1) == 0
    assert best_k([0.5] * 2, lambda k: 0.5 * k + 1) == 0  # 1.5 ÷ 1.5
    assert best_k([], lambda k: 1) == 0
    assert best_k([1.0] * 8, lambda k: 1) == 8
    assert best_k([1.0] * 8, lambda k: 1 if k < 5 else 9) == 4  # a pass that is dear from 6 positions on


def test_acceptance_by_position_by_hand():
    settings = RunSettings(k=3, draft_length="cost-aware")
    assert acceptance_by_position([], settings) == [0.5, 0.5, 0.5]
    steps = [a_step(3, 3, settings), a_step(1, 3, settings), a_step(0, 3, settings), a_step(0, 0, settings, 0)]
    # tested 3, 2, 1; accepted 2, 1, 1; together (4 + 1) ÷ (6 + 2)
    overall = 5 / 8
    assert acceptance_by_position(steps, settings) == [
        pytest.approx((accepted + 4 * overall) / (tested + 4)) for accepted, tested in ((2, 3), (1, 2), (1, 1))
    ]


def test_only_steps_of_the_same_circumstances_count_and_only_the_last():
    settings = RunSettings(k=1, draft_length="cost-aware")
    others = [{"strategy": "greedy"}, {"temperature": 0.5}, {"rule": "token matching"}, {"options": {"width": 3}}]
    steps = [a_step(0, 1, replace(settings, **other)) for other in others]
    assert acceptance_by_position(steps, settings) == [0.5]
    assert acceptance_by_position([a_step(1, 1, replace(settings, k=4, draft_length="fixed"))], settings) != [0.5]
    old = [a_step(0, 1, settings)] * 100 + [a_step(1, 1, settings)] * 64
    assert acceptance_by_position(old, settings)[0] > 0.95


def test_where_drafting_does_not_pay_every_eighth_step_drafts_one(tables):
    settings = RunSettings(strategy="sampling", k=4, draft_length="cost-aware", max_new_tokens=40)
    trace = engine.run(tables, [3], settings, costs={"sampling": Costs(2.0)})
    asked = [step.k for step in trace.steps]
    assert asked[: 2 * PROBE_EVERY] == [*[0] * (PROBE_EVERY - 1), 1] * 2
    assert [len(s.tokens) for s in trace.steps] == [
        min(k, 39 - s.start) for k, s in zip(asked, trace.steps, strict=True)
    ]
    assert trace.steps[0].draft_stop == "none" and trace.steps[0].extra.fate is Fate.BONUS


def test_a_good_draft_is_found_out_and_k_on_screen_is_the_most(pair):
    settings = replace(GREEDY, k=6, draft_length="cost-aware")
    cheap = engine.run(pair("cycle12", "cycle12"), [0], settings, costs={"greedy": Costs(0.05)})
    assert cheap.steps[0].k < 6 == max(s.k for s in cheap.steps)
    dear = engine.run(
        pair("cycle12", "cycle12"), [0], settings, costs={"greedy": Costs(0.05, ((1, 1.0), (4, 1.1), (5, 9.0)))}
    )
    assert max(s.k for s in dear.steps) == 3  # a pass over five positions takes nine times as long


def test_a_tree_is_priced_by_all_its_tokens(pair):
    steep = ((1, 1.0), (9, 3.0))
    options = {"width": 4, "siblings": 4, "children": 4, "tree_size": 20}
    largest = {}
    for strategy in ("greedy", "beam search", "sampled tree", "dynamic tree"):
        settings = replace(GREEDY, strategy=strategy, k=6, draft_length="cost-aware", options=options)
        names = {"beam search": "beam search, width 4", "sampled tree": "sampled tree, siblings 4, replacement 0"}
        name = names.get(strategy, "dynamic tree, children 4, tree_size 20" if "dynamic" in strategy else strategy)
        trace = engine.run(pair("cycle12", "cycle12"), [0], settings, costs={name: Costs(0.01, steep)})
        largest[strategy] = max(s.k for s in trace.steps)
        assert set(trace.costs) == {name}
    assert largest["greedy"] > largest["beam search"] == largest["sampled tree"]


def test_every_strategy_says_how_many_tokens_a_draft_may_hold(pair):
    for strategy, entry in STRATEGIES.items():
        for k in (1, 3, 9):
            settings = replace(GREEDY, strategy=strategy, k=k, max_new_tokens=20)
            for step in engine.run(pair("ctx_t", "ctx_d"), PROMPT, settings).steps:
                assert len(step.tokens) <= entry.nodes(k, settings)


# --------------------------------------------------------------------------------------------- what must hold for all


def by_the_last(fate):
    """K = 2, then 1 or 0 by whether the last token of this fate is one of the first six."""

    def how_far(steps, settings, price):
        tokens = [t for t in steps[-1].tokens if t.fate is fate] if steps else []
        return int(tokens[-1].token_id < 6) if tokens else 2

    return Length(help="", how_far=how_far)


@pytest.mark.parametrize(("fate", "kept"), [(Fate.REJECTED, True), (Fate.UNTESTED, False)])
def test_a_policy_may_look_at_tested_tokens_and_not_at_others(fate, kept, monkeypatch):
    """The coins of untested ones are drawn by again, so a K chosen by them makes those coins loaded."""
    monkeypatch.setitem(LENGTHS, "by the last", by_the_last(fate))
    target, draft = torch.zeros(12, 12), torch.zeros(12, 12)
    # the first drafted token is always 5 and always rejected; then all is even
    target[0, [0, 5]], draft[0, 5] = -60.0, 60.0
    both = Pair(table_model("even", target), table_model("rejected", draft))
    settings = RunSettings(strategy="sampling", k=2, draft_length="by the last", max_new_tokens=4)
    seconds = [engine.run(both, [0], replace(settings, seed=seed)).output_ids[1] for seed in range(400)]
    share = sum(token < 6 for token in seconds) / len(seconds)
    assert (abs(share - 0.5) < 0.1) == kept, share


def test_names_and_knobs_are_checked(pair):
    with pytest.raises(SettingsError, match=r"no draft length named 'magic'.*heuristic"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="none", draft_length="magic"))
    with pytest.raises(SettingsError, match="confidence threshold must be a number from 0 to 1"):
        engine.start(pair("target12"), [1], replace(GREEDY, strategy="none", options={"confidence_threshold": 2}))
    with pytest.raises(SettingsError, match="draft_length must be a name"):
        RunSettings(draft_length=3)
