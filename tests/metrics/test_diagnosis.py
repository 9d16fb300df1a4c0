"""A case made up for each cause: the cause is found, comes first, and its sentence holds the run's numbers."""

import pytest

from specviz.metrics.diagnosis import diagnose, headline
from specviz.metrics.pace import Pace, Point
from specviz.metrics.rates import Rate
from specviz.metrics.theory import speed_up


def case(alpha=0.8, c=0.1, k=4, slope=0.0, tested=100, measured=None, **other):
    """A run whose tests are independent and whose pass over one more place costs `slope`."""
    accepted = round(alpha * tested)
    expected = speed_up(accepted / tested, k, c, lambda n: 1 + slope * n) if tested else 1.0
    figures = {
        "strategy": "greedy",
        "alpha": Rate(accepted, tested),
        "by_place": (accepted / tested,) * k if tested else (),
        "cost_ratio": c,
        "verify_cost": ((1, 1.0), (2, 1 + slope), (17, 1 + 16 * slope)),
        "single_s": 0.05,
        "single_of": "the target alone",
        "source": "",
        "k": k,
        "reach": 16,
        "tree": False,
        "idle": 0,
        "steps": 50,
        "points": (Point(k, measured or expected, 50, 150),),
    }
    return Pace(**figures | other)


def causes(found):
    return [finding.cause for finding in diagnose(found)]


@pytest.mark.parametrize(
    ("found", "cause", "words"),
    [
        (case(alpha=0.6, c=0.8), "slow draft", ["c = 0.80", "α = 0.60 (60 of 100)"]),
        (case(alpha=0.6, c=0.6), "slow draft", ["Where c ≥ α no K helps"]),
        (case(alpha=0.6, c=0.05, k=16), "long draft", ["K = 16 promises 1.39×, K = 4 promises 1.92×"]),
        (case(alpha=0.1, c=0.05, k=1), "low agreement", ["α = 0.10 (10 of 100)", "Some K pays from α = 0.05 on"]),
        (case(alpha=0.8, c=0.05, k=4, slope=0.3), "dear verification", ["v(4) = 2.20", "2.80× into 1.40×"]),
        (case(alpha=0.6, c=0.1, k=4, slope=0.4), "dear verification", ["the whole gain"]),
        (case(alpha=0.9, c=0.05, k=2), "short draft", ["K = 2 promises", "K = 13 promises 4.67×"]),
        (
            case(idle=20, short=((0, 0.4),), k=8),
            "nothing found",
            ["20 of 50 steps found nothing to draft", "whole drafts would turn 2.03× into 2.40×"],
        ),
        (case(measured=1.0), "overhead", ["1.00× was measured"]),
        (case(measured=2.2), "overhead", ["2.40× was to be expected, 2.20× was measured"]),
    ],
)
def test_each_cause_is_found_first_and_told_with_the_runs_numbers(found, cause, words):
    finding = diagnose(found)[0]
    assert finding.cause == cause and finding.do
    assert all(word in finding.seen for word in words), finding.seen


def test_causes_that_come_together_are_all_told_the_dearest_first():
    found = diagnose(case(alpha=0.3, c=0.5, k=8, slope=0.2))
    assert {"slow draft", "low agreement", "dear verification"} <= {finding.cause for finding in found}
    assert [f.cost for f in found] == sorted((f.cost for f in found), reverse=True)


def test_all_else_is_told_wherever_it_takes_a_notable_share_and_ranks_by_it():
    lost = {finding.cause: finding.cost for finding in diagnose(case(k=4, measured=2.2))}
    assert lost["overhead"] == pytest.approx(1 - 2.2 / speed_up(0.8, 4, 0.1))
    assert "overhead" not in causes(case(k=4, measured=2.35))


def test_all_causes_are_weighed_on_one_scale():
    """A draft made of the target's own lower half: it hardly agrees, but what it costs weighs more."""
    first, second, *_ = diagnose(case(alpha=0.03, c=0.45, slope=0.05))
    assert (first.cause, second.cause) == ("slow draft", "low agreement")
    assert first.cost == pytest.approx(1 - 1.2 / (1 + 4 * 0.45 + 0.2)) and first.against == "drafting at no cost"
    assert second.against == "α = 0.5"


