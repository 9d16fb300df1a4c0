"""A position replayed: right rules give the target's distribution, all others are caught; sums and draws agree."""

import numpy as np
import pytest
from scipy import stats

from specviz.core.settings import RunSettings, SpecvizError
from specviz.experiments.position_replay import ARGMAX, FROM_P, WRONG, replay_of
from specviz.metrics import lossless
from specviz.metrics.lossless import Stand
from specviz.verification import RULES
from tests.metrics.test_lossless import dirichlet, run, stands

SETTINGS = RunSettings()
RIGHT = [name for name, rule in RULES.items() if rule.lossless]
OTHERS = [name for name, rule in RULES.items() if not rule.lossless]
DRAWS = 100_000


def made_up(seed, siblings=1, drawn="independently"):
    """A random position of twelve symbols, target and draft apart by about a third."""
    target, draft = dirichlet(seed, sharp=0.7), dirichlet(seed + 100, sharp=0.7)
    own, chosen = draft, tuple(np.argsort(-draft)[:siblings].tolist())
    if drawn == "chosen":
        draft = lossless.point(chosen[0], 12)
    return Stand(tuple(map(str, range(12))), target, draft, chosen, drawn, own, (0.0, 0.0))


POSITIONS = [
    *((seed, 1, drawn) for seed in range(4) for drawn in ("independently", "chosen")),
    (5, 3, "independently"),
    (6, 3, "without replacement"),
    (7, 3, "chosen"),
]


def reading(name, stand, draws=DRAWS, seed=1):
    counts = replay_of(name, stand, SETTINGS).draws(draws, np.random.default_rng(seed))
    assert counts.sum() == draws
    return counts


@pytest.mark.parametrize(("seed", "siblings", "drawn"), POSITIONS)
@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_stay_within_what_chance_gives(name, seed, siblings, drawn):
    stand = made_up(seed, siblings, drawn)
    counts = reading(name, stand)
    bound = lossless.chance(stand.target, DRAWS, most=0.999, simulations=10_000).most
    assert lossless.total_variation(counts / DRAWS, stand.target) < bound
    assert not lossless.chi_square(counts, stand.target).differs
    assert lossless.total_variation(replay_of(name, stand, SETTINGS).outcome(), stand.target) < 1e-12


@pytest.mark.parametrize(("seed", "siblings", "drawn"), POSITIONS)
@pytest.mark.parametrize("name", [*OTHERS, *WRONG])
def test_all_other_rules_are_caught(name, seed, siblings, drawn):
    stand = made_up(seed, siblings, drawn)
    counts = reading(name, stand)
    if name == "typical acceptance" and drawn == "chosen" and siblings == 1 and seed:
        # for every random number it rejects these tokens and samples from the target: it is exact at such a position
        assert lossless.total_variation(replay_of(name, stand, SETTINGS).outcome(), stand.target) < 1e-12
        return
    bound = lossless.chance(stand.target, DRAWS, most=0.999, simulations=10_000).most
    assert lossless.total_variation(counts / DRAWS, stand.target) > bound
    assert lossless.chi_square(counts, stand.target).differs


@pytest.mark.parametrize(("seed", "siblings", "drawn"), POSITIONS)
@pytest.mark.parametrize("name", [*RULES, *WRONG])
def test_what_is_drawn_is_what_is_summed(name, seed, siblings, drawn):
    stand = made_up(seed, siblings, drawn)
    exact = replay_of(name, stand, SETTINGS).outcome()
    assert exact.sum() == pytest.approx(1, abs=1e-12)
    assert not lossless.chi_square(reading(name, stand), np.maximum(exact, 0)).differs


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("strategy", ["sampling", "greedy", "sampled tree", "beam search", "prompt lookup"])
def test_positions_of_real_runs_stay_within_what_chance_gives(name, strategy):
    for _, _, stand in list(stands(run(strategy, temperature=2, top_p=0.95)))[:4]:
        assert not lossless.chi_square(reading(name, stand, 20_000), stand.target).differs
        assert lossless.total_variation(replay_of(name, stand, SETTINGS).outcome(), stand.target) < 1e-12


@pytest.mark.parametrize("name", RIGHT)
def test_p_values_of_right_rules_are_even(name):
    stand = made_up(2)
    ps = [lossless.chi_square(reading(name, stand, 2000, seed), stand.target).p for seed in range(200)]
    assert stats.kstest(ps, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("name", [*RULES, FROM_P, ARGMAX])
def test_where_the_target_is_certain_every_rule_writes_its_token(name):
    for strategy in ("sampling", "greedy"):
        _, _, stand = next(stands(run(strategy, temperature=0)))
        counts = reading(name, stand, 500)
        assert counts[stand.certain] == 500


def test_the_same_seed_gives_the_same_counts_and_another_seed_others():
    stand = made_up(1)
    assert (reading("lenience", stand, seed=3) == reading("lenience", stand, seed=3)).all()
    assert (reading("lenience", stand, seed=3) != reading("lenience", stand, seed=4)).any()


def test_knobs_of_the_settings_are_those_of_the_replay():
    stand = made_up(1)
    apart = [
        lossless.total_variation(
            replay_of("lenience", stand, RunSettings(options={"lenience": x})).outcome(), stand.target
        )
        for x in (0.1, 0.9)
    ]
    assert apart[0] > apart[1] > 0


def test_what_a_position_cannot_show_is_one_sentence():
    _, _, stand = next(stands(run("prompt lookup", temperature=2)))
    with pytest.raises(SpecvizError, match="no model made this draft"):
        replay_of(ARGMAX, stand, SETTINGS)
    with pytest.raises(SpecvizError, match="no rule named 'magic'"):
        replay_of("magic", stand, SETTINGS)
    assert replay_of("speculative sampling", made_up(1, 5), SETTINGS).outcome() is None
