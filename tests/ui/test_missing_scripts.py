"""A file of the page that does not come: everything else works, and what is missing says so."""

from __future__ import annotations

import pytest

from tests.ui import browser
from tests.ui.browser import Visit

SAYS = """() => [...document.querySelectorAll('.sv-chart .sv-plot')].map((node) => getComputedStyle(node, '::after').content)"""


@pytest.fixture
def context(chromium):
    opened = chromium.new_context(viewport={"width": 1280, "height": 1000})
    yield opened
    opened.close()


def test_without_plotly_all_but_the_charts_works_and_they_say_so(context):
    context.route("**/plotly.min.js", lambda route: route.fulfill(status=404, body="no"))
    visit = Visit(context.new_page(), browser.address())
    visit.until("() => document.querySelector('.sv-no-plotly .sv-plot')")
    assert set(visit.page.evaluate(SAYS)) == {'"Charts could not load: reload the page."'}
    visit.press("play")
    visit.wait_state("Finished")
    assert len(visit.output()) > 10 and "sampling" in visit.card()
    visit.page.locator("#sv-why > button").click()
    visit.until("() => document.querySelector('.sv-picture.sv-no-plotly')")
    shown = visit.page.evaluate("() => getComputedStyle(document.querySelector('.sv-picture'), '::before').content")
    assert "could not load: reload the page" in shown
    assert visit.errors == []


def test_plotly_that_fails_once_is_fetched_again(context):
    asked = []

    def answer(route):
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            route.continue_()

    context.route("**/plotly.min.js", answer)
    visit = Visit(context.new_page(), browser.address())
    visit.until("() => document.querySelectorAll('.sv-chart .main-svg').length > 2")
    assert len(asked) == 2 and visit.page.locator(".sv-no-plotly").count() == 0 and visit.errors == []