def test_advice_does_not_contradict_itself():
    found = {finding.cause: finding.do for finding in diagnose(case(alpha=0.9, c=0.01, k=2, slope=0.12))}
    assert "Set K to" in found["short draft"] and "Draft less far" not in found["dear verification"]
    assert "Draft less far" in diagnose(case(alpha=0.6, c=0.1, k=12, slope=0.4))[0].do


def test_a_look_up_is_not_told_to_be_distilled():
    lookup, model = ({f.cause: f.do for f in diagnose(case(alpha=0.2, c=c))}["low agreement"] for c in (0.0, 0.05))
    assert "where a text repeats itself or is commonplace" in lookup and "copy of the target in fewer bits" in model


def test_too_few_tests_hide_no_look_up_in_vain():
    few, vain = diagnose(case(tested=8, idle=23, steps=31))
    assert few.cause == "unknown" and "23 of 31 steps found nothing to draft" in vain.seen and vain.cost == 0


@pytest.mark.parametrize(
    ("found", "words"),
    [
        # 150 tokens in 50 steps
        (case(measured=3.4), "3.00 tokens a pass allow 3.00× at most"),
        (case(uneven="A pass took long."), "A pass took long."),
        (case(measured=2.9), "no more than 2.40× was to be expected"),
    ],
)
def test_a_speed_up_that_cannot_be_is_not_told_as_a_fact(found, words):
    said = headline(found)
    assert said.startswith("⚠ ") and "not to be trusted" in said and words in said and "Faster" not in said


def test_a_run_of_two_k_tells_of_which_the_speed_up_is():
    points = (Point(8, 0.9, 20, 60), Point(2, 1.2, 30, 60))
    said = headline(case(points=points, whole=1.02))
    assert "1.20× measured (60 tokens in 30 steps, K = 2)" in said and said.endswith("at every setting it had: 1.02×.")
    assert "whole run" not in headline(case(whole=1.02))


def test_nothing_is_wrong():
    (finding,) = diagnose(case(alpha=0.7, c=0.1, k=4, slope=0.005))
    assert finding.cause == "none" and "α = 0.70 (70 of 100), c = 0.10, v(4) = 1.02" in finding.seen


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (case(tested=3), "Only 3 drafted tokens were tested; let it run over more new tokens"),
        (case(tested=1), "Only 1 drafted token was tested"),
        (case(cost_ratio=None), "What drafting and verifying cost is not known"),
        (
            case(verify_cost=((1, 1.0),), tested=3),
            "or draft in more steps; what drafting and verifying cost is not known",
        ),
        (case(strategy="", tested=0), "There is no acceptance rate yet."),
    ],
)
def test_not_enough_measured_to_say(found, words):
    (finding,) = diagnose(found)
    assert finding.cause == "unknown" and words in finding.seen


def test_the_headline_is_what_was_measured_below_1_too():
    assert headline(case(measured=0.9)).startswith(
        "Slower than the target alone: 0.90× measured (150 tokens in 50 steps, K = 4)"
    )
    assert headline(case(measured=1.3)).startswith("Faster than")
    assert "drafts 2.5 deep" in headline(case(points=(Point(2.5, 1.3, 9, 30, True),)))
    assert "press Measure target alone" in headline(case(points=()))
    assert headline(case(strategy="", points=())) == "Nothing was drafted: this is the target alone."


def test_a_tree_is_called_one():
    assert "over a tree 4 deep and one more place takes v(4) = 2.20" in diagnose(case(slope=0.3, tree=True))[0].seen


def test_what_was_not_measured_is_said_to_be_extrapolated():
    assert "v is measured up to K = 2" in diagnose(case(alpha=0.9, c=0.05, k=2, reach=2))[0].seen


def test_a_run_that_drafted_nothing_is_1_and_what_is_not_is_the_machine():
    said = headline(case(strategy="", points=(), whole=1.32))
    assert said.startswith("⚠ Nothing was drafted") and "1.32× of itself. What is not 1 is the machine" in said
    assert headline(case(strategy="", points=(), whole=1.01)).endswith("measured at 1.01× of itself.")


def test_what_others_came_between_is_told():
    said = headline(case(others="Between the steps that were timed came 3 steps of others."))
    assert said.startswith("⚠") and "3 steps of others" in said
