"""The page on a phone, and what fingers and narrow columns ask of it: nothing covered, cut, or too small to hit."""

from __future__ import annotations

import pytest

from tests.ui import browser
from tests.ui.test_page import PHONE, chromium, open_tab, overflow  # noqa: F401


@pytest.fixture
def phone(chromium, open_tab):  # noqa: F811
    """Open tabs as a phone does; `query` and whatever a context of the browser takes."""
    contexts = []

    def opened(query="", **how):
        contexts.append(chromium.new_context(**{"viewport": PHONE, "has_touch": True, "is_mobile": True} | how))
        return open_tab(contexts[-1], query)

    yield opened
    for context in contexts:
        context.close()


def unfold(visit, *studies):
    for study in studies:
        visit.page.locator(f"#{study} > button").click()


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


def test_a_lost_server_is_told_by_the_page_alone_and_the_drawer_can_be_closed(chromium, open_tab):  # noqa: F811
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
