"""Sweeping without Gradio: progress, stopping and going on, what is kept, what is told; pictures of what is done."""

import csv
import html
import io
import json
import re

import pytest

from specviz.core.words import say
from specviz.experiments.compare import Comparison
from specviz.sessions.control_values import ControlValues
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.sweeping import OWN, Choice, Sweeping
from specviz.sessions.visitors import Visitor
from specviz.views import sweep as view
from tests.sessions.handlers import VALUES, load

SMALL = Choice(["greedy", "prompt lookup"], [1, 4], [0.0], [OWN], 16)


@pytest.fixture
def sweeping(monkeypatch):
    monkeypatch.setattr("specviz.sessions.sweeping.DRAWING_S", 0)
    return Sweeping(ModelCache(load), DecodeQueue())


@pytest.fixture
def begun(monkeypatch):
    """Names of all lanes that were begun, a pair for each cell."""
    cells, first = [], Comparison.__init__

    def counted(self, pair, prompt, lanes, progress=None):
        cells.append([(s.strategy, s.k, s.temperature) for s in lanes.values()])
        first(self, pair, prompt, lanes, progress)

    monkeypatch.setattr(Comparison, "__init__", counted)
    return cells


def visitor(**changes):
    return Visitor(ControlValues(VALUES | {"temperature": 0} | changes))


def sweep(sweeping, someone, choice):
    return sweeping.sweep(someone.jobs["sweep"].claim(), someone, choice)


def line(seen):
    return html.unescape(re.sub(r"<[^>]+>", "", seen.progress))


def rows(seen):
    return [json.loads(row) for row in json.loads(seen.pictures)["jsonl"].splitlines()] if seen.pictures else []


def test_every_cell_is_measured_in_turns_with_the_target_alone(sweeping, begun):
    seen = list(sweep(sweeping, visitor(), SMALL))
    assert line(seen[0]).startswith(("0 of 4", "Loading")) and line(seen[-1]) == f"4 of 4: {say('sessions.sweep_done')}"
    assert [cell[0][:2] for cell in begun] == [("none", 0)] * 4
    assert [cell[1][:2] for cell in begun] == [("greedy", 1), ("greedy", 4), ("prompt lookup", 1), ("prompt lookup", 4)]
    last = rows(seen[-1])
    assert [(r["strategy"], r["k"], r["prompts"], r["tokens"], r["same"]) for r in last] == [
        (strategy, k, 1, 16, True) for strategy in SMALL.strategies for k in SMALL.ks
    ]
    assert all(r["speed_up_low"] <= r["speed_up"] <= r["speed_up_high"] for r in last)
    table = seen[-1].table
    # one of the cells is marked, or none because the target alone was as fast as any
    marked = re.search(r'class="sv-fastest"><th scope="row">([^<]+) <b', table)
    best = max(last, key=lambda row: row["speed_up"])
    assert table.count("<tr") == 5 and table.count("sv-fastest") == (best["speed_up"] > 1)
    assert marked is None or marked[1] == best["strategy"]


def test_the_estimate_comes_before_the_first_cell(sweeping, begun):
    someone = visitor()
    assert sweeping.plan(someone, SMALL) == "4 combinations: up to 128 tokens, half of them by the target alone."
    drive = sweep(sweeping, someone, SMALL)
    told = line(next(s for s in drive if "combinations" in line(s)))
    assert re.search(r"up to 128 tokens, half of them by the target alone; about \d+ s here", told) and not begun
    list(drive)
    assert sweeping.plan(someone, SMALL) == "4 combinations: everything is measured."


def test_stopping_keeps_what_is_done_and_the_same_choices_go_on_from_there(sweeping, begun):
    someone = visitor()
    drive = sweep(sweeping, someone, SMALL)
    for seen in drive:
        if len(rows(seen)) == 2:
            someone.jobs["sweep"].stop()
            break
    seen = list(drive)[-1]
    assert len(rows(seen)) == 2 and "Stopped. Still to measure: 2 combinations." in line(seen)
    half = len(begun)
    last = list(sweep(sweeping, someone, SMALL))[-1]
    assert len(rows(last)) == 4
    # a cell that had begun when it was stopped is begun anew, all others ran once
    assert half <= 3 and [cell[1][:2] for cell in begun[half:]] == [("prompt lookup", 1), ("prompt lookup", 4)]
    again = len(begun)
    assert rows(list(sweep(sweeping, someone, SMALL))[-1]) == rows(last) and len(begun) == again


@pytest.mark.parametrize("strategies", [["greedy"], ["prompt lookup"]])
def test_what_is_saved_says_what_the_table_says(sweeping, strategies):
    last = list(sweep(sweeping, visitor(), Choice(strategies, [1, 4], [0.0, 1.0], [OWN], 16)))[-1]
    told = json.loads(last.pictures)
    text = list(csv.DictReader(io.StringIO(told["csv"])))
    plain = [json.loads(row) for row in told["jsonl"].splitlines()]
    assert [list(row) for row in text] == [list(row) for row in plain] and len(text) == 4
    body = re.findall(r'<tr[^>]*><th scope="row">([^<]+)(.*?)</tr>', last.table)
    for saved, line_, (name, cells) in zip(text, plain, body, strict=True):
        k, temperature, *shown, prompts = re.findall(r"<td>(.*?)</td>", cells)
        assert (name.strip(), k, temperature) == (saved["strategy"], saved["k"], f"{float(saved['temperature']):g}")
        assert prompts == f"{saved['prompts']} of {saved['prompts_wanted']}"
        for column, cell in zip(view.COLUMNS, shown, strict=True):
            value, form = saved[column], ".1f" if column.endswith("tokens_per_s") else ".2f"
            if column == "same":
                want = {"True": "✓ yes", "False": "✗ no", "": "–"}[value]
                assert cell == want and (line_[column] is None) == (value == "")
                continue
            assert float(value) == pytest.approx(line_[column], rel=1e-5)
            assert cell.partition(" <")[0].rstrip("×") == format(line_[column], form)
            if saved.get(f"{column}_low"):
                ends = [format(line_[f"{column}_{end}"], form) for end in ("low", "high")]
                assert " … ".join(ends) in cell
        assert f"({saved['accepted']} of {saved['tested']}" in cells and f"of {saved['drafted']})" in cells
        assert f"({saved['tokens']} in {saved['target_passes']}" in cells


