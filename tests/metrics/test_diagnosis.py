"""A case made up for each cause: the cause is found, comes first, and has the run's numbers. Sentences: tests/views."""

import pytest

from specviz.metrics.diagnosis import SELDOM, diagnose, headline
from specviz.metrics.pace import Point
from specviz.metrics.theory import speed_up
from specviz.metrics.trust import Doubt
from tests.made_runs import case


def causes(found):
    return [finding.cause for finding in diagnose(found)]


def numbers(**values):
    return pytest.approx(values, abs=0.005)


@pytest.mark.parametrize(
    ("found", "cause", "values", "details"),
    [
        (case(alpha=0.6, c=0.8), "slow_draft", numbers(c=0.8), ()),
        (case(alpha=0.6, c=0.6), "slow_draft", numbers(c=0.6), ()),
        (case(alpha=0.6, c=0.05, k=16), "long_draft", numbers(now=1.39, best=4, then=1.92), ()),
        (case(alpha=0.1, c=0.05, k=1), "low_agreement", numbers(c=0.05, break_even=0.05), ()),
        (
            case(k=4, c=0.05, slope=0.3),
            "costly_verification",
            numbers(v=2.2, textbook=2.80, real=1.40),
            ("draft_less",),
        ),
        (
            case(alpha=0.6, c=0.1, k=4, slope=0.4),
            "costly_verification",
            numbers(v=2.6, textbook=1.65, real=0.77),
            ("whole_gain", "draft_less"),
        ),
        (case(alpha=0.9, c=0.05, k=2), "short_draft", numbers(now=2.46, best=13, then=4.67), ()),
        (case(idle=20, short=((0, 0.4),), k=8), "nothing_found", numbers(now=2.03, whole=2.40), ()),
        (case(measured=1.0), "overhead", numbers(expected=2.40, measured=1.0), ()),
        (case(measured=2.2), "overhead", numbers(expected=2.40, measured=2.2), ()),
    ],
)
def test_each_cause_is_found_first_with_the_runs_numbers(found, cause, values, details):
    finding = diagnose(found)[0]
    assert (finding.cause, finding.details) == (cause, details) and finding.numbers == values


def test_causes_that_come_together_are_all_reported_the_most_expensive_first():
    found = diagnose(case(alpha=0.3, c=0.5, k=8, slope=0.2))
    assert {"slow_draft", "low_agreement", "costly_verification"} <= {finding.cause for finding in found}
    assert [f.cost for f in found] == sorted((f.cost for f in found), reverse=True)


def test_overhead_is_reported_where_it_costs_a_notable_share_and_ranks_by_it():
    lost = {finding.cause: finding.cost for finding in diagnose(case(k=4, measured=2.2))}
    assert lost["overhead"] == pytest.approx(1 - 2.2 / speed_up(0.8, 4, 0.1))
    assert "overhead" not in causes(case(k=4, measured=2.35))


def test_all_causes_are_weighed_on_one_scale():
    """A draft made of the target's own lower half: it hardly agrees, but what it costs weighs more."""
    first, second, *_ = diagnose(case(alpha=0.03, c=0.45, slope=0.05))
    flat = lambda n: 1 + 0.05 * n  # noqa: E731
    assert (first.cause, second.cause) == ("slow_draft", "low_agreement")
    assert first.cost == pytest.approx(1 - 1.2 / (1 + 4 * 0.45 + 0.2))
    assert second.cost == pytest.approx(1 - speed_up(0.03, 4, 0.45, flat) / speed_up(SELDOM, 4, 0.45, flat))


def test_a_smaller_k_is_advised_only_where_it_is_better():
    found = {finding.cause: finding for finding in diagnose(case(alpha=0.9, c=0.01, k=2, slope=0.12))}
    assert "short_draft" in found and "draft_less" not in found["costly_verification"].details
    assert "draft_less" in diagnose(case(alpha=0.6, c=0.1, k=12, slope=0.4))[0].details


def test_a_look_up_is_known_by_its_cost():
    lookup, model = ({f.cause: f for f in diagnose(case(alpha=0.2, c=c))}["low_agreement"] for c in (0.0, 0.05))
    assert lookup.details == ("look_up",) and model.details == ()


def test_too_few_tests_hide_no_look_up_in_vain():
    few, vain = diagnose(case(tested=8, idle=23, steps=31))
    assert (few.cause, few.details) == ("unknown", ("few_tested",))
    assert vain.cause == "nothing_found" and vain.cost == 0 and not vain.numbers


@pytest.mark.parametrize(
    ("found", "doubt"),
    [
        # 150 tokens in 50 steps
        (case(measured=3.4), Doubt("beyond", {"tau": 3.0})),
        (
            case(uneven=Doubt("uneven", {"mean_s": 0.07, "median_s": 0.02})),
            Doubt("uneven", {"mean_s": 0.07, "median_s": 0.02}),
        ),
        (case(measured=2.9), Doubt("too_good", numbers(expected=2.40))),
        (case(others=Doubt("others", {"turns": 3})), Doubt("others", {"turns": 3})),
    ],
    ids=["beyond", "uneven", "too good", "others"],
)
def test_an_impossible_speed_up_is_doubtful(found, doubt):
    said = headline(found)
    assert said.code == "doubtful" and said.doubt == doubt


def test_a_run_of_two_k_says_which_the_speed_up_belongs_to():
    slow, fast = Point(8, 0.9, 20, 60), Point(2, 1.2, 30, 60)
    said = headline(case(points=(slow, fast), whole=1.02))
    assert (said.point, said.whole) == (fast, 1.02)
    assert headline(case(whole=1.02)).whole is None


def test_nothing_is_wrong():
    (finding,) = diagnose(case(alpha=0.7, c=0.1, k=4, slope=0.005))
    assert finding.cause == "none" and finding.numbers == numbers(c=0.1, v=1.02, now=1.95, best=4)


@pytest.mark.parametrize(
    ("found", "details"),
    [
        (case(tested=3), ("few_tested",)),
        (case(cost_ratio=None), ("no_costs",)),
        (case(verify_cost=((1, 1.0),), tested=3), ("few_tested", "no_costs")),
        (case(strategy="", tested=0), ("nothing_drafted",)),
    ],
)
def test_what_is_lacking(found, details):
    (finding,) = diagnose(found)
    assert (finding.cause, finding.details) == ("unknown", details)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (case(measured=0.9), "slower"),
        (case(measured=1.3), "faster"),
        (case(measured=1.0), "equal"),
        (case(points=()), "not_measured"),
        (case(strategy="", points=()), "target_alone"),
        (case(strategy="", points=(), whole=1.01), "target_alone_timed"),
        (case(strategy="", points=(), whole=1.32), "target_alone_noisy"),
    ],
)
def test_the_headline_is_what_was_measured(found, code):
    assert headline(found).code == code


def test_a_tree_is_called_one():
    assert "tree" in diagnose(case(slope=0.3, tree=True))[0].details


def test_an_extrapolated_v_is_marked():
    assert diagnose(case(alpha=0.9, c=0.05, k=2, reach=2))[0].details == ("extrapolated",)
