"""Suffix matching: by hand, and against a slow search over all substrings."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from specviz.core.coins import coins_of
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.drafting.prompt_lookup import continuation
from specviz.drafting.suffix import Automaton, SuffixDrafter
from tests import tiny

SUFFIX = RunSettings(strategy="suffix lookup", temperature=0, max_new_tokens=40)
A, B, C, D = range(4)


def automaton(ids):
    made = Automaton()
    for token in ids:
        made.append(token)
    return made


def readers(end_ids=frozenset()):
    """As much of a run's readers as a drafter without a model asks for."""
    return SimpleNamespace(target=SimpleNamespace(columns=tiny.WORDS, loaded=SimpleNamespace(eos_ids=end_ids)))


def drafted(ids, k, reach=0, end_ids=frozenset()):
    drafter = SuffixDrafter(readers(end_ids))
    return drafter.propose(ids, k, replace(SUFFIX, options={"reach": reach}), coins_of(1), 0)


def longest(ids, text):
    """The longest end of `text` that occurs in `ids` with something after it, and where it ends there."""
    for size in range(len(text), 0, -1):
        tail = text[-size:]
        ends = [e for e in range(size - 1, len(ids) - 1) if ids[e - size + 1 : e + 1] == tail]
        if ends:
            return size, ends
    return 0, []


def searched(ids, most):
    """What `likely` promises, by looking everywhere."""
    found, text = [], list(ids)
    _, ends = longest(ids, text)
    while len(found) < most and ends:
        votes = {}
        for end in ends:
            votes.setdefault(ids[end + 1], []).append(end + 1)
        token = max(votes, key=lambda t: (len(votes[t]), max(votes[t])))
        found.append(token)
        text.append(token)
        ends = [end for end in votes[token] if end + 1 < len(ids)] or longest(ids, text)[1]
    return found


@pytest.mark.parametrize("words", [1, 2, 3, 5])
def test_it_finds_what_a_search_over_all_substrings_finds(words):
    random.seed(words)
    for length in range(60):
        ids = [random.randrange(words) for _ in range(length)]
        made = automaton(ids)
        assert made.matched == longest(ids, ids)[0] and list(made.likely(9)) == searched(ids, 9)


def test_the_majority_wins_where_prompt_lookup_copies_the_latest():
    ids = [A, B, C, A, B, C, A, B, D, A, B]
    assert drafted(ids, 1).token_ids == (C,)
    assert continuation(ids, 3, 1) == [D]


def test_a_longer_match_than_any_n_gram_wins():
    long = [1, 2, 3, 4, 5, 6]
    ids = [*long, 7, 9, *long[1:], 8, 9, *long]
    assert drafted(ids, 1).token_ids == (7,)  # six tokens of context; the last five were followed by 8, too, and later
    assert continuation(ids, 5, 1) == [8]


def test_a_match_that_reaches_the_end_of_the_text_goes_on_with_a_shorter_one():
    assert drafted([A, B, C, A, B], 7).token_ids == (C, A, B, C, A, B, C)


def test_nothing_repeats():
    assert drafted([A, B, C], 4).stop == "no match" and drafted([], 4).stop == "no match"
    assert drafted([A, A], 0).stop == "none"


@pytest.mark.parametrize(("reach", "count"), [(0, 6), (0.5, 1), (1, 2), (2, 4)])
def test_a_match_of_two_tokens_drafts_as_many_as_the_knob_allows(reach, count):
    draft = drafted([A, B, C, D, 5, 6, 7, 8, A, B], 6, reach)
    assert draft.token_ids == (C, D, 5, 6, 7, 8)[:count] and draft.stop == ("k" if count == 6 else "end of match")


def test_an_end_token_ends_the_draft_and_stays():
    draft = drafted([A, B, C, D, A, B], 4, end_ids=frozenset({C}))
    assert draft.token_ids == (C,) and draft.stop == "end token"


def test_what_it_read_grows_with_the_run_and_another_text_is_read_anew():
    drafter, settings = SuffixDrafter(readers()), replace(SUFFIX, options={"reach": 0})
    for ids in ([A, B, C, A], [A, B, C, A, B], [D, C, D], [D, C]):
        fresh = drafted(ids, 4)
        assert drafter.propose(ids, 4, settings, coins_of(1), 0).token_ids == fresh.token_ids
    assert drafter.behind([D, C] * 30) and not drafter.behind([D, C, D])


def test_the_automaton_stays_small_and_quick_on_a_text_that_only_repeats():
    # counted, not timed: positions considered for one draft, and states
    made = automaton([A] * 4000)
    assert len(made.next) == 4001 and made.matched == 3999
    assert len(list(made._ends(made.link[made.last]))) == 2
    mixed = automaton([random.Random(1).randrange(3) for _ in range(4000)])
    assert len(mixed.next) <= 8000


def test_it_drafts_what_a_run_wrote_itself(pair):
    trace = engine.run(pair("cycle12"), [0], SUFFIX)
    assert list(trace.output_ids) == tiny.generate(tiny.folder("cycle12"), [0], 40)
    assert [s.draft_stop for s in trace.steps[:11]] == ["no match"] * 11
    assert all(t.fate == "accepted" for s in trace.steps for t in s.tokens) and len(trace.steps) < 24


def test_an_impossible_reach_is_invalid(pair):
    with pytest.raises(SettingsError, match="drafted per matched token must be a number from 0 to 32"):
        engine.start(pair("cycle12"), [0], replace(SUFFIX, options={"reach": -1}))