def test_a_rule_that_changes_the_output_is_named_as_such(sweeping):
    one = Choice(["greedy"], [1], [0.0], [OWN], 1)
    exact, lossy = (list(sweep(sweeping, visitor(rule=rule), one))[-1].table for rule in ("token matching", "lenience"))
    assert "rule token matching, seed" in exact and "rule lenience (changes the output), seed" in lossy
    assert "Up to 1 token each" in lossy and "of 1 choice " in lossy


def test_other_choices_keep_the_cells_that_still_fit(sweeping, begun):
    someone = visitor()
    list(sweep(sweeping, someone, SMALL))
    wider = Choice(["greedy"], [1, 2, 4], [0.0, 0.7], [OWN], 16)
    del begun[:]
    last = list(sweep(sweeping, someone, wider))[-1]
    assert sorted(cell[1][1:] for cell in begun) == [(1, 0.7), (2, 0), (2, 0.7), (4, 0.7)] and len(rows(last)) == 6
    # the same prompt asked of another seed is another measurement
    someone.controls.values["seed"] = 9
    del begun[:]
    list(sweep(sweeping, someone, wider))
    assert len(begun) == 6


def test_nothing_is_drawn_while_a_cell_runs(sweeping, monkeypatch):
    monkeypatch.setattr("specviz.sessions.sweeping.FRAME_S", 0)
    seen = list(sweep(sweeping, visitor(), SMALL))
    shown = [s.pictures for s in seen]
    # it changes once a cell and never between two steps of one
    assert len(set(shown)) == 5 and len(seen) > 4 * 16


def test_pooled_prompts_are_counted(sweeping):
    both = Choice(["prompt lookup"], [2], [0.0], [OWN, "Story"], 8)

    def words(target, draft, dtype="auto", progress=None):
        from tests.conftest import tiny_pair  # noqa: PLC0415

        return tiny_pair("bytes_lm", "bytes_lm")

    seen = list(sweep(Sweeping(ModelCache(words), DecodeQueue()), visitor(), both))
    assert [r["prompts"] for r in rows(seen[-1])] == [2] and "2 of 2" in seen[-1].table
    assert "bootstrap over 2 prompts and their steps" in seen[-1].table
    assert any("1 of 2" in s.table for s in seen)  # half done is said, too


@pytest.mark.parametrize(
    ("changes", "choice", "sentence"),
    [
        ({}, {"strategies": []}, "at least one strategy"),
        ({}, {"ks": []}, "at least one K"),
        ({}, {"temperatures": []}, "at least one temperature"),
        ({}, {"prompts": []}, "at least one prompt"),
        ({"prompt": ""}, {}, "Type a prompt"),
        ({"top_p": 7}, {}, "top-p must be"),
        ({"target": "missing"}, {}, "no model named missing"),
        ({"draft": ""}, {"strategies": ["greedy"]}, "None of the chosen strategies can draft"),
    ],
)
def test_what_is_wrong_is_one_sentence(sweeping, changes, choice, sentence):
    wrong = Choice(**{n: getattr(SMALL, n) for n in Choice.__dataclass_fields__} | choice)
    seen = list(sweep(sweeping, visitor(**changes), wrong))[-1]
    assert sentence in line(seen) and not seen.pictures and not seen.table


def test_what_does_not_fit_is_left_out_and_named(sweeping):
    seen = list(sweep(sweeping, visitor(draft=""), SMALL))[-1]
    assert "Left out: “greedy”" in line(seen) and {r["strategy"] for r in rows(seen)} == {"prompt lookup"}


def test_gaps_in_the_pictures_are_gaps(sweeping):
    someone = visitor(prompt="w1")
    list(sweep(sweeping, someone, Choice(["prompt lookup"], [1], [0.0], [OWN], 8)))
    seen = list(sweep(sweeping, someone, Choice(["greedy", "prompt lookup"], [2], [0.0], [OWN], 8)))[-1]
    heat, lines = (picture["figure"] for picture in json.loads(seen.pictures)["pictures"])
    assert heat["data"][0]["y"] == ["greedy", "prompt lookup"] and heat["data"][0]["x"] == ["2"]
    assert [trace.get("name") for trace in lines["data"]][-1] == "target alone"
    assert "NaN" not in seen.pictures and "nan" not in seen.table


def test_a_line_of_progress_is_escaped_and_says_what_share_is_done():
    bar = view.progress(3, 8, 0.31, "<b>")
    assert "3 of 8: &lt;b&gt;" in bar and 'aria-valuenow="31"' in bar and 'role="status"' in bar
    assert 'role="status"' not in view.progress(3, 8, 0.31, "x", going=True)
    assert view.progress(0, 0, 0, "") == ""
