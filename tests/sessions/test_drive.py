"""Driving a run without Gradio: what is told, what is kept, and who may drive."""

import gc
import json
import threading
import time
import weakref
from dataclasses import replace

import psutil
import pytest

from specviz.core.settings import SpecvizError
from specviz.core.words import say
from specviz.decoding import calibration, engine
from specviz.drafting import STRATEGIES
from specviz.models.pair import Pair
from specviz.sessions.control_values import ControlValues
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.drive import Drivers
from specviz.sessions.lookups import Lookups
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.next_action import coming
from specviz.sessions.visitors import Visitor, Visitors
from specviz.traces.trace import Trace
from specviz.views import wire
from specviz.views.amounts import amount
from tests import tiny
from tests.conftest import table_model, tiny_pair
from tests.sessions.handlers import KEY, VALUES, load, told


@pytest.fixture
def drivers():
    return Drivers(ModelCache(load), DecodeQueue())


def visitor(**changes):
    return Visitor(ControlValues(VALUES | changes))


def steps_of(messages):
    return [s for m in messages for s in m.get("s", ())]


def test_play_sends_every_step_once_in_order_and_says_why_it_ended(drivers):
    someone = visitor()
    messages = told(drivers.play(someone, float("inf")))
    assert [s["i"] for s in steps_of(messages)] == list(range(len(someone.run.steps)))
    assert (messages[-1]["state"], messages[-1]["why"]) == ("finished", "length")
    assert messages[-1]["text"] == someone.run.text
    assert [m["seq"] for m in messages] == sorted({m["seq"] for m in messages})
    assert sum("head" in m for m in messages) == 1


def test_step_makes_one_step_and_play_goes_on_from_there(drivers):
    someone = visitor()
    first = steps_of(told(drivers.play(someone, 1)))
    rest = steps_of(told(drivers.play(someone, float("inf"))))
    assert [s["i"] for s in first + rest] == list(range(len(someone.run.steps)))
    assert len(first) == 1


def test_k_strategy_and_temperature_are_read_at_every_step(drivers):
    someone = visitor(k=2)
    drive = drivers.play(someone, 1)
    told(drive)
    someone.controls.values |= {"k": 5, "strategy": "greedy", "temperature": 0.5}
    step = steps_of(told(drivers.play(someone, 1)))[0]
    assert (step["k"], step["st"], step["T"]) == (5, "greedy", 0.5)


def test_a_later_claim_ends_a_driver_within_a_step(drivers):
    someone = visitor(speed="4 steps/s", max_new_tokens=100)
    messages = []
    thread = threading.Thread(target=lambda: messages.extend(told(drivers.play(someone, float("inf")))))
    thread.start()
    while not someone.run or not someone.run.steps:
        time.sleep(0.01)
    someone.driver.stop()  # Pause
    thread.join(timeout=2)
    assert not thread.is_alive() and messages[-1]["state"] == "paused"
    assert not someone.driver.is_held
    again = steps_of(told(drivers.play(someone, 1)))
    assert again[0]["i"] == len(someone.run.steps) - 1


def test_a_load_of_the_models_that_a_run_has_lets_it_go_on(drivers):
    someone = visitor(speed="4 steps/s", max_new_tokens=100)
    drive = drivers.play(someone, float("inf"))
    while not steps_of(told([next(drive)])):
        pass
    notes = told(drivers.load(someone))
    assert [(m["m"], m["say"]) for m in notes] == [("note", say("sessions.these"))]
    assert steps_of(told([next(drive)])) and someone.driver.is_driven
    drive.close()
    someone.controls.values["target"] = "ctx_t"  # others are loaded, and the run rests
    assert told(drivers.load(someone))[-1]["say"] == "The models are ready."


def test_play_and_measure_pressed_twice_break_nothing_off(drivers):
    someone = visitor(max_new_tokens=100)
    drive = drivers.play(someone, float("inf"))
    while not steps_of(told([next(drive)])):
        pass
    claim, run = someone.driver.latest, someone.run
    again = drivers.play(someone, float("inf"))
    assert someone.driver.latest is claim and told(again) == []
    someone.controls.values["prompt"] = "w3"  # now it asks for another run
    second = drivers.play(someone, float("inf"))
    assert someone.driver.latest.number == claim.number + 1
    told(drive)
    assert told(second)[-1]["state"] == "finished" and someone.run is not run
    alone = drivers.measure(someone)
    next(alone)
    claim, again = someone.driver.latest, drivers.measure(someone)
    assert someone.driver.latest is claim and [m["say"] for m in told(again)] == [say("sessions.alone_already")]
    told(alone)
    assert someone.run.baseline is not None


