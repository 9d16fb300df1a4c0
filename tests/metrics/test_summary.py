"""A run in a dozen numbers: what was not measured is a gap, and slower than the target alone is said as it is."""

import json
from dataclasses import replace

import pytest

from specviz.core.records import BaselineRecord
from specviz.metrics.summary import summary
from specviz.traces.trace import Trace
from tests.made_runs import run_of


def told(steps, baseline=None):
    found = summary(Trace("", (1,), tuple(steps), "", None, {}, baseline=baseline))
    json.dumps(found, allow_nan=False)
    return found


def test_before_the_first_step_nothing_is_known():
    found = told([])
    assert (found["tokens"], found["target_passes"], found["drafted"]) == (0, 0, 0)
    for name in ("acceptance_rate", "block_efficiency", "tokens_per_s", "speed_up", "same_as_alone"):
        assert found[name] is None


def test_no_drafts_and_a_target_alone_that_took_no_time_are_gaps():
    found = told(run_of([(0, 0), (0, 0)]), BaselineRecord((1, 2), (0.0, 0.0)))
    assert found["acceptance_rate"] is None and found["block_efficiency"] == 1
    assert found["tokens_per_s"] == pytest.approx(20)
    assert found["target_alone_tokens_per_s"] is None and found["speed_up"] is None


@pytest.mark.parametrize(("alone_s", "speed_up"), [(0.1, 4.0), (0.02, 0.8)])
def test_speed_up_may_be_below_one(alone_s, speed_up):
    # two steps of 50 ms that give three tokens and one: 40 a second
    found = told(run_of([(3, 2), (3, 0)]), BaselineRecord((1, 2), (alone_s, alone_s), identical=True))
    assert found["speed_up"] == pytest.approx(speed_up) and found["same_as_alone"] is True


def test_a_rule_that_changes_the_output_is_told_where_it_decided_about_a_draft():
    steps = run_of([(2, 1), (0, 0)])
    assert told(steps)["lossless"] is True
    lenient = replace(steps[0].settings, rule="lenience")
    assert told([replace(steps[0], settings=lenient), steps[1]])["lossless"] is False
    assert told([steps[0], replace(steps[1], settings=lenient)])["lossless"] is True  # nothing was drafted under it


def test_few_drafts_that_are_all_accepted_are_seen_to_be_few():
    """As a rate alone it would look perfect; what was drafted and tokens per pass stand beside it."""
    found = told(run_of([(1, 1), *[(0, 0)] * 9]))
    assert found["acceptance_rate"] == 1.0 and found["drafted"] == 1 and found["block_efficiency"] == 1.1
