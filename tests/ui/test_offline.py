"""Without a network and with nothing fetched before: what runs instead is said once, short, and hides nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specviz.models.catalogue import DEFAULT_PAIR, OFFLINE_PAIR
from specviz.sessions.pair_choice import DEFAULT_TARGET
from specviz.sessions.services import DEFAULT_KEY
from specviz.ui import controls, panel
from tests.ui import browser

pytestmark = pytest.mark.plotly

INSTEAD = "The wanted pair is not to be had: another one runs instead."


@pytest.fixture(scope="module")
def offline():
    """The address of an app whose default pair is a stand-in."""

    known = browser.load

    def load(target, draft, dtype="auto", progress=None):
        return replace(known(target, draft, dtype, progress), instead=INSTEAD, notes=(INSTEAD, "Why."))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browser, "load", load)
        demo, url = browser.launch()
    yield url
    demo.close()


def test_the_stand_in_is_named_beside_the_recording_and_in_the_menu_and_not_after(desk, open_tab, offline):
    tab = open_tab(desk, url=offline)
    tab.until("(w) => document.querySelector('.sv-say').textContent.endsWith(w)", INSTEAD)
    assert tab.say().startswith("This is a recording of a real run") and "press Play" in tab.say()
    tab = open_tab(desk, url=offline)  # the models are there now
    tab.open("Models")
    tab.page.locator("#sv-pair input").wait_for()
    tab.until("(w) => document.querySelector('#sv-pair input').value.startsWith(w)", OFFLINE_PAIR)
    assert INSTEAD in (tab.page.locator("#sv-pair").text_content() or "")
    tab.press("play")
    tab.wait_state("Finished")
    assert tab.say() == "the token limit was reached"
    tab.page.locator(".sv-pair").hover()
    tab.until("(w) => document.querySelector('.sv-tip').textContent.includes(w)", "Why.")


def test_the_menu_shows_what_runs_only_instead_of_the_default_pair():
    menu = controls.pair_menu()
    for words, chosen in (("", DEFAULT_PAIR), (INSTEAD, OFFLINE_PAIR)):
        shown = panel.Panel({}, {}, menu, lambda words=words: words)
        assert shown.pair_update({"target": DEFAULT_TARGET})["value"] == chosen
        assert shown.pair_update({"target": "gpt2-xl", "draft": "distilgpt2"})["value"] == "GPT-2 XL ← DistilGPT2"
        assert "value" not in shown.pair_update({"k": 3})
    assert DEFAULT_KEY[0] == DEFAULT_TARGET
