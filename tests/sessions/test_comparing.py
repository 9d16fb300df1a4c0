"""Comparing without Gradio: the table fills, stops, says what was left out; a piece of page with nothing unescaped."""

import json
import re
import threading

import pytest

from specviz.core import words
from specviz.core.settings import RunSettings
from specviz.core.words import say
from specviz.experiments.compare import Comparison, lanes_of
from specviz.experiments.compared import ALONE
from specviz.recordings import gallery, studio
from specviz.sessions.comparing import Comparing, draw, recorded
from specviz.sessions.control_values import ControlValues
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.visitors import Visitor
from tests.conftest import tiny_pair
from tests.sessions.handlers import VALUES, load

FASTEST, UNSURE = say("columns.fastest"), say("columns.fastest_unsure")


@pytest.fixture
def comparing():
    return Comparing(ModelCache(load), DecodeQueue())


def visitor(**changes):
    return Visitor(ControlValues(VALUES | changes))


def compare(comparing, someone, strategies):
    return comparing.compare(someone.jobs["compare"].claim(), someone, strategies)


def test_one_click_compares_and_ends_with_a_verdict_on_the_text(comparing):
    seen = list(compare(comparing, visitor(temperature=0), ["greedy", "prompt lookup"]))
    say, table, race = seen[-1]
    assert say.startswith("Compared.")
    # what is to be played comes when nothing is timed any more
    assert not any(before.race for before in seen[:-1])
    assert [lane["name"] for lane in json.loads(race)["lanes"]] == [ALONE, "greedy", "prompt lookup"]
    lanes = re.findall(r'<th scope="row">([^<]+)', table)
    assert [lane.strip() for lane in lanes] == [ALONE, "greedy", "prompt lookup"]
    assert (
        len(re.findall(rf"<b[^>]*>(?:{re.escape(FASTEST)}|{re.escape(UNSURE)})</b>", table)) == 1
        and "Other users ran" not in table
    )
    # headings explain themselves to a finger as well, once nothing is drawn anew any more
    assert table.count("<details") == 1 and not any("<details" in before.table for before in seen[:-1])
    assert table.count("✓ yes") == 2 and "30 in 30" in table and re.search(r"\(\d+ of \d+", table)
    # figures of lanes carry an interval, at the end only
    assert re.search(r"\d\.\d\d× <small>\(\d\.\d\d … \d\.\d\d\)", table) and "95 % intervals" in table
    assert not any("…" in before.table or "95 %" in before.table for before in seen[:-1])
    # a cell for every token, and one seam a pass
    for strip in re.findall(r'class="sv-strip".*?</div>', table):
        passes = int(re.search(r"(\d+) pass(?:es)? ", strip)[1])
        assert strip.count("<i ") == 30 and strip.count("sv-seam") == passes


def test_stop_is_heard_while_the_models_load():
    gate = threading.Event()
    comparing, someone = Comparing(ModelCache(lambda *args, **more: gate.wait(20)), DecodeQueue()), visitor()
    drive = compare(comparing, someone, ["greedy"])
    next(drive)
    someone.jobs["compare"].stop()
    assert [seen.say for seen in drive] == ["Stopped."]
    gate.set()


def test_stop_ends_it_within_one_step_and_keeps_the_table(comparing):
    someone = visitor(max_new_tokens=5000)
    drive = compare(comparing, someone, ["greedy"])
    while "greedy" not in (table := next(drive)[1]):
        pass
    comparing.queue.submit(int).result()  # somebody else's step
    someone.jobs["compare"].stop()
    say, last, race = list(drive)[-1]
    assert say.startswith("Stopped") and "greedy" in last
    # nothing is called fastest before the end, and nothing told as if it were over
    for shown in (table, last):
        assert (
            "sv-fastest" not in shown
            and f"{FASTEST}</b>" not in shown
            and "random numbers and take turns" in shown
            and "took turns" not in shown
        )
    assert "Other users ran" not in table and "⚠ Other users ran 1 step meanwhile" in last and "<details" in last
    assert [lane["stop"] for lane in json.loads(race)["lanes"]] == [None, None]


@pytest.mark.parametrize(
    ("changes", "chosen", "sentence"),
    [
        ({}, [], "at least one strategy"),
        ({"prompt": ""}, ["greedy"], "Type a prompt"),
        ({"k": 2.5}, ["greedy"], "K must be"),
        ({"target": "missing"}, ["greedy"], "no model named missing"),
        ({"draft": ""}, ["greedy"], "None of the chosen strategies can draft"),
        ({}, ["magic"], "None of the chosen strategies can draft"),
    ],
)
def test_what_is_wrong_is_one_sentence(comparing, changes, chosen, sentence):
    say, table, race = list(compare(comparing, visitor(**changes), chosen))[-1]
    assert sentence in say and not table and not race


def test_what_does_not_fit_is_left_out_and_named(comparing):
    say, table, _ = list(compare(comparing, visitor(draft="", temperature=0), ["greedy", "prompt lookup"]))[-1]
    assert "Left out: “greedy”" in say and "prompt lookup" in table and ">greedy" not in table


def test_tokens_are_escaped_and_an_empty_comparison_is_no_error():
    both = Comparison(tiny_pair("bytes_lm", "bytes_lm"), '<b>"&', lanes_of(RunSettings(max_new_tokens=3), ["greedy"]))
    assert draw(both.compared(), "nothing yet") == ""
    both.step()
    assert "–" in draw(both.compared(), "read")  # the prompt was read, nothing made: gaps, not zeros
    list(both.steps())
    drawn = draw(both.compared(), "<how>")
    assert "&lt;how&gt;" in drawn and "<how>" not in drawn


def test_a_recorded_comparison_is_drawn_as_the_live_one(comparing, tmp_path, monkeypatch):
    settings = RunSettings(**{name: VALUES[name] for name in ("k", "max_new_tokens", "seed")}, temperature=0)
    plan = gallery.RecordedComparison("Tiny", "A line.", VALUES["prompt"], settings, ("greedy", "prompt lookup"))
    monkeypatch.setitem(gallery.COMPARISONS, "tiny", plan)
    made = studio.make_comparison(tiny_pair("target12", "draft12"), "tiny", tmp_path)
    assert "greedy" in studio.told_comparison("tiny", made) and "30 tokens of" in studio.told_comparison("tiny", made)
    monkeypatch.setattr(gallery, "read_comparison", lambda name: gallery.Compared.from_json(made.to_json()))
    say, table, race = recorded("tiny")
    live = list(compare(comparing, visitor(temperature=0), ["greedy", "prompt lookup"]))[-1]
    assert say == words.say("recordings.comparison", title="Tiny")
    assert "w1 w2" in table and "target12 in float32" in table
    # but for figures that a clock decides and what stands above the table, the two are one
    shape = re.compile(r'[\d.]+|title="[^"]*"')
    tables = [shape.sub("", re.sub(r'<p class="sv-compare-says">.*?</p>', "", html)) for html in (table, live.table)]
    strips = [html[html.index('class="sv-strips"') :] for html in tables]
    assert strips[0] == strips[1]
    lanes = [json.loads(text)["lanes"] for text in (race, live.race)]
    assert [lane["tok"] for lane in lanes[0]] == [lane["tok"] for lane in lanes[1]]
    assert [lane.get("held") for lane in lanes[0]] == [lane.get("held") for lane in lanes[1]]
