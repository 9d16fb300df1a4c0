"""Every K from one run: recomputed counts equal those of real runs, and what cannot be known is not claimed."""

from dataclasses import replace

import pytest

import specviz
from specviz.core.settings import RunSettings, SpecvizError
from specviz.experiments.draft_predictions import PIECE, Guessing, obstacle
from specviz.metrics import count
from specviz.metrics.counterfactual import counterfactual, expected_speed_up, own_k, recorded
from tests.conftest import tiny_pair

PROMPT = [1, 2, 3, 1, 2, 4]
GREEDY = RunSettings(strategy="greedy", temperature=0, k=4, max_new_tokens=60)
KS = range(1, 9)


def guessed(pair, trace):
    guessing = Guessing(pair, trace)
    while guessing.step():
        pass
    return guessing


def recomputed(pair, trace, ks=KS):
    guessing = guessed(pair, trace)
    return counterfactual(trace, guessing.guesses, ks, guessing.end_ids)


def real(pair, prompt=PROMPT, **changes):
    return specviz.run(pair, prompt, replace(GREEDY, **changes))


@pytest.mark.parametrize(
    "names", [("ctx_t", "ctx_d"), ("target12", "draft12"), ("bytes_lm", "bytes_lm"), ("padtarget16", "cycle12")]
)
@pytest.mark.parametrize("k_made", [1, 4, 7])
def test_every_k_equals_the_run_with_that_k(names, k_made):
    pair = tiny_pair(*names)
    found = recomputed(pair, real(pair, k=k_made))
    assert {k: count(real(pair, k=k).steps) for k in KS} == found


def test_what_the_run_guessed_itself_is_taken_as_it_did():
    pair = tiny_pair("ctx_t", "ctx_d")
    trace = real(pair, k=4)
    guesses, own = guessed(pair, trace).guesses, recorded(trace)
    assert len(own) > 30 and all(guesses[position] == guess for position, guess in own.items())
    # where another pass rounds otherwise, the run's own K comes out as it was made
    wrong = [(guess + 1) % 12 if position in own else guess for position, guess in enumerate(guesses)]
    assert counterfactual(trace, wrong, [4])[4] != count(trace.steps)
    mended = [own.get(position, guess) for position, guess in enumerate(wrong)]
    assert counterfactual(trace, mended, [4])[4] == count(trace.steps)
    assert recorded(real(pair, strategy="beam search")) == {}


@pytest.mark.parametrize("strategy", ["none", "prompt lookup", "beam search", "sampling"])
def test_whatever_drafted_it_the_output_is_the_targets_own_so_every_k_of_greedy_follows(strategy):
    pair = tiny_pair("ctx_t", "ctx_d")
    found = recomputed(pair, real(pair, strategy=strategy, draft_length="heuristic"))
    assert found[3] == count(real(pair, k=3).steps)


@pytest.mark.parametrize(
    "changes", [{"repetition_penalty": 1.7}, {"rule": "token matching"}, {"max_new_tokens": 1}, {"max_new_tokens": 2}]
)
def test_settings_that_shape_a_run_shape_what_is_recomputed(changes):
    pair = tiny_pair("ctx_t", "ctx_d")
    found = recomputed(pair, real(pair, **changes))
    assert {k: count(real(pair, k=k, **changes).steps) for k in KS} == found


def exact_parts(counts):
    return replace(counts, drafted=0, untested=0)


def test_a_run_ended_by_its_end_token_or_a_stop_string():
    """Which tokens a drafter adds behind a wrong guess is not known; everything else is."""
    words = real(tiny_pair("ctx_t", "ctx_d")).output_ids
    for changes in ({"stop": (f"w{words[9]}",)}, {"stop": (f"w{words[20]} w{words[21]}",)}):
        pair = tiny_pair("ctx_t", "ctx_d")
        found = recomputed(pair, real(pair, **changes))
        for k in KS:
            assert exact_parts(found[k]) == exact_parts(count(real(pair, k=k, **changes).steps))
    ends = replace(tiny_pair("target12", "draft12"))
    target = _with_end(ends.target, real(ends).output_ids[12])
    for pair in (replace(ends, target=target), replace(ends, target=target, draft=_with_end(ends.draft, 4))):
        trace = real(pair)
        assert trace.stop == "eos"
        found = recomputed(pair, trace)
        for k in KS:
            assert exact_parts(found[k]) == exact_parts(count(real(pair, k=k).steps))


