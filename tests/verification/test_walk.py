"""The walk, on cases small enough to count by hand. Four tokens, coins given one by one."""

import torch

from specviz.core.draft import Draft
from specviz.core.sampling import one_hot
from specviz.verification import RULES, verify

RULE = RULES["speculative sampling"]
A, B, C, D = range(4)


def coins(accept, emit=0.5):
    """Accept coins by (position, sibling); one emit coin for all."""
    return lambda position, purpose, sibling: emit if purpose == "emit" else accept[position, sibling]


def rows(*likely):
    """One row a position: 0.7 on the named token, 0.1 on each other."""
    return torch.stack([torch.full((4,), 0.1).index_fill(0, torch.tensor([t]), 0.7) for t in likely])


def chain(*tokens):
    return Draft(tokens, tuple(range(-1, len(tokens) - 1)), tuple(one_hot(t, 4) for t in tokens))


def test_an_empty_draft_emits_one_token_of_the_target():
    walk = verify(Draft(), rows(C), RULE, coins({}), 0)
    assert (walk.path, walk.extra, walk.rejected, walk.verdicts) == ((), C, False, {})


def test_a_full_acceptance_earns_a_bonus():
    walk = verify(chain(A, B), rows(A, B, C), RULE, coins({(0, 0): 0.1, (1, 0): 0.6}), 0)
    assert (walk.path, walk.extra, walk.rejected) == ((0, 1), C, False)


def test_the_first_rejection_ends_the_walk_and_later_tokens_stay_untested():
    walk = verify(chain(A, B, C), rows(A, C, C, C), RULE, coins({(0, 0): 0.1, (1, 0): 0.2}), 0)
    assert (walk.path, set(walk.verdicts), walk.rejected) == ((0,), {0, 1}, True)
    assert walk.extra == C  # B was rejected and can no longer be drawn there


def test_coins_are_keyed_by_output_position():
    asked = []

    def spy(position, purpose, sibling):
        asked.append((position, purpose, sibling))
        return 0.0

    verify(chain(A, B), rows(A, B, C), RULE, spy, 10)
    assert asked == [(10, "accept", 0), (11, "accept", 0), (12, "emit", 0)]


def test_an_accepted_end_token_ends_the_walk_without_a_token_of_the_target():
    walk = verify(chain(A, D, B), rows(A, D, B, C), RULE, coins({(0, 0): 0.0, (1, 0): 0.0}), 0, end_ids={D})
    assert (walk.path, walk.extra, walk.rejected) == ((0, 1), None, False)


def test_siblings_are_tried_in_order_against_what_is_left_of_the_target():
    # root has children A and B; below B comes C
    draft = Draft((A, B, C), (-1, -1, 1), tuple(one_hot(t, 4) for t in (A, B, C)))
    target = rows(B, A, C, D)  # after the text, after A, after B, after C
    walk = verify(draft, target, RULE, coins({(0, 0): 0.5, (0, 1): 0.75, (1, 0): 0.1}), 0)
    assert walk.verdicts[0].accept_prob == target[0, A].item()
    assert abs(walk.verdicts[1].accept_prob - 0.7 / 0.9) < 1e-6  # A is out of the target by then
    assert (walk.path, walk.extra) == ((1, 2), D)


def test_when_every_sibling_is_rejected_the_correction_is_neither_of_them():
    draft = Draft((A, B), (-1, -1), (one_hot(A, 4), one_hot(B, 4)))
    for emit in (0.0, 0.4, 0.6, 0.99):
        walk = verify(draft, rows(A, A, A), RULE, coins({(0, 0): 0.99, (0, 1): 0.99}, emit), 0)
        assert walk.rejected and walk.extra in (C, D)
