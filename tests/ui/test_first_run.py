"""The first live run: the default strategy is made in time, replaced where it cannot draft, and links keep their meaning."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from specviz.core.settings import RunSettings
from specviz.core.words import say
from specviz.drafting import STRATEGIES
from specviz.models.folders import ModelError
from specviz.recordings import gallery
from specviz.sessions import links
from specviz.sessions.control_values import ControlValues
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.drive import Drivers
from specviz.sessions.fallback_strategy import Workshop
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.visitors import Visitor
from tests.conftest import tiny_pair
from tests.sessions.handlers import VALUES, load
from tests.ui import browser
from tests.ui.actions import expected, link_of

FIRST = gallery.FIRST_SETTINGS.strategy
WORDS = say("recordings.opening", shown="sampling", controls=FIRST)


def visitor(**changes):
    return Visitor(ControlValues(VALUES | {"strategy": FIRST} | changes))


@pytest.fixture
def drivers():
    return Drivers(ModelCache(load), DecodeQueue())


def played(drivers, someone):
    return [json.loads(text) for text in drivers.play(someone, float("inf"))]


def wait_for(what):
    """True once `what` holds, False where it does not within a minute."""
    end = time.monotonic() + 60
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(what())


@pytest.fixture
def changed(monkeypatch):
    """``changed(name, fits=…)``: the strategy of that name with other functions."""
    return lambda name, **functions: monkeypatch.setitem(STRATEGIES, name, replace(STRATEGIES[name], **functions))


@pytest.fixture
def unmade(changed):
    """The default strategy as if nothing had been made yet; yields the list of pairs it was made for."""
    made = []
    changed(FIRST, ready=lambda pair: pair in made, prepare=lambda pair, progress=None: made.append(pair))
    return made


def test_what_the_first_run_drafts_with_is_made_once_the_pair_is_loaded(unmade):
    model_cache, workshop = ModelCache(load), Workshop()
    loading = model_cache.ask(("target12", "draft12", ""))
    workshop.make_after(loading, FIRST)
    assert loading.done.wait(60) and wait_for(lambda: unmade)
    assert unmade == [loading.pair]
    assert workshop.choice(visitor(), loading.pair).settings.strategy == FIRST


def test_nothing_is_made_for_a_pair_that_it_does_not_fit_or_that_is_not_there(unmade, changed):
    asked = []
    changed(FIRST, fits=lambda pair: asked.append(pair) or "the kernels are for CPUs")
    model_cache, workshop = ModelCache(load), Workshop()
    for key in (("missing", "", ""), ("target12", "draft12", "")):
        workshop.make_after(model_cache.ask(key), FIRST)
        assert model_cache.ask(key).done.wait(60)
    assert wait_for(lambda: asked)
    assert asked == [model_cache.loaded(("target12", "draft12", ""))] and unmade == []


@pytest.mark.parametrize(("draft", "other"), [("draft12", "sampling"), ("", "prompt lookup")])
def test_where_the_default_does_not_fit_another_drafts_and_the_page_says_so(drivers, changed, draft, other):
    reason = "the kernels for such weights are for CPUs, and target12 is on cuda:0; load it there"
    changed(FIRST, fits=lambda pair: reason)
    someone = visitor(draft=draft)
    last = played(drivers, someone)[-1]
    assert last["state"] == "finished" and {step.strategy for step in someone.run.steps} == {other}
    assert last["say"] == say("sessions.instead", other=other, name=FIRST, reason=reason)


def test_with_too_little_memory_another_drafts_and_the_page_says_so(drivers, unmade, changed):
    words = "target12 in 4 bits needs about 0.8 GB of memory in bfloat16 and 0.1 GB are free; choose a smaller model."

    def prepare(pair, progress=None):
        raise ModelError(words)

    changed(FIRST, prepare=prepare)
    someone = visitor()
    last = played(drivers, someone)[-1]
    assert last["state"] == "finished" and {step.strategy for step in someone.run.steps} == {"sampling"}
    assert last["say"] == say("sessions.instead", other="sampling", name=FIRST, reason=words.rstrip("."))


def test_a_strategy_that_a_visitor_chose_is_not_replaced(drivers, changed):
    changed("8-bit copy", fits=lambda pair: "the kernels are for CPUs")
    last = played(drivers, visitor(strategy="8-bit copy"))[-1]
    assert last["state"] == "not_done" and "the kernels are for CPUs" in last["say"]


def test_the_opening_recording_says_where_the_controls_differ_from_it():
    assert gallery.opening(gallery.FIRST_SETTINGS) == WORDS
    assert gallery.opening(gallery.SAMPLED) == ""
    # it teaches what a rejection is
    assert any(step.extra and step.extra.fate == "resampled" for step in gallery.read(gallery.FIRST_RECORDING).steps)


def test_what_links_leave_out_means_what_it_meant_when_they_were_made():
    """Never change these: links that people keep leave them out."""
    first = {"strategy": "sampling", "draft_length": "fixed", "k": 4, "temperature": 0.7}
    assert first | {"max_new_tokens": 96, "seed": 1, "chat": True} == links.OMITTED
    assert set(links.OMITTED) <= set(RunSettings.__dataclass_fields__)


@pytest.fixture(scope="module")
def address():
    """Of an app whose controls start where the product's do."""
    demo, url = browser.launch(gallery.FIRST_SETTINGS)
    yield url
    demo.close(verbose=False)


def strategy_of(tab):
    return tab.page.locator("#sv-strategy input").input_value()


def test_the_first_run_drafts_with_the_default(desk, open_tab, address):
    tab = open_tab(desk, url=address)
    tab.until("(w) => document.querySelector('.sv-say').textContent.endsWith(w)", WORDS)
    assert strategy_of(tab) == FIRST
    tab.press("play")
    tab.wait_state("Finished")
    assert tab.output() == expected(strategy=FIRST)
    assert WORDS not in tab.say()


def test_a_link_means_the_same_whatever_the_controls_start_with(desk, open_tab, address):
    old = open_tab(desk, "?k=8", url=address)
    old.until("() => document.querySelector('#sv-k input[type=number]').value === '8'")
    assert strategy_of(old) == "sampling"
    assert parse_qs(urlsplit(link_of(old)).query) == {"strategy": ["sampling"], "k": ["8"]}
    new = open_tab(desk, url=address)
    link = link_of(new)
    assert parse_qs(urlsplit(link).query) == {"strategy": [FIRST]}
    again = open_tab(desk, url=link)
    again.until("(w) => document.querySelector('#sv-strategy input').value === w", FIRST)
    recording = open_tab(desk, "?trace=story", url=address)
    recording.until("() => document.querySelector('#sv-strategy input').value === 'greedy'")


def test_it_fits_the_pair_that_runs_without_network():
    assert STRATEGIES[FIRST].fits(tiny_pair("bytes_lm", "bytes_lm")) is None