def _with_end(model, token):
    return replace(model, eos_ids=frozenset({token}))


def test_a_text_that_outgrows_a_context():
    """target and draft of 128 positions; then a draft that reads 40 only."""
    pair = tiny_pair("ctx_t", "ctx_d")
    trace = real(pair, max_new_tokens=400)
    assert trace.stop == "context" and len(trace.output_ids) > 100
    assert recomputed(pair, trace)[5] == count(real(pair, k=5, max_new_tokens=400).steps)
    short = replace(pair, draft=replace(pair.draft, context=40))
    found = recomputed(short, real(short))
    assert {k: count(real(short, k=k).steps) for k in KS} == found
    assert guessed(short, real(short)).guesses[40:] == [None] * 20


def test_long_outputs_are_read_in_pieces(monkeypatch):
    monkeypatch.setattr("specviz.experiments.draft_predictions.PIECE", 7)
    pair = tiny_pair("ctx_t", "ctx_d")
    trace, guessing = real(pair), None
    guessing, turns = Guessing(pair, trace), 1
    while guessing.step():
        turns += 1
    assert turns == 9 and PIECE > 7
    assert counterfactual(trace, guessing.guesses, [3])[3] == count(real(pair, k=3).steps)


def test_of_a_run_that_goes_on_whole_steps_are_counted():
    pair = tiny_pair("ctx_t", "ctx_d")
    whole = real(pair, k=3)
    half = replace(whole, steps=whole.steps[:9], stop=None)
    found = recomputed(pair, half)
    assert found[3] == count(half.steps)
    for k in KS:
        known = [s for s in real(pair, k=k).steps if s.start + len(s.emitted_ids) <= len(half.output_ids)]
        # an accepted token at the very end leaves open what would have come after it
        assert count(known).steps - found[k].steps in (0, 1)


def test_what_does_not_follow_is_an_error_in_a_sentence():
    pair = tiny_pair("ctx_t", "ctx_d")
    trace = real(pair)
    with pytest.raises(SpecvizError, match="uses other random numbers"):
        Guessing(pair, specviz.run(pair, PROMPT, replace(GREEDY, temperature=1)))
    with pytest.raises(SpecvizError, match="no step yet"):
        Guessing(pair, replace(trace, steps=()))
    with pytest.raises(SpecvizError, match="no draft model"):
        Guessing(tiny_pair("ctx_t"), trace)
    assert obstacle(trace) is None
    changed = replace(trace.steps[-1], settings=replace(GREEDY, repetition_penalty=2))
    assert "changed during the run" in obstacle(replace(trace, steps=(*trace.steps[:-1], changed)))
    unknown = replace(trace.steps[0], settings=replace(trace.steps[0].settings, rule="block verification"))
    assert "'block verification' is unknown here" in obstacle(replace(trace, steps=(unknown, *trace.steps[1:])))


def test_which_k_a_run_had():
    pair = tiny_pair("ctx_t", "ctx_d")
    assert own_k(real(pair, k=5)) == 5
    assert own_k(real(pair, k=0)) is None and own_k(real(pair, draft_length="heuristic")) is None
    assert own_k(real(pair, strategy="prompt lookup")) is None


def test_the_speed_up_of_counts_is_the_formula_s():
    v = lambda k: 1 + 0.125 * k  # noqa: E731
    assert expected_speed_up(3.0, 4, 0.2, v) == pytest.approx(3 / (4 * 0.2 + 1.5))
    assert expected_speed_up(1.0, 0, 0.2, v) == 1