def test_of_two_loads_the_later_is_answered_and_told_what_it_waits_for():
    gate = threading.Event()

    def slow(target, draft, dtype="auto", progress=None):
        progress(None, f"Fetching {target} …")
        assert target != "target12" or gate.wait(20)
        return tiny_pair("target12")

    drivers, someone = Drivers(ModelCache(slow), DecodeQueue()), visitor(draft="")
    first = drivers.load(someone)
    next(first)
    someone.controls.values["target"] = "other"
    second = drivers.load(someone)
    assert told(first) == []
    assert told([next(second)])[0]["say"] == say("sessions.others_first")
    gate.set()
    assert told(second)[-1]["state"] == "ready" and someone.driver.loaded[0] == "other"


def test_a_closed_tab_frees_the_run(drivers):
    someone = visitor(max_new_tokens=100)
    drive = drivers.play(someone, float("inf"))
    next(drive)
    drive.close()
    assert not someone.driver.is_held


def test_a_bad_setting_in_mid_run_is_one_sentence_and_the_run_is_kept(drivers):
    someone = visitor()
    told(drivers.play(someone, 2))
    for bad, sentence in (
        ({"k": 2.5}, "whole number"),
        ({"strategy": "magic"}, "no strategy"),
        ({"top_p": 7}, "top-p"),
    ):
        someone.controls.values |= bad
        last = told(drivers.play(someone, 1))[-1]
        assert last["state"] == "not_done" and sentence in last["say"] and "\n" not in last["say"]
        assert len(someone.run.steps) == 2
        someone.controls.values = dict(VALUES)
    assert len(steps_of(told(drivers.play(someone, 1)))) == 1


def test_an_unexpected_error_is_told_and_logged_and_the_run_is_kept(drivers, monkeypatch, caplog):
    someone = visitor()
    told(drivers.play(someone, 2))
    monkeypatch.setattr("specviz.decoding.engine.step", lambda run, settings: 1 / 0)
    last = told(drivers.play(someone, 1))[-1]
    said = say("sessions.step_fault")
    assert (last["state"], last["say"]) == ("error", said) and len(someone.run.steps) == 2
    assert "driving a run failed" in caplog.text and "ZeroDivisionError" in caplog.text


def test_an_empty_prompt_and_a_missing_model_are_told(drivers):
    assert "Type a prompt" in told(drivers.play(visitor(prompt=""), 1))[-1]["say"]
    assert "no model named missing" in told(drivers.play(visitor(target="missing"), 1))[-1]["say"]


def test_a_pair_that_cannot_be_loaded_names_the_one_to_go_back_to(drivers):
    someone = visitor()
    assert told(drivers.play(someone, 1))[-1].get("back") is None
    someone.controls.values["target"] = "missing"
    last = told(drivers.play(someone, 1))[-1]
    assert last["state"] == "not_done" and last["back"] == " ← ".join(
        model.name for model in (someone.run.pair.target, someone.run.pair.draft)
    )
    assert someone.driver.loaded == (KEY[0], KEY[1], "")
    someone.controls.values |= {"target": KEY[0], "prompt": ""}
    assert "back" not in told(drivers.play(someone, 1))[-1]  # another fault, and the models are there


