"""The keyboard on the whole page: what the Tab key passes stays as it is, and the focus is never lost nor unseen."""

from __future__ import annotations

from specviz.ui.presets import FIRST, PRESETS
from tests.ui.test_page import chromium, desk, open_tab, visit  # noqa: F401

# ----------------------------------------------------------------------------------------------- menus that are passed


def test_a_pair_that_is_only_passed_loads_nothing_stops_no_run_and_keeps_what_was_typed(visit):  # noqa: F811
    visit.open("Models")
    visit.choose("speed", "4 steps/s")
    visit.run_live()
    visit.page.locator("#sv-pair input").focus()
    visit.page.keyboard.press("Tab")
    before = visit.place()[1]
    visit.wait_steps(before + 4)
    assert visit.state() == "Running"
    visit.page.locator("#sv-load").click()
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('The run has these models already')")
    visit.wait_steps(before + 6)
    assert visit.state() == "Running"
    visit.press("pause")
    visit.wait_state("Paused")
    visit.page.locator("#sv-target input").fill("evil")
    for _ in range(2):
        visit.page.keyboard.press("Shift+Tab")
    visit.until("() => document.querySelector('#sv-pair input').value === 'own choice'")
    visit.page.wait_for_timeout(300)
    assert visit.page.locator("#sv-target input").input_value() == "evil"
    assert visit.state() == "Paused"


def test_an_example_that_is_only_passed_fills_nothing(visit):  # noqa: F811
    chat = visit.page.locator("#sv-chat input")
    visit.open("Length and template")
    assert chat.is_checked() and PRESETS[FIRST].chat
    chat.uncheck()
    visit.page.locator("#sv-preset input").focus()
    visit.page.keyboard.press("Tab")
    visit.page.wait_for_timeout(300)
    assert not chat.is_checked()
    visit.choose("preset", "List")
    visit.until("(p) => document.querySelector('#sv-prompt textarea').value === p", PRESETS["List"].prompt)
    visit.until("(on) => document.querySelector('#sv-chat input').checked === on", PRESETS["List"].chat)
