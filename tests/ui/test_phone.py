"""The page on a phone, and what fingers and narrow columns ask of it: nothing covered, cut, or too small to hit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from specviz.models.catalogue import OFFLINE_PAIR
from specviz.views import palette
from tests.ui import browser
from tests.ui.actions import PHONE, SCREEN, overflow, unfold


def test_nothing_lies_over_the_bar_of_the_transport(phone):
    visit = phone()
    unfold(visit, "sv-sweep", "sv-lossless", "sv-why")
    visit.page.locator("#sv-sweep-tokens").wait_for()
    # every 16 pixels of the page, at two heights of the bar
    over = visit.page.evaluate(
        """async () => {
            const bar = document.querySelector('#sv-transport'), box = bar.getBoundingClientRect(), found = new Set();
            for (let y = 0; y < document.documentElement.scrollHeight; y += 16) {
                scrollTo(0, y);
                for (let x = 8; x < innerWidth; x += 32) for (const at of [box.top + 8, box.bottom - 8]) {
                    const node = document.elementFromPoint(x, at);
                    if (!node.closest('#sv-transport, .toggle-button')) found.add(node.textContent.slice(0, 40));
                }
            }
            return [...found];
        }"""
    )
    assert over == []


def test_a_lost_server_is_told_by_the_page_alone_and_the_drawer_can_be_closed(chromium, open_tab):
    demo, url = browser.launch()
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context, url=url)
    visit.steps_one_by_one(1)
    demo.close(verbose=False)
    handle = visit.page.get_by_role("button", name="Controls")
    try:
        visit.press("play")
        visit.page.locator(".toast-message-item").wait_for(state="attached")
        visit.wait_state("Offline", 4_000)  # from four unanswered questions alone it takes longer
        assert not visit.page.locator(".toast-item").is_visible()
        for way in ("#sv-side.open", "#sv-side:not(.open)"):
            handle.click()
            visit.page.locator(way).wait_for()
    finally:
        visit.complaints.clear()
        context.close()


@pytest.mark.parametrize("way", ["button", "pair"])
def test_the_drawer_makes_way_for_what_is_told_of_loading(phone, way):
    visit = phone()
    visit.steps_one_by_one(1)
    handle = visit.page.get_by_role("button", name="Controls")
    handle.click()
    visit.page.locator("#sv-side.open").wait_for()
    visit.open("Models")
    if way == "button":
        visit.write_in("target", "missing")
        # what the menu above says of it moves the button
        visit.until("() => document.querySelector('#sv-pair input').value === 'own choice'")
        visit.page.locator("#sv-load").click()
    else:
        visit.page.locator("#sv-pair input").click()
        visit.page.get_by_role("option", name=OFFLINE_PAIR).click()
    visit.page.locator("#sv-side:not(.open)").wait_for()
    visit.wait_state("Not done")
    assert "no model named" in visit.say() and visit.page.locator(".sv-back").is_visible()
    assert handle.evaluate("(node) => node === document.activeElement")


LONG_STATE = """([large, back]) => {
    const part = (name) => document.querySelector('.sv-' + name), words = document.createRange();
    part('root').classList.toggle('sv-presenter', large);
    part('say').textContent = 'Downloading SmolLM2-135M-Instruct-Q4_1, which is fetched once and then kept (0 of 93 MB). '
        .repeat(innerWidth < 600 ? 1 : large ? 2 : 3);
    part('progress').hidden = back;
    part('back').hidden = !back;
    part('back').textContent = 'Go back to SmolLM2-135M-Instruct-Q4_1 ← smollm2-draft-small';
    words.selectNodeContents(part('say'));
    const below = (back ? part('headline') : part('progress')).getBoundingClientRect().top;
    return [below - words.getBoundingClientRect().bottom, innerWidth - part('back').getBoundingClientRect().right];
}"""


@pytest.mark.parametrize("size", [PHONE, SCREEN], ids=["phone", "desk"])
def test_a_long_sentence_of_the_state_is_cut_by_nothing_below_and_no_button_runs_off(phone, size):
    visit = phone(viewport=size)
    for how in ([large, back] for large in (False, True) for back in (False, True)):
        visit.page.evaluate(LONG_STATE, how)
        visit.page.wait_for_timeout(100)
        room, right = visit.page.evaluate(LONG_STATE, how)
        assert room >= -1 and right >= 0 and overflow(visit) <= 0, how


def test_the_handle_of_the_drawer_lies_over_no_control(phone):
    visit = phone()
    visit.page.get_by_role("button", name="Controls").click()
    visit.page.locator("#sv-side.open").wait_for()
    visit.open("Sampling and rule")
    handle, controls = (
        visit.page.locator(f"#sv-side {part}").bounding_box() for part in (".toggle-button", ".sidebar-content")
    )
    assert controls["y"] + controls["height"] <= handle["y"]
    assert handle["x"] >= 0 and handle["y"] + handle["height"] <= PHONE["height"]


@pytest.mark.parametrize("size", [PHONE, {"width": 360, "height": 740}], ids=["usual", "small"])
def test_in_large_type_the_newest_line_and_the_scrub_bar_stand_above_the_bar(phone, size):
    visit = phone(viewport=size)
    visit.page.get_by_role("button", name="Large type").click()
    visit.press("play")
    visit.wait_state("Finished")
    visit.page.evaluate("scrollTo(0, 0)")
    bottom, bar = (visit.page.locator(part).bounding_box() for part in (".sv-scrub", "#sv-transport"))
    assert bottom["y"] + bottom["height"] <= bar["y"]
    rows = visit.page.locator(".sv-figure").evaluate_all(
        """(all) => Object.values(Object.groupBy(all, (n) => Math.round(n.getBoundingClientRect().top))).map((r) => r.length)"""
    )
    assert rows == [2, 2] and overflow(visit) <= 0


SMALL = """(least) => [...document.querySelectorAll('button, summary, input:is([type=number], [type=range], [type=checkbox])')]
    .filter((node) => node.getClientRects().length && !node.closest('footer, .sv-lanes'))
    .map((node) => [node, (node.type === 'checkbox' ? node.closest('label') : node).getBoundingClientRect()])
    .filter(([, box]) => box.width < least - 0.1 || box.height < least - 0.1)
    .map(([node, box]) => [node.textContent.trim().slice(0, 30) || node.ariaLabel, box.width, box.height])"""


@pytest.mark.parametrize("size", [PHONE, SCREEN], ids=["fingers", "mouse"])
def test_what_is_to_be_hit_is_large_enough(phone, size):
    touch = size is PHONE
    visit = phone(viewport=size, has_touch=touch, is_mobile=touch)
    unfold(visit, "sv-compare", "sv-why", "sv-numbers", "sv-sweep")
    visit.page.locator("#sv-numbers-drawn summary").first.wait_for()
    if touch:
        visit.page.get_by_role("button", name="Controls").click()
    for section in ("Sampling and rule", "Length and template", "Models"):
        visit.open(section)
    visit.page.locator("#sv-load").wait_for()
    assert visit.page.evaluate(SMALL, 36 if touch else 24) == []


def test_a_phone_says_what_this_is(phone):
    visit = phone()
    title = visit.page.locator("#sv-title")
    assert title.inner_text().split() == [
        "Deutsch",
        "specviz",
        "Watch",
        "a",
        "small",
        "model",
        "draft",
        "and",
        "a",
        "large",
        "one",
        "verify.",
    ]
    box = title.bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] < 60
    # one heading: that of the drawer is out of sight
    assert visit.page.get_by_role("heading", level=1).count() == 1


def test_at_twice_the_size_all_buttons_are_in_one_row_and_stand_free(phone):
    visit = phone(viewport={"width": 640, "height": 400}, has_touch=False, is_mobile=False)
    buttons = visit.page.locator("#sv-transport button:visible, #sv-side .toggle-button")
    boxes = [button.bounding_box() for button in buttons.all()]
    assert len({round(b["y"] + b["height"] / 2) for b in boxes}) == 1
    edges = sorted((b["x"], b["x"] + b["width"]) for b in boxes)
    assert all(left[1] <= right[0] for left, right in pairwise(edges)) and edges[-1][1] <= 640
    assert visit.page.locator("#sv-transport").bounding_box()["height"] <= 64


def test_the_button_that_unfolds_the_controls_covers_no_other(phone):
    visit = phone(viewport=SCREEN, has_touch=False, is_mobile=False)
    visit.page.locator("#sv-side .toggle-button").click()
    visit.page.locator("#sv-side:not(.open)").wait_for()
    visit.until("() => document.querySelector('#sv-side .toggle-button').getBoundingClientRect().left < 40")
    visit.page.wait_for_function("() => document.getAnimations().every((a) => a.playState !== 'running')")
    handle, play = (visit.page.locator(part).bounding_box() for part in ("#sv-side .toggle-button", "#sv-play"))
    assert handle["x"] + handle["width"] <= play["x"]


def test_in_the_dark_the_part_of_a_slider_that_is_not_filled_is_dark(phone):
    visit = phone("?__theme=dark", viewport=SCREEN, has_touch=False, is_mobile=False)
    track = visit.page.locator("#sv-k input[type=range]").evaluate(
        "(n) => getComputedStyle(n).getPropertyValue('--neutral-200')"
    )
    assert palette.contrast(track.strip(), "#ffffff") > 4.5
