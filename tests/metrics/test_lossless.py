"""What counts say about a distribution: held against scipy and against simulation; and positions cut to what was recorded."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from specviz.core.records import ROOT, Candidate, Fate, PositionRecord
from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import say
from specviz.decoding import engine
from specviz.metrics import lossless
from specviz.recordings import gallery
from specviz.traces.trace import Trace
from tests.conftest import tiny_pair


def dirichlet(seed, size=12, sharp=0.5):
    return np.random.default_rng(seed).dirichlet(np.full(size, sharp))


# --------------------------------------------------------------------------------------------------------- the figures


def test_total_variation_by_hand():
    assert lossless.total_variation(np.array([0.5, 0.5, 0]), np.array([0.2, 0.5, 0.3])) == pytest.approx(0.3)


@pytest.mark.parametrize("p", [1e-9, 1e-4, 0.01, 0.3, 0.5, 0.97, 1 - 1e-9, 0, 1])
@pytest.mark.parametrize("draws", [1, 2, 7, 100, 10_000])
def test_the_mean_deviation_is_that_of_the_binomial_distribution(p, draws):
    outcomes = np.arange(draws + 1)
    exact = (stats.binom.pmf(outcomes, draws, p) * np.abs(outcomes / draws - p)).sum()
    assert lossless.mean_deviation(p, draws) == pytest.approx(exact, rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("draws", [100, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_what_chance_gives_is_what_a_simulation_gives(draws, seed):
    probs = dirichlet(seed)
    fair = np.random.default_rng(99).multinomial(draws, probs, 20_000) / draws
    apart = np.abs(fair - probs).sum(1) / 2
    found = lossless.chance(probs, draws)
    assert found.mean == pytest.approx(apart.mean(), rel=0.02)
    assert found.most == pytest.approx(np.quantile(apart, 0.95), rel=0.05)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 60, 61, 215])
@pytest.mark.parametrize("times", [0.001, 0.3, 0.9, 1, 1.1, 2, 8])
def test_the_tail_of_chi_square_is_scipys(freedom, times):
    value = times * freedom
    exact = stats.chi2.sf(value, freedom)
    assert lossless.chi_square_tail(value, freedom) == pytest.approx(exact, rel=1e-9, abs=1e-300)


def test_chi_square_of_common_outcomes_is_scipys():
    probs, counts = np.array([0.5, 0.3, 0.2]), np.array([480, 330, 190])
    found = lossless.chi_square(counts, probs)
    exact = stats.chisquare(counts, probs * 1000)
    assert (found.value, found.freedom) == (pytest.approx(exact.statistic), 2) and found.p == pytest.approx(
        exact.pvalue
    )


def test_rare_outcomes_are_counted_together_and_impossible_ones_are_a_verdict():
    probs = np.array([0.9, 0.0968, 0.0016, 0.0016, 0.0])
    found = lossless.chi_square(np.array([900, 97, 2, 1, 0]), probs)
    assert found.freedom == 1 and found.p > 0.5  # 3.2 expected: with the rarest of the others
    assert lossless.chi_square(np.array([900, 97, 2, 0, 1]), probs).p == 0
    sure = lossless.chi_square(np.array([7, 0]), np.array([1.0, 0.0]))
    assert (sure.freedom, sure.p, sure.differs) == (0, 1.0, False)


@pytest.mark.parametrize("draws", [300, 10_000])
def test_p_values_of_fair_draws_are_even(draws):
    probs = dirichlet(4, size=20)
    generator = np.random.default_rng(1)
    ps = [lossless.chi_square(generator.multinomial(draws, probs), probs).p for _ in range(400)]
    assert stats.kstest(ps, "uniform").pvalue > 1e-3


# ----------------------------------------------------------------------------------------------------------- the position


def stands(trace: Trace):
    for step in trace.steps:
        for position in step.positions:
            if position.overlap is not None:
                yield step, position, lossless.stand(step, position)


def run(strategy, **changes):
    settings = RunSettings(**{"strategy": strategy, "k": 3, "max_new_tokens": 24, **changes})
    return engine.run(tiny_pair("bytes_lm", "bytes_lm"), "the cat and the dog", settings)


@pytest.mark.parametrize(
    ("strategy", "options", "drawn"),
    [
        ("sampling", {}, "independently"),
        ("greedy", {}, "chosen"),
        ("beam search", {}, "chosen"),
        ("prompt lookup", {}, "chosen"),
        ("sampled tree", {"siblings": 3, "replacement": 0}, "without replacement"),
        ("sampled tree", {"siblings": 3, "replacement": 1}, "independently"),
    ],
)
@pytest.mark.parametrize("saved", [False, True])
def test_how_siblings_were_drawn_is_told_from_the_record(strategy, options, drawn, saved):
    trace = run(strategy, options=options, temperature=2)
    found = list(stands(Trace.from_json(trace.to_json()) if saved else trace))
    assert found and {made.drawn for _, _, made in found} == {drawn}
    for step, position, made in found:
        tokens = [t for t in step.tokens if t.parent == position.node]
        assert [made.texts[s] for s in made.siblings] == [t.text for t in tokens]
        for mass in (made.target, made.draft):
            assert mass.sum() == pytest.approx(1, abs=1e-12) and (mass >= 0).all()
        assert (made.own is None) == (strategy == "prompt lookup")
        # what is seen of the overlap on the smaller vocabulary is at least the whole one's
        assert np.minimum(made.target, made.draft).sum() >= position.overlap - 1e-4
        source, rejected = made.source(()), ()
        for sibling in made.siblings:
            assert source is not None and source[sibling] > 0
            rejected = (*rejected, sibling)
            source = made.source(rejected)
        assert source is None


def test_a_position_whose_tail_is_0_has_no_other_symbol():
    step, _, made = next(stands(run("sampling", top_k=3)))
    assert lossless.OTHERS in made.texts  # the models' own softmax goes beyond the filter
    position = PositionRecord(
        ROOT, 0.9, tuple(Candidate(i, f"w{i}", 0.5, p, 0.5, p) for i, p in enumerate((0.6, 0.4))), 0.0, 0.0
    )
    token = replace(step.tokens[0], token_id=1, draft_prob=0.5, parent=ROOT, fate=Fate.ACCEPTED)
    made = lossless.stand(replace(step, tokens=(token,), positions=(position,)), position)
    assert made.texts == ("w0", "w1") and made.siblings == (1,) and made.tails == (0, 0)


def test_bonus_positions_and_runs_without_drafts_are_one_sentence():
    for trace in (run("none", k=0), run("sampling", k=2)):
        step, position = next((s, p) for s in trace.steps for p in s.positions if p.overlap is None)
        with pytest.raises(SpecvizError, match=say("lossless.not_drafted")):
            lossless.stand(step, position)


def test_siblings_of_unknown_origin_are_one_sentence():
    step, position, _ = next(stands(run("sampled tree", options={"siblings": 2})))
    odd = tuple(replace(t, draft_prob=0.123) if i == 1 else t for i, t in enumerate(step.tokens))
    with pytest.raises(SpecvizError, match=say("lossless.not_recorded")):
        lossless.stand(replace(step, tokens=odd), position)


def test_a_target_that_is_certain_is_seen_to_be():
    for _, _, made in stands(run("sampling", temperature=0)):
        assert made.certain is not None and made.target[made.certain] == 1
    assert all(made.certain is None for _, _, made in stands(run("sampling", temperature=2)))


@pytest.mark.parametrize("name", gallery.present())
def test_every_drafted_position_of_every_recording_can_stand(name):
    trace = gallery.read(name)
    found = list(stands(trace))
    assert len(found) == sum(position.overlap is not None for step in trace.steps for position in step.positions) > 0
    assert all(math.isclose(made.target.sum(), 1) for _, _, made in found)
