"""Words in charts: each change of settings has some or a number with a key, none cut off; and how often charts are filled."""

import random

from specviz.core.records import Fate
from specviz.views import wire
from tests.views import js
from tests.views.test_columns import FILL, a_step

FILES = ["dom.js", "shape.js", "store.js", "changes.js"]
LETTER = 6.4


def steps_of(settings):
    """One step for each entry: strategy and K."""
    return [
        wire.step(a_step([], [], Fate.BONUS, i, i, strategy=strategy, k=k)) for i, (strategy, k) in enumerate(settings)
    ]


def groups(settings, px_per_step):
    """Groups of changes of such a run, as [first step, last step, label]."""
    return js.run(
        FILES,
        f"(() => {{ {FILL} return changeGroups(store, (step) => {px_per_step} * (step - 1))"
        ".map((g) => [g.from, g.step, g.label]); })()",
        {"steps": steps_of(settings), "b": None},
    )


def test_the_strategy_at_the_start_is_named_once_it_is_left_and_k_by_its_change():
    assert groups([("greedy", 4)] * 9, 20) == []
    assert groups([("greedy", 4)] * 3 + [("none", 4)] * 3, 20) == [[1, 1, "greedy"], [4, 4, "none"]]
    assert groups([("greedy", 4)] * 3 + [("greedy", 7)] * 3, 20) == [[4, 4, "K 4→7"]]


def test_changes_too_near_to_be_told_apart_are_one_with_what_came_of_them():
    drawn = [("greedy", k) for k in (4, 4, 5, 6, 7, 7)]
    assert groups(drawn, 2) == [[3, 5, "K 4→7"]]
    assert groups(drawn, 20) == [[3, 3, "K 4→5"], [4, 4, "K 5→6"], [5, 5, "K 6→7"]]
    # there and back again is no change
    assert groups([("greedy", k) for k in (4, 9, 4, 4)], 2) == []


def placed(*cases):
    """What becomes of each (marks, width)."""
    return js.run(FILES, "GIVEN.map(([marks, width]) => placeLabels(marks, width))", cases)


def test_words_stand_whole_beside_each_other_in_at_most_two_rows_or_give_way_to_numbers():
    random.seed(3)
    seen, cases, width = set(), [], 360
    for _ in range(200):
        at = sorted(random.sample(range(0, width, 16), random.randint(1, 12)))
        cases.append(([{"at": x, "label": "x" * random.randint(3, 14)} for x in at], width))
    for (marks, _), found in zip(cases, placed(*cases), strict=True):
        seen.add(found["numbered"])
        assert len(found["labels"]) == len(marks) and 1 <= found["rows"] <= 2
        if found["numbered"]:
            numbers = [str(i + 1) for i in range(len(marks))]
            assert [n["text"] for n in found["labels"]] == numbers and found["rows"] == 1
            continue
        spans = {}
        for mark, label in zip(marks, found["labels"], strict=True):
            long = LETTER * len(mark["label"])
            start = mark["at"] - (long if label["anchor"] == "right" else 0)
            assert label["text"] == mark["label"] and start >= 0 and start + long <= width + 1e-6
            assert all(start >= end or start + long <= begin for begin, end in spans.get(label["row"], []))
            spans.setdefault(label["row"], []).append((start, start + long))
    assert seen == {True, False}


def test_one_change_at_the_right_edge_is_written_to_the_left_of_its_line():
    (found,) = placed(([{"at": 350, "label": "4-bit copy"}], 360))
    assert found["labels"] == [{"at": 350, "row": 0, "text": "4-bit copy", "anchor": "right"}]


def test_a_round_of_all_charts_takes_no_longer_than_its_time_whatever_a_filling_costs():
    pause = "GIVEN.map(([costs, seen, first]) => pause(costs, seen, first))"
    files = ["dom.js", "charts.js"]
    given = [[[cost, 2 * cost], seen, False] for cost in (1, 10, 40, 500) for seen in (1, 2, 3, 6)]
    for (costs, seen, _), wait in zip(given, js.run(files, pause, given), strict=True):
        assert seen * wait <= 1200
        # held to a thirtieth of the time where that is live enough
        assert wait >= min(30 * costs[0], 1200 / seen) - 1e-9
    assert js.run(files, pause, [[[], 3, False], [[500], 3, True]]) == [400, 30]


def test_a_count_stands_above_a_bar_too_low_for_it():
    files, words = ["dom.js", "charts.js"], "GIVEN.map((values) => wordsOnBars(values, 158))"
    few, many = js.run(files, words, [[1, 0.5, 0.1, 0], [0.9, 0.3] * 8])
    assert few == {"textposition": [["inside", "inside", "outside", "outside"]], "textangle": [0]}
    assert many == {"textposition": [["inside", "outside"] * 8], "textangle": [-90]}
