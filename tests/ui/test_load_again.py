"""Buttons pressed again while the first press is still being answered: what was asked for last is what comes."""

from __future__ import annotations

import threading

import pytest

from tests.ui import browser


@pytest.fixture
def slow(chromium, open_tab, monkeypatch):
    """A tab of an app that loads "evil" only when the gate is opened, and the gate."""
    gate, load = threading.Event(), browser.load

    def slowly(target, draft, dtype="auto", progress=None):
        if target == "evil":
            progress(None, "Fetching evil ...")
            assert gate.wait(60)
        return load(target, draft, dtype, progress)

    monkeypatch.setattr(browser, "load", slowly)
    demo, url = browser.launch()
    context = chromium.new_context()
    yield open_tab(context, url=url), gate
    gate.set()
    context.close()
    demo.close(verbose=False)


@pytest.mark.parametrize("button", ["load", "play"])
def test_the_models_asked_for_last_are_those_that_come(slow, button):
    visit, gate = slow
    visit.steps_one_by_one(1)
    visit.open("Models")
    visit.write_in("target", "evil")
    visit.until("() => document.querySelector('#sv-pair input').value === 'own choice'")
    visit.press(button)
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('Fetching evil')")
    visit.write_in("target", "missing")
    visit.press(button)
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('Other models are loading')")
    gate.set()
    visit.wait_state("Not done")
    assert "no model named missing" in visit.say()
    visit.page.wait_for_timeout(500)
    assert "no model named missing" in visit.say()
