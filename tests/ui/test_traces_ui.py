"""Runs saved, opened and chosen from the gallery: whatever a file holds, the page shows a run or says one sentence."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from itertools import groupby

import pytest

import specviz
from specviz.core.records import BaselineRecord
from specviz.core.settings import RunSettings, SettingsError, SpecvizError
from specviz.core.words import say
from specviz.decoding import engine
from specviz.experiments.compare import lanes_of
from specviz.experiments.compared import ALONE
from specviz.metrics.comparison import rate
from specviz.metrics.diagnosis import headline
from specviz.metrics.pace import pace
from specviz.recordings import gallery, studio
from specviz.sessions import files, links
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.drive import Drivers
from specviz.sessions.files import Files
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.visitors import Visitors
from specviz.traces.trace import Trace, TraceError
from specviz.views import wire
from tests.conftest import tiny_pair
from tests.ui import browser
from tests.ui.actions import SCREEN, expected, lengthen, save, wait_pause

READER = Files(Visitors(), DecodeQueue())
VALUES = {"prompt": "w1 w2", "k": 3, "max_new_tokens": 12, "target": "target12", "draft": "draft12"}


@pytest.fixture(scope="module")
def trace():
    settings = RunSettings(k=3, max_new_tokens=8, stop=("a\nb", "c"), options={"ngram": 2})
    return specviz.run(tiny_pair("target12", "draft12"), "w1 w2", settings)


# ---------------------------------------------------------------------------------------------------- without a browser


def test_a_saved_run_is_exactly_the_trace_and_is_found_by_its_id_only():
    visitors, queue = Visitors(), DecodeQueue()
    someone = visitors.of("session")
    someone.controls.values = dict(VALUES)
    model_cache = ModelCache(lambda target, draft, dtype, progress: tiny_pair(target, draft))
    list(Drivers(model_cache, queue).play(someone, float("inf")))
    saver = Files(visitors, queue)
    saved = saver.save({"r": someone.shown.id})
    assert saved == {"json": someone.run.trace().to_json(), "file": "specviz-w1-w2.json"}
    assert Trace.from_json(saved["json"]).output_ids == tuple(someone.run.output_ids)
    for asked in ({"r": ""}, {"r": "other"}, {"r": None}, {"r": ["x"]}, {}, None, "x", 3, {"name": "../x"}):
        answer = saver.save(asked)
        assert list(answer) == ["error"] and "\n" not in answer["error"]


def test_a_run_is_saved_as_a_page_that_opens_at_the_step_on_screen(trace):
    kept = json.loads(READER.open(trace.to_json()))["kept"]
    for asked, file in (
        ({"name": "copy", "step": 4}, "specviz-copy.html"),
        ({"kept": kept, "step": 1}, "specviz-w1-w2.html"),
    ):
        answer = READER.as_page(asked)
        assert answer["file"] == file and f'"start":{asked["step"]},' in answer["html"]
    assert "<h1>A text that repeats itself</h1>" in READER.as_page({"name": "copy", "step": 0})["html"]
    for asked in ({"r": "other"}, {"kept": "x"}, {"name": "../x"}, {}, None, 3):
        assert list(READER.as_page(asked)) == ["error"]


def test_an_opened_file_is_the_recording_of_its_trace(trace):
    answer = json.loads(READER.open(trace.to_json()))
    assert answer["recording"] == json.loads(wire.pack(wire.recording(Trace.from_json(trace.to_json()))))
    values, invalid = links.check(answer["controls"])
    assert invalid == [] and values["stop"] == "a\\nb\nc" and values["ngram"] == 2 and values["prompt"] == "w1 w2"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "not text"),
        (5, "not text"),
        ("", "not a specviz trace"),
        ("[]", "not a specviz trace"),
        ("{}", "not a specviz trace"),
        ("5", "not a specviz trace"),
        ('{"schema":1}', "cut off or damaged"),
        ('{"schema":7}', "Another version of specviz saved this trace (schema 7)"),
        ('{"prompt":"w1 w2","prompt_ids":[1', "cut off or damaged"),
        ("NaN", "contains NaN as a number"),
        ("\x00\x01PNG", "not a specviz trace"),
        ("[" * 100_000, "not a specviz trace"),
    ],
)
def test_a_bad_file_is_one_sentence(text, sentence):
    answer = json.loads(READER.open(text))
    assert list(answer) == ["error"] and sentence in answer["error"] and "\n" not in answer["error"]
    assert "Error" not in answer["error"]  # what Python calls it is for the log


def test_opened_files_are_kept_as_long_as_they_are_not_too_much_together(trace, monkeypatch):
    text, reader = trace.to_json(), Files(Visitors(), DecodeQueue())

    def opened():
        return json.loads(reader.open(text))["recording"], list(reader._opened)[-1]

    monkeypatch.setattr("specviz.sessions.files.MAX_TRACE_CHARS", 2 * len(text))
    (_, first), (_, second), (_, third) = opened(), opened(), opened()
    assert reader.kept(second) == reader.kept(third)
    with pytest.raises(TraceError, match="opened too long ago"):
        reader.kept(first)
    monkeypatch.setattr("specviz.sessions.files.MAX_TRACE_CHARS", len(text) - 1)
    _, last = opened()
    assert list(reader._opened) == [last]  # the newest stays, however large it is


def test_a_file_changed_anywhere_is_shown_or_reported_but_never_fails(trace):
    whole, chance = json.loads(trace.to_json()), random.Random(1)
    strange = [None, -1, 1e999, 2.5, True, "x", "<b>", [], {}, [[1]], {"a": 1}, 10**400]

    def paths(node, path=()):
        yield path
        for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            yield from paths(node[key], (*path, key))

    every = [p for p in paths(whole) if p]
    invalid = 0
    for path in chance.sample(every, 400):
        changed = json.loads(trace.to_json())
        at = changed
        for key in path[:-1]:
            at = at[key]
        if chance.random() < 0.3 and isinstance(at, dict):
            del at[path[-1]]
        else:
            at[path[-1]] = chance.choice(strange)
        answer = json.loads(READER.open(json.dumps(changed)), parse_constant=pytest.fail)
        assert ("recording" in answer) != ("error" in answer), path
        invalid += "error" in answer
        if "error" in answer:
            assert "\n" not in answer["error"] and "Error" not in answer["error"], path
    assert invalid > 200


def test_every_recording_of_the_gallery_is_there_with_its_baseline_and_as_it_is_said_to_be_made():
    assert gallery.present() == list(gallery.RECORDINGS)
    for name, plan in gallery.RECORDINGS.items():
        recorded = gallery.read(name)
        assert recorded.prompt == plan.prompt and recorded.baseline is not None, name
        for step in recorded.steps:
            assert step.settings == plan.settings(step.index), (name, step.index)
        assert recorded.baseline.identical in (True, None), name
        assert len(plan.line) <= 90 and len(plan.title) <= 40
    assert {s.k for s in gallery.read("k-midway").steps} == {2, 4, 8}
    assert all(t.drafter_prob is None for s in gallery.read("copy").steps for t in s.tokens)


def test_a_recording_slower_than_the_target_alone_says_so_before_its_title_and_no_other_does():
    listed = {entry["name"]: entry for entry in files.recordings_here()}
    assert list(listed) == [*gallery.RECORDINGS, *gallery.COMPARISONS]
    for name in gallery.RECORDINGS:
        recorded = gallery.read(name)
        seconds = sum(step.step_s for step in recorded.steps)
        speed_up = len(recorded.output_ids) / seconds / recorded.baseline.tokens_per_s
        assert listed[name]["slow"] == ("When it does not pay" if speed_up < 1 else ""), name
        assert listed[name]["line"].endswith(f". {speed_up:.2f}× the target alone."), name
    assert {entry["kind"] for entry in listed.values()} == {"run", "comparison"}


@pytest.mark.parametrize(("seconds", "word"), [(2.0, "When it does not pay"), (0.5, "")])
def test_the_recorded_figures_decide_which_words_stand_before_a_title(trace, monkeypatch, seconds, word):
    alone = baseline_of(trace, step_s=(1.0,) * len(trace.output_ids))
    per_step = seconds * len(trace.output_ids) / len(trace.steps)
    steps = tuple(replace(step, draft_s=0, verify_s=per_step, other_s=0) for step in trace.steps)
    monkeypatch.setattr(gallery, "read", lambda name: replace(trace, steps=steps, baseline=alone))
    gallery.recorded_speed_up.cache_clear()
    assert gallery.slow("explanation") == word
    assert gallery.recorded_speed_up("explanation") == pytest.approx(1 / seconds)
    gallery.recorded_speed_up.cache_clear()


def baseline_of(trace, step_s):
    return BaselineRecord(tuple(trace.output_ids), step_s)


def test_a_recording_that_cannot_be_read_is_listed_all_the_same(monkeypatch):
    def broken(name):
        raise TraceError("damaged")

    monkeypatch.setattr(gallery, "recorded_speed_up", broken)
    assert [entry["slow"] for entry in files.recordings_here()] == [""] * len(files.recordings_here())
    assert files.recordings_here()[0]["line"] == gallery.RECORDINGS["explanation"].line


def test_every_recorded_comparison_is_there_as_it_is_said_to_be_made():
    assert gallery.comparisons_present() == list(gallery.COMPARISONS)
    for name, plan in gallery.COMPARISONS.items():
        compared = gallery.read_comparison(name)
        assert list(compared.traces) == [ALONE, *plan.strategies]
        for lane, settings in lanes_of(plan.settings, plan.strategies).items():
            run = compared.traces[lane]
            assert run.prompt == plan.prompt and all(step.settings == settings for step in run.steps)
            assert lane == ALONE or run.baseline.identical is True, lane
    with pytest.raises(TraceError, match=r"no recorded comparison named 'x'\. Choose one of: race"):
        gallery.read_comparison("x")
    with pytest.raises(TraceError, match="python -m specviz record"):
        gallery.read_comparison("race", gallery.TRACES)


def test_a_recording_and_the_target_alone_beside_it_take_turns(monkeypatch):
    order, plain = [], engine.step

    def step(run, settings):
        order.append(settings.strategy)
        return plain(run, settings)

    monkeypatch.setattr(engine, "step", step)
    plan = gallery.Recording("Tiny", "A line.", "w1 w2", RunSettings(k=2, max_new_tokens=9))
    monkeypatch.setitem(gallery.RECORDINGS, "tiny", plan)
    monkeypatch.setattr(studio, "_write", lambda path, text: None)
    made = studio.make(tiny_pair("target12", "draft12"), "tiny")
    assert len(made.baseline.output_ids) == 9
    queue = [len(list(group)) for name, group in groupby(order) if name == "none"]
    assert queue == [len(step.emitted_ids) for step in made.steps]


def test_what_all_recordings_need_is_made_or_reported_missing_before_the_first(monkeypatch):
    made = []
    monkeypatch.setattr(studio, "make_ready", lambda pair, strategy: made.append(strategy))
    monkeypatch.setattr(studio.psutil, "cpu_percent", lambda interval: 70.0)
    warning = studio.check(tiny_pair("target12", "draft12"), ["4-bit", "race", "k-midway"])
    assert {"4-bit copy", "sampling", "prompt lookup", "greedy"} <= set(made)
    assert "Other programs use 70 % of the processors" in warning
    monkeypatch.setattr(studio.psutil, "cpu_percent", lambda interval: 3.0)
    assert studio.check(tiny_pair("target12", "draft12"), []) == ""
    with pytest.raises(SettingsError, match="no draft model"):
        studio.check(tiny_pair("target12", None), ["story"])


def test_a_recorded_speed_up_that_is_impossible_is_a_doubt(trace):
    seconds = (1000.0,) * len(trace.output_ids)
    assert [doubt.reason for doubt in studio.doubts(replace(trace, baseline=baseline_of(trace, seconds)))] == ["beyond"]


def test_the_studio_makes_a_recording_and_reads_it_back(tmp_path, monkeypatch):
    plan = gallery.Recording("Tiny", "A line.", "w1 w2", RunSettings(k=2, max_new_tokens=9), {1: {"k": 3}})
    monkeypatch.setitem(gallery.RECORDINGS, "tiny", plan)
    made = studio.make(tiny_pair("target12", "draft12"), "tiny", tmp_path)
    assert [s.k for s in made.steps] == [2] + [3] * (len(made.steps) - 1)
    assert gallery.read("tiny", tmp_path) == made and made.baseline.tokens_per_s
    assert "9 tokens in" in studio.told("tiny", made)


# ------------------------------------------------------------------------------------------------------------ in the page


def open_file(tab, name, content):
    tab.page.locator(".sv-runs input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content}
    )


def wait_say(tab, words):
    tab.until("(w) => document.querySelector('.sv-say').textContent.includes(w)", words)


def test_a_run_is_saved_and_opened_again_and_looks_the_same(visit, desk, open_tab):
    visit.press("play")
    visit.wait_state("Finished")
    name, text = save(visit)
    saved = Trace.from_json(text)
    assert name == "specviz-what-is-photosynthesis.json" and saved.to_json() == text
    other = open_tab(desk)
    open_file(other, "<b>my run</b>.json", text.encode())
    wait_say(other, "“<b>my run</b>.json”, a recorded run")
    assert other.state() == "Recording"
    # a figure may stand on the border between two roundings: its last digit is left out
    figures = [re.sub(r"(\.\d*)\d\b", r"\1", tab.headline()) for tab in (other, visit)]
    assert other.chips() == visit.chips() and figures[0] == figures[1]
    other.key("Home")
    other.key("ArrowRight", 2)
    other.wait_label(f"step 2 of {len(saved.steps)}")
    assert "verify" in other.card()
    assert save(other)[1] == text
    other.press("play")
    other.wait_state("Finished")
    assert other.output() == expected()


def test_the_page_saves_a_run_as_a_page(desk, open_tab):
    visit = open_tab(desk, "?trace=copy")
    visit.key("ArrowRight", 3)
    visit.wait_label("step 4 of 20")
    visit.page.get_by_role("button", name="Runs: recordings, files and links").click()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Save as page").click()
    page = download.value.path().read_text(encoding="utf-8")
    assert download.value.suggested_filename == "specviz-copy.html" and '"start":4,' in page


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{}", "not a specviz trace"),
        (b"\x89PNG\x00\xff", "not a specviz trace"),
    ],
    ids=["another file", "a picture"],
)
def test_a_bad_file_is_told_and_what_is_on_screen_stays(visit, content, sentence):
    before = visit.chips()
    open_file(visit, "notes.json", content)
    wait_say(visit, sentence)
    assert visit.say().startswith("“notes.json”") and visit.chips() == before and visit.state() == "Not done"
    assert visit.say().endswith(" On screen: a recording of a real run.")


def test_a_speed_up_that_cannot_be_is_marked_wherever_it_is_told(visit):
    story = gallery.read("story")
    slow = replace(story.baseline, step_s=tuple(4 * seconds for seconds in story.baseline.step_s))
    opened = replace(story, baseline=slow)
    open_file(visit, "slow.json", opened.to_json().encode())
    wait_say(visit, "“slow.json”, a recorded run")
    assert re.search(r"3\.\d\d× ⚠the target alone", visit.headline().replace("⚠ ", "⚠"))
    visit.page.locator(".sv-figure-speed").hover()
    visit.page.locator(".sv-tip").get_by_text("the speed-up cannot exceed 1.52×").wait_for()
    visit.page.get_by_text("Why this speed?").click()
    found = visit.page.locator("#sv-why-found")
    found.get_by_text(say("findings.doubt_beyond", tau="1.52")).wait_for()
    assert headline(pace(opened)).code == "doubtful"


def drop(visit, text, times=1):
    """Drop a file of `text`, so many times over, onto the page; the parts share their bytes, so a large one is quick."""
    data = visit.page.evaluate_handle(
        """([text, times]) => {
            const data = new DataTransfer(), part = new Blob([text]);
            data.items.add(new File(Array(times).fill(part), 'dropped.json', { type: 'application/json' }));
            return data;
        }""",
        [text, times],
    )
    for event in ("dragover", "drop"):
        visit.page.dispatch_event(".sv-ribbon", event, {"dataTransfer": data})


def test_a_file_that_is_too_large_is_told_and_what_is_on_screen_stays(visit):
    before = visit.chips()
    drop(visit, " " * 1_000_000, 101)
    wait_say(visit, "“dropped.json” has 101 MB, but a trace may have at most 100 MB. Choose a smaller one.")
    assert visit.say().startswith("“dropped.json”") and visit.chips() == before and visit.state() == "Not done"


def test_a_file_is_dropped_onto_the_page(visit, trace):
    drop(visit, trace.to_json())
    wait_say(visit, "“dropped.json”, a recorded run")
    visit.wait_label(f"step {len(trace.steps)} of {len(trace.steps)}")


def test_a_recording_is_chosen_and_the_controls_follow_it(visit):
    visit.menu("Code")
    wait_say(visit, "“Code”, a recorded run — press Play to replay it, or Run live for a new run.")
    visit.until("() => document.querySelector('#sv-k input[type=number]').value === '6'")
    visit.until("(p) => document.querySelector('#sv-prompt textarea').value === p", gallery.RECORDINGS["code"].prompt)
    visit.key("End")
    visit.wait_label("step {0} of {0}".format(len(gallery.read("code").steps)))
    assert visit.output() == [
        t[1]
        for s in map(wire.step, gallery.read("code").steps)
        for t in [*(t for t in s["tok"] if t[2] == "a"), *([s["ex"]] if s["ex"] else [])]
    ]
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.output() == expected(gallery.RECORDINGS["code"].prompt, k=6, strategy="greedy", temperature=0)


def test_a_recording_over_a_live_run_pauses_it_and_run_live_goes_on_with_it(visit):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(5)
    visit.menu("Story")
    wait_say(visit, "“Story”, a recorded run — your own run is kept.")
    visit.page.wait_for_timeout(400)  # late frames of the run must not take the screen
    assert visit.state() == "Recording" and "lighthouse" in "".join(visit.chips("p"))
    visit.press("play")
    visit.wait_state("Running")
    visit.wait_steps(8)
    wait_pause(visit)
    visit.key("Home")  # the ribbon of a long run holds only what is near the cursor
    visit.until(
        "() => [...document.querySelectorAll('.sv-chip.sv-p')].map((c) => c.textContent).join('').includes('photosyn')"
    )
    visit.key("ArrowRight", 3)
    visit.wait_label(f"step 3 of {visit.place()[1]}")
    assert visit.output() == expected()[: len(visit.output())] != []


def test_the_menu_is_used_from_the_keyboard(visit):
    opener = visit.page.get_by_role("button", name="Runs: recordings, files and links")
    opener.focus()
    visit.page.keyboard.press("Enter")
    visit.page.locator(".sv-recording").first.wait_for()
    assert opener.get_attribute("aria-expanded") == "true"
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Escape")
    assert opener.get_attribute("aria-expanded") == "false"
    assert visit.page.evaluate("() => document.activeElement.className").startswith("sv-button sv-runs-open")


def test_a_recorded_comparison_is_opened_and_raced_without_network_or_model(chromium, open_tab, monkeypatch):
    context = chromium.new_context(viewport=SCREEN)
    context.route(lambda address: not browser.is_local(address), lambda route: route.abort())
    tab = open_tab(context)

    def nothing(*asked):
        raise SpecvizError("No model may be used here.")

    monkeypatch.setattr(engine, "begin", nothing)
    monkeypatch.setattr(engine, "step", nothing)
    run = tab.chips()
    tab.menu("A race of three drafts")
    tab.page.locator(".sv-race").wait_for()
    says = tab.page.locator("#sv-compare-says")
    says.get_by_text("Recorded comparison: “A race of three drafts”. No model runs for it").wait_for()
    plan = gallery.COMPARISONS["race"]
    rows = tab.page.locator("#sv-compared tbody th").all_text_contents()
    assert [row.split("fastest")[0].strip() for row in rows] == [ALONE, *plan.strategies]
    assert tab.page.locator("#sv-compared .sv-strip").count() == len(rows)
    assert plan.prompt in tab.page.locator("#sv-compared").text_content()
    tab.until("() => { const box = document.querySelector('#sv-compare').getBoundingClientRect();"
              " return box.top >= 0 && box.top < innerHeight / 2; }")  # fmt: skip
    tab.page.locator(".sv-race-picks button").nth(len(plan.strategies)).wait_for()
    assert tab.page.locator(".sv-race-picks button").all_text_contents() == [ALONE, *plan.strategies]
    # the race begins with the fastest
    compared = gallery.read_comparison("race")
    speed = {lane: rate([run]) for lane, run in compared.traces.items() if lane != ALONE}
    racing = tab.page.locator(".sv-race-picks button[aria-pressed=true]").all_text_contents()
    assert set(racing) == {ALONE, *sorted(speed, key=speed.get)[-2:]}
    tab.page.locator(".sv-race input[type=range]").focus()
    tab.page.keyboard.press("Home")
    tab.page.locator(".sv-race-play").click()
    tab.until("() => !document.querySelector('.sv-race-outcome').hidden")
    assert "finished first" in tab.page.locator(".sv-race-outcome").text_content()
    # the run on screen stays, and so does what the menu of runs says about slow recordings
    assert tab.chips() == run and tab.state() == "Recording"
    tab.page.get_by_role("button", name="Runs: recordings, files and links").click()
    slow = [name for name in gallery.RECORDINGS if gallery.slow(name)]
    shown = tab.page.locator(".sv-recording", has_text="When it does not pay: ")
    assert shown.count() == len(slow) > 0
    context.close()


def test_a_recorded_comparison_ends_the_live_one_and_has_the_last_word(visit):
    lengthen(visit)
    visit.page.get_by_text("Compare strategies on this prompt").click()
    visit.page.locator("#sv-compare-go").click()
    visit.until("() => document.querySelector('#sv-compare-says').textContent.includes('Comparing: ')")
    visit.menu("A race of three drafts")
    said = "() => document.querySelector('#sv-compare-says').textContent.trim()"
    visit.until(f"() => ({said})().startsWith('Recorded comparison')")
    visit.page.wait_for_timeout(1500)  # a late frame of the live one must not take its place
    assert visit.page.evaluate(said).startswith("Recorded comparison")