def test_steps_asked_for_in_a_row_are_all_made(drivers):
    someone = visitor(max_new_tokens=100)
    told(drivers.play(someone, 1))
    threads = [threading.Thread(target=lambda: told(drivers.play(someone, 1))) for _ in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(someone.run.steps) == 6


def test_without_a_draft_model_prompt_lookup_drafts_and_it_is_said(drivers):
    someone = visitor(draft="", strategy="sampling")
    messages = told(drivers.play(someone, float("inf")))
    assert {s["st"] for s in steps_of(messages)} == {"prompt lookup"}
    assert messages[-1]["state"] == "finished" and "drafts instead of “sampling”" in messages[-1]["say"]


def test_another_prompt_or_seed_begins_anew_and_a_new_k_does_not(drivers):
    someone = visitor()
    told(drivers.play(someone, 1))
    first = someone.run
    someone.controls.values["k"] = 1
    told(drivers.play(someone, 1))
    assert someone.run is first
    for change in ({"prompt": "w5"}, {"seed": 9}):
        someone.controls.values |= change
        told(drivers.play(someone, 1))
        assert someone.run is not first
        first = someone.run


def test_what_play_will_do_is_told_before_it_does_it(drivers):
    someone = visitor(max_new_tokens=4)
    assert coming(someone) == ""
    last = told(drivers.play(someone, 1))[-1]
    assert "hint" not in last and coming(someone) == ""
    someone.controls.take({"k": 9, "temperature": 0.5, "strategy": "greedy"})
    assert coming(someone) == ""
    someone.controls.take({"prompt": "w7"})
    assert coming(someone) == say("sessions.changed", what="prompt")
    someone.controls.take({"seed": "5", "target": "ctx_t", "draft": "ctx_d"})
    assert coming(someone) == say("sessions.changed", what="prompt, seed, models")
    someone.controls.take({"prompt": VALUES["prompt"], "seed": "1", "target": KEY[0], "draft": KEY[1]})
    assert coming(someone) == ""  # as it was: the run goes on
    run = someone.run
    assert told(drivers.play(someone, float("inf")))[-1]["why"] == "length" and someone.run is run
    someone.controls.take({"max_new_tokens": 40})
    assert coming(someone) == say("sessions.raised")
    lookups = Lookups(Visitors(), drivers.model_cache, KEY)
    lookups.visitors._all["here"] = someone
    assert lookups.resync({"r": someone.shown.id, "f": 0})["hint"] == coming(someone)  # a page that was loaded again
    last = told(drivers.play(someone, float("inf")))[-1]
    assert someone.run is run and len(run.output_ids) == 40 and "hint" not in last


def test_steps_of_others_are_counted_in_the_run_and_in_the_measurement(drivers):
    """Alone nothing is marked; with somebody else's steps in between run, measurement, trace and wire say so."""
    quiet = visitor(temperature=0, strategy="greedy")
    assert not any("others" in m for m in told(drivers.play(quiet, float("inf"))))
    assert next(m["b"] for m in told(drivers.measure(quiet)) if m["m"] == "baseline")["others"] == 0
    assert quiet.run.trace().others == 0 and quiet.run.trace().baseline.others == 0

    one, two = visitor(speed="4 steps/s"), visitor(seed=2, max_new_tokens=3000)
    thread = threading.Thread(target=lambda: told(drivers.play(two, float("inf"))))
    thread.start()
    messages = []
    for text in drivers.play(one, 3):
        messages.append(json.loads(text))
    measured = told(drivers.measure(one))
    two.driver.stop()
    thread.join()
    assert one.run.others > 0 and messages[-1]["others"] == one.run.others
    baseline = next(m["b"] for m in measured if m["m"] == "baseline")
    assert baseline["others"] == one.run.baseline.others > 0
    trace = Trace.from_json(one.run.trace().to_json())
    assert (trace.others, trace.baseline.others) == (one.run.others, baseline["others"])
    assert wire.recording(trace)["others"] == trace.others


def test_a_blank_seed_is_fresh_for_each_run_and_shown(drivers):
    someone = visitor(seed=None)
    seeds = set()
    for _ in range(3):
        messages = told(drivers.play(someone, float("inf")))
        shown = next(m["head"]["seed"] for m in messages if "head" in m)
        # the steps, and so the saved trace, say the seed that was drawn, to the last of them
        assert {str(step.settings.seed) for step in someone.run.steps} == {shown}
        seeds.add(shown)
    assert len(seeds) == 3


@pytest.mark.parametrize(
    ("typed", "given"), [("-1", "-1"), ("1.5", "1.5"), ("1e20", "100000000000000000000"), ("x", "'x'")]
)
def test_a_seed_that_is_none_is_an_error_in_one_sentence_and_no_other_is_taken_for_it(drivers, typed, given):
    someone = visitor()
    someone.controls.take({"seed": typed})
    last = told(drivers.play(someone, 1))[-1]
    allowed = "seed must be a whole number from 0 to 9,223,372,036,854,775,807"
    assert (last["state"], last["say"]) == ("not_done", f"{allowed}; you gave {given}.") and someone.run is None


@pytest.mark.parametrize("typed", ["9007199254740993", " 7 ", "9223372036854775807"])
def test_a_seed_is_used_and_told_to_its_last_digit(drivers, typed):
    someone = visitor()
    someone.controls.take({"seed": typed})
    head = next(m["head"] for m in told(drivers.play(someone, 1)) if "head" in m)
    assert head["seed"] == typed.strip() == str(someone.run.seed) == str(someone.run.steps[0].settings.seed)


def test_the_target_alone_is_measured_and_compared(drivers):
    someone = visitor(temperature=0, strategy="greedy")
    assert "Press Play" in told(drivers.measure(someone))[-1]["say"]
    told(drivers.play(someone, float("inf")))
    messages = told(drivers.measure(someone))
    measured = next(m["b"] for m in messages if m["m"] == "baseline")
    assert measured["same"] is True and measured["n"] == len(someone.run.output_ids) and measured["tps"] > 0
    assert messages[-1]["state"] == "finished"
    hot = visitor(temperature=1)
    told(drivers.play(hot, float("inf")))
    assert next(m["b"] for m in told(drivers.measure(hot)) if m["m"] == "baseline")["same"] is None


def test_a_measurement_that_is_paused_says_how_far_it_came(drivers, monkeypatch):
    someone = visitor(temperature=0, strategy="greedy", max_new_tokens=60)
    told(drivers.play(someone, float("inf")))
    step = engine.step

    def paused_at_three(run, settings):
        if len(run.output_ids) == 2:
            someone.driver.stop()
        return step(run, settings)

    monkeypatch.setattr(engine, "step", paused_at_three)
    messages = told(drivers.measure(someone))
    compared = next(m["b"] for m in messages if m["m"] == "baseline")["compared"]
    assert compared == 3 and len(someone.run.output_ids) == 60
    last = say("sessions.alone_stopped", part="3", tokens=amount("tokens", 60))
    assert (messages[-1]["state"], messages[-1]["say"]) == ("finished", last)


def test_after_a_reset_nothing_is_told_of_what_was_under_way(drivers, monkeypatch):
    """Whatever a driver says after it: the step that it was in ends later, and the page is empty by then."""
    someone = visitor(max_new_tokens=60)
    told(drivers.play(someone, float("inf")))
    step = engine.step

    def reset_meanwhile(run, settings):
        someone.forget_run()
        time.sleep(0.3)  # long enough for the next word on how far it is
        return step(run, settings)

    monkeypatch.setattr(engine, "step", reset_meanwhile)
    assert [m for m in told(drivers.measure(someone)) if m.get("state") == "measuring"] == []
    monkeypatch.setattr(engine, "step", step)
    begin = engine.begin
    monkeypatch.setattr(engine, "begin", lambda *given: (someone.forget_run(), begin(*given))[1])
    assert told(drivers.play(someone, 1)) == [] and someone.run is None
    monkeypatch.setattr(engine, "begin", begin)
    assert steps_of(told(drivers.play(someone, 1)))  # what begins after it is told


def test_who_waits_for_a_turn_is_told_how_many_are_ahead(drivers, monkeypatch):
    monkeypatch.setattr("specviz.sessions.waiting.PATIENCE_S", 0.1)
    gate, told_so = threading.Event(), []
    for _ in range(3):
        drivers.waiting.queue.submit(gate.wait)
    for text in drivers.play(visitor(), 1):
        message = json.loads(text)
        if message["state"] == "waiting":
            told_so.append(message["say"])
            gate.set()
    assert told_so == [say("sessions.waiting", n=3)]
    assert message["state"] == "paused"


def test_a_long_prompt_lets_others_take_their_turns(drivers, monkeypatch):
    """Each piece of it is a turn: a step asked for in the meantime waits for one piece and not for all."""
    monkeypatch.setattr(engine, "CHUNK", 20)
    one, two, order = visitor(prompt="w1 " * 101, target="ctx_t", draft="ctx_d"), visitor(), []
    told(drivers.play(two, 1))
    read, step, begun = engine.read, engine.step, threading.Event()

    def slowly(run):
        begun.set()
        time.sleep(0.1)
        order.append("piece")
        return read(run)

    monkeypatch.setattr(engine, "read", slowly)
    monkeypatch.setattr(engine, "step", lambda run, settings: (order.append(run.prompt), step(run, settings))[1])
    thread = threading.Thread(target=lambda: told(drivers.play(one, 1)))
    thread.start()
    begun.wait(5)
    told(drivers.play(two, 1))
    thread.join()
    assert order.count("piece") == 5 and order[-1] == one.controls.values["prompt"]
    assert order.index(VALUES["prompt"]) < 4 and one.run.prefill_s > 0


def test_a_claim_while_a_long_prompt_is_read_ends_the_reading(drivers, monkeypatch):
    monkeypatch.setattr(engine, "CHUNK", 20)
    someone, read, pieces = visitor(prompt="w1 " * 101, target="ctx_t", draft="ctx_d"), engine.read, []

    def interrupted(run):
        pieces.append(run)
        if len(pieces) == 2:
            someone.driver.stop()  # Pause
        return read(run)

    monkeypatch.setattr(engine, "read", interrupted)
    last = told(drivers.play(someone, float("inf")))[-1]
    assert len(pieces) == 2 and not someone.driver.is_held
    assert (last["state"], last["say"]) == ("paused", say("sessions.reading_paused", part=40, tokens="101 tokens"))
    begun = someone.run
    messages = told(drivers.play(someone, 1))  # picked up where it was: neither begun anew nor read again
    assert someone.run is begun and len(pieces) == 5 and len(steps_of(messages)) == 1
    assert not any("head" in m for m in messages)


def test_a_new_run_is_on_screen_at_once_and_says_how_far_its_prompt_is_read(drivers, monkeypatch):
    monkeypatch.setattr(engine, "CHUNK", 20)
    someone = visitor()
    told(drivers.play(someone, 2))
    someone.controls.values |= {"prompt": "w1 " * 101, "target": "ctx_t", "draft": "ctx_d"}
    drive = (json.loads(text) for text in drivers.play(someone, 1))
    first = next(m for m in drive if "head" in m)
    assert first["s"] == [] and first["r"] == someone.shown.id and not someone.run.read
    assert (first["state"], first["say"]) == ("loading", say("sessions.reading", part=0, tokens="101 tokens"))
    rest = list(drive)
    said = [m["say"] for m in rest if "Processing" in (m.get("say") or "")]
    assert said == [say("sessions.reading", part=n, tokens="101 tokens") for n in (20, 40, 60, 80)]
    assert [round(m["progress"], 2) for m in rest if m.get("progress")] == [0.2, 0.4, 0.59, 0.79]
    assert rest[-1]["state"] == "paused" and not rest[-1]["say"] and len(steps_of(rest)) == 1
    measured = told(drivers.measure(someone))
    reads = [m["say"] for m in measured if "processes" in (m.get("say") or "")]
    assert reads[0] == say("sessions.alone_reading", part=20, tokens="101 tokens")


def test_reset_while_a_run_is_begun_leaves_none(drivers, monkeypatch):
    someone, begin = visitor(), engine.begin

    def reset(*args):
        someone.forget_run()
        return begin(*args)

    monkeypatch.setattr(engine, "begin", reset)
    messages = told(drivers.play(someone, float("inf")))  # only of the models, which came before it
    assert someone.run is None and [m for m in messages if "head" in m or m["state"] != "loading"] == []


def test_pause_while_costs_are_measured_makes_no_step(drivers, monkeypatch):
    fresh = Pair(table_model("paused", tiny.target_table()), table_model("draft", tiny.draft_table()))
    monkeypatch.setattr(drivers.model_cache, "_load", lambda *args, **more: fresh)
    someone = visitor(strategy="greedy", draft_length="cost-aware", target="paused", draft="paused draft")
    drive = drivers.play(someone, float("inf"))
    while "Measuring the cost of drafting" not in (json.loads(next(drive)).get("say") or ""):
        pass
    next(drive)
    someone.driver.stop()
    assert told(drive)[-1]["state"] == "paused" and not someone.run.steps and not someone.run.costs


def test_reset_while_a_prompt_is_read_leaves_nothing_on_screen(drivers, monkeypatch):
    monkeypatch.setattr(engine, "CHUNK", 20)
    someone = visitor(prompt="w1 " * 101, target="ctx_t", draft="ctx_d")
    drive = drivers.play(someone, float("inf"))
    while "40 of" not in (json.loads(next(drive)).get("say") or ""):
        pass
    someone.forget_run()
    assert told(drive) == [] and someone.run is None and not someone.driver.is_held


def test_two_visitors_take_turns_and_never_see_each_other(drivers):
    one, two = visitor(seed=1, max_new_tokens=60), visitor(seed=2, max_new_tokens=60)
    got = {}
    threads = [
        threading.Thread(target=lambda v=v, n=n: got.update({n: told(drivers.play(v, float("inf")))}))
        for n, v in enumerate((one, two))
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert {m["r"] for m in got[0] if m["r"]}.isdisjoint({m["r"] for m in got[1] if m["r"]})
    alone = visitor(seed=1, max_new_tokens=60)
    told(drivers.play(alone, float("inf")))
    assert alone.run.output_ids == one.run.output_ids != two.run.output_ids


def test_lookups_find_a_run_by_its_id_only(drivers):
    visitors = Visitors()
    someone = visitors.of("session")
    someone.controls.values = dict(VALUES)
    told(drivers.play(someone, float("inf")))
    lookups = Lookups(visitors, drivers.model_cache, KEY)
    found = lookups.resync({"r": someone.shown.id, "f": 2})
    assert [s["i"] for s in found["s"]] == list(range(2, len(someone.run.steps))) and found["state"] == "finished"
    assert "head" in lookups.resync({"r": someone.shown.id, "f": 0})
    assert "head" not in found and "head" in lookups.resync({"r": someone.shown.id, "f": 2, "head": True})
    assert found["seq"] < someone.next_seq() == lookups.resync({"r": someone.shown.id, "f": 2})["seq"]
    assert lookups.details({"r": someone.shown.id, "i": 0})["positions"]
    assert "with" not in lookups.details({"r": someone.shown.id, "i": 0})  # the pair's draft model
    for asked in (
        {"r": "", "f": 0},
        {"r": "other", "f": 0},
        {"r": someone.shown.id, "f": "x"},
        {"r": someone.shown.id, "f": -1},
    ):
        assert lookups.resync(asked) == {"gone": True}
    assert lookups.details({"r": someone.shown.id, "i": 10**6}) == {"gone": True}


def test_the_details_of_a_step_name_what_it_drafted_with_where_that_is_not_of_the_pair(drivers):
    visitors = Visitors()
    someone = visitors.of("session")
    someone.controls.values = dict(VALUES) | {"strategy": "early exit", "max_new_tokens": 4}
    told(drivers.play(someone, float("inf")))
    lookups = Lookups(visitors, drivers.model_cache, KEY)
    assert lookups.details({"r": someone.shown.id, "i": 0})["with"].startswith("First ")


def test_abandoned_visitors_are_forgotten_but_not_one_who_is_driving():
    visitors = Visitors(limit=5)
    driving = visitors.of("driving")
    with driving.driver.hold(driving.driver.claim()):
        for n in range(50):
            visitors.of(f"visitor {n}")
        assert visitors.of("driving") is driving
    assert len(visitors._all) <= 6


def test_two_hundred_abandoned_runs_leave_no_memory_behind(drivers):
    visitors, process, caches = Visitors(), psutil.Process(), weakref.WeakSet()
    for n in range(200):
        someone = visitors.of(f"visitor {n}")
        someone.controls.values = VALUES | {"max_new_tokens": 12}
        told(drivers.play(someone, float("inf")))
        caches.update((someone.run.readers.target, someone.run.readers.draft))
        if n == 20:
            before = process.memory_info().rss
    gc.collect()
    assert len(caches) <= 2 * visitors.limit
    assert process.memory_info().rss - before < 50e6


def test_a_step_stays_small_on_the_wire(drivers):
    someone = visitor(k=4, max_new_tokens=100)
    sizes = [len(json.dumps(s, separators=(",", ":"))) for s in steps_of(told(drivers.play(someone, float("inf"))))]
    assert max(sizes) <= 1000


def test_measuring_costs_is_said_before_and_takes_turns_of_its_own(drivers, monkeypatch):
    fresh = Pair(table_model("fresh", tiny.target_table()), table_model("draft", tiny.draft_table()))
    monkeypatch.setattr(drivers.model_cache, "_load", lambda *args, **more: fresh)
    someone = visitor(strategy="greedy", draft_length="cost-aware", target="fresh", draft="fresh draft")
    drive, before, shares = drivers.play(someone, 2), None, []
    for text in drive:
        if say("sessions.pricing", name="greedy") in (json.loads(text).get("say") or ""):
            assert json.loads(text)["state"] == "loading" and not someone.run.steps
            before = drivers.waiting.queue.taken if before is None else before
            shares.append(json.loads(text).get("progress"))
    assert shares[0] is None and shares[1:] == sorted(shares[1:]) and len(shares) > 20
    # a turn for each pass and the end, then the steps, which measure nothing more
    assert drivers.waiting.queue.taken - before == (1 + calibration.ROUNDS) * (1 + len(calibration.POSITIONS)) + 1 + 2
    assert someone.run.costs["greedy"] == calibration.known(fresh, someone.controls.settings())
    someone.controls.values["seed"] = 2
    again = told(drivers.play(someone, 1))
    assert not any("Measuring" in (m.get("say") or "") for m in again) and someone.run.costs


class Slow:
    """What a strategy waits for; `gate` lets it arrive, or fail with a sentence."""

    def __init__(self):
        self.gate, self.made, self.error = threading.Event(), False, None

    def ready(self, pair):
        return self.made

    def prepare(self, pair, progress=None):
        progress(0.5, "Making a copy.")
        assert self.gate.wait(10)
        if self.error:
            raise SpecvizError(self.error)
        self.made = True


@pytest.fixture
def slow(monkeypatch):
    model = Slow()
    strategy = replace(STRATEGIES["greedy"], ready=model.ready, prepare=model.prepare)
    monkeypatch.setitem(STRATEGIES, "slow", strategy)
    yield model
    model.gate.set()


def test_a_run_goes_on_with_the_old_strategy_until_the_new_one_is_ready(drivers, slow):
    someone = visitor(max_new_tokens=400, speed="4 steps/s")
    told(drivers.play(someone, 1))
    someone.controls.values["strategy"] = "slow"
    drive, seen = drivers.play(someone, float("inf")), []
    for text in drive:
        seen.append(json.loads(text))
        if len(steps_of(seen)) == 2:
            assert "Making a copy. Meanwhile “sampling” drafts." in seen[-1]["say"] and seen[-1]["progress"] == 0.5
            slow.gate.set()
            someone.controls.values["speed"] = "full speed"
        if len(steps_of(seen)) > 60:
            someone.driver.stop()
    used = [step.strategy for step in someone.run.steps]
    assert used[:2] == ["sampling"] * 2 and used[-1] == "slow"
    assert used == sorted(used, key=["sampling", "slow"].index)  # once over, and not back
    assert not seen[-1].get("say")


def test_the_first_step_waits_for_a_strategy_with_progress_and_pause_ends_the_wait(drivers, slow):
    someone = visitor(strategy="slow")
    drive = drivers.play(someone, 1)
    first = next(m for m in map(json.loads, drive) if m.get("say") == "Making a copy.")
    assert (first["state"], first["progress"]) == ("loading", 0.5)
    someone.driver.stop()
    assert told(drive)[-1]["state"] == "paused" and not someone.run.steps
    slow.gate.set()
    assert [s["st"] for s in steps_of(told(drivers.play(someone, 1)))] == ["slow"]


def test_a_strategy_that_cannot_be_made_ready_says_why(drivers, slow):
    slow.error = "The copy does not fit in memory; choose another strategy."
    slow.gate.set()
    someone = visitor(strategy="slow")
    last = told(drivers.play(someone, 1))[-1]
    assert (last["state"], last["say"]) == ("not_done", slow.error)
    someone.controls.values["strategy"] = "greedy"
    told(drivers.play(someone, 1))
    someone.controls.values["strategy"] = "slow"
    last = told(drivers.play(someone, 1))[-1]
    assert last["say"] == f"{slow.error} Meanwhile “greedy” drafts." and len(someone.run.steps) == 2
