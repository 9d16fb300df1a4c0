"""The losslessness meter without Gradio: right rules pass, others are caught, and what cannot be shown is a sentence."""

import re
from dataclasses import replace

import pytest

from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import say
from specviz.decoding import engine
from specviz.recordings import gallery
from specviz.sessions import lossless_check
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.job import Job
from specviz.sessions.lossless_check import NAMES, at, counted, replayed, telling
from tests.conftest import tiny_pair
from tests.ui.browser import evil_pair

FRAMES = (100, 1000, 20_000)


def run(strategy="sampling", **changes):
    settings = RunSettings(**{"strategy": strategy, "k": 3, "max_new_tokens": 12, "temperature": 2.0, **changes})
    return engine.run(tiny_pair("target12", "draft12"), "w1 w2 w3 w1 w2", settings)


def replays(trace, names=NAMES, seed=1, position=None, frames=FRAMES):
    return list(replayed(Job().claim(), trace, *(position or telling(trace)), names, seed, frames, pace_s=0))


def verdicts(page):
    """Sign of each panel by the name of its rule."""
    heads = re.findall(r"<h4>([^<]+) <span", page)
    signs = re.findall(r"sv-lo-verdict[^>]*><b>(.)</b>", page)
    assert len(heads) == len(signs)
    return dict(zip(heads, signs, strict=True))


@pytest.mark.parametrize("trace", [run(), run("greedy"), gallery.read("explanation")], ids=["drawn", "chosen", "real"])
def test_two_rules_pass_and_the_mistakes_are_caught_at_a_telling_position(trace):
    pages = replays(trace)
    assert len(pages) == len(FRAMES) and "20,000 of 20,000" in pages[-1][0]
    found = verdicts(pages[-1][1])
    assert list(found) == NAMES
    assert [name for name, sign in found.items() if sign == "✓"] == ["speculative sampling", "token matching"]
    assert found["correction drawn from p"] == found["argmax judged as a draw"] == found["lenience"] == "✗"
    # a rule that rejects a token for every random number is right at that position, but is not called exact
    assert found["typical acceptance"] in "✗○"


def test_every_rate_has_its_denominator_and_chance_stands_beside_the_distance():
    page = replays(run(), ["token matching"])[-1][1]
    assert say("lossless.after", n="20,000", unit="replays") in page
    assert re.search(re.escape(say("lossless.by_chance", mean="M", most="M")).replace("M", r"0\.\d{4}"), page)
    chi = re.escape(say("lossless.chi_square", chi="X", freedom="N", p="p = "))
    assert re.search(chi.replace("X", r"[\d.]+").replace("N", r"\d+"), page)
    assert say("lossless.by_formula", distance=0) in page


def test_the_same_seed_tells_the_same_whatever_else_is_ticked():
    trace = run()
    alone = replays(trace, ["token matching"])[-1][1]
    beside = replays(trace, ["lenience", "token matching"])[-1][1]
    own = re.compile(r"<h4>token matching.*?</section>", re.S)
    lenient = re.compile(r"<td>([\d.]+)</td></tr>")
    assert lenient.findall(own.search(alone)[0]) == lenient.findall(own.search(beside)[0])
    assert replays(trace, ["token matching"], seed=2)[-1][1] != alone


@pytest.mark.parametrize("strategy", ["sampled tree", "beam search"])
def test_a_tree_is_replayed_with_its_siblings(strategy):
    trace = run(strategy)
    record, where = at(trace, *telling(trace))
    assert sum(token.parent == where.node for token in record.tokens) > 1
    assert verdicts(replays(trace, ["speculative sampling", "correction drawn from p"])[-1][1]) == {
        "speculative sampling": "✓",
        "correction drawn from p": "✗",
    }


def test_at_temperature_0_it_is_said_in_words():
    pages = replays(run(temperature=0))
    assert len(pages) == 1 and "at temperature 0 the target always takes" in pages[0][1]
    assert "NaN" not in pages[0][1] and "<table" not in pages[0][1]


def test_a_position_without_a_model_cannot_show_the_mistake_with_the_softmax_and_says_so():
    trace = run("prompt lookup")
    page = replays(trace, ["speculative sampling", "argmax judged as a draw"])[-1][1]
    assert "Not shown: no model made this draft" in page and page.count("<table") == 1
    assert "no model made this draft" in replays(trace, ["argmax judged as a draw"])[-1][1]


@pytest.mark.parametrize(
    ("step", "position", "names", "seed", "sentence"),
    [
        (1, 1, [], 1, "at least one rule"),
        (1, 1, ["magic"], 1, "no rule named 'magic'"),
        (1, 1, NAMES, -1, "seed must be"),
        (1, 1, NAMES, None, "seed must be"),
        (0, 1, NAMES, 1, "step must be a whole number from 1 to"),
        (None, 1, NAMES, 1, "step must be"),
        (999, 1, NAMES, 1, "step must be"),
        (1, 9, NAMES, 1, "position in step 1 must be"),
    ],
)
def test_what_is_wrong_is_one_sentence(step, position, names, seed, sentence):
    with pytest.raises(SpecvizError, match=sentence):
        replays(run(), names, seed, (step, position))


def test_runs_without_drafts_bonus_positions_and_empty_runs_are_one_sentence():
    with pytest.raises(SpecvizError, match="Nothing was drafted in this run"):
        telling(run(k=0))
    with pytest.raises(SpecvizError, match="no step yet"):
        replays(replace(run(), steps=()), position=(1, 1))
    trace = run()
    bonus = next((s.index + 1, n + 1) for s in trace.steps for n, p in enumerate(s.positions) if p.overlap is None)
    assert say("sessions.check_alone") in lossless_check.about(trace, *bonus)
    with pytest.raises(SpecvizError, match=say("lossless.not_drafted")):
        replays(trace, position=bonus)


def test_words_of_models_are_escaped():
    trace = engine.run(evil_pair(), [0, 1, 2, 0, 1], RunSettings(strategy="prompt lookup", k=2, max_new_tokens=9))
    page = replays(trace)[-1][1]
    # the cycle is all but certain, and its words are markup
    assert "<script" not in page and "<img" not in page
    assert "“" in lossless_check.about(trace, *telling(trace))


def test_whole_runs_pass_and_fail_like_the_rules_they_are_made_with():
    pages = list(
        counted(Job().claim(), DecodeQueue(), "sampling", ["correction drawn from p", "speculative sampling"], 300)
    )
    assert pages[-1][0] == say("sessions.check_counted", done=300, wanted=300)
    assert verdicts(pages[-1][1]) == {"speculative sampling": "✓", "correction drawn from p": "✗"}
    assert "216 texts are possible" in pages[-1][1]


@pytest.mark.parametrize(
    ("strategy", "names", "runs", "sentence"),
    [
        ("magic", NAMES, 300, "no strategy named"),
        ("greedy", [], 300, "at least one rule"),
        ("greedy", NAMES, 1e9, "runs must be"),
    ],
)
def test_what_is_wrong_with_whole_runs_is_one_sentence(strategy, names, runs, sentence):
    with pytest.raises(SpecvizError, match=sentence):
        list(counted(Job().claim(), DecodeQueue(), strategy, names, runs))


def test_stop_ends_a_replay_and_whole_runs_within_a_slice():
    trace, job = run(), Job()
    pages = replayed(job.claim(), trace, *telling(trace), NAMES, 1, FRAMES, pace_s=0)
    assert next(pages)[0].startswith("Replayed 100 of")
    job.stop()
    assert list(pages) == []
    pages = counted(job.claim(), DecodeQueue(), "sampling", ["speculative sampling"], 2000)
    while not next(pages)[0].startswith("100 of"):
        pass
    job.claim()  # pressed again: the earlier one ends
    assert list(pages) == []
