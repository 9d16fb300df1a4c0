"""A file of the page that does not come: everything else works, and what is missing says so."""

from __future__ import annotations

import pytest

from specviz.views.page import SCRIPTS, SCRIPTS_AT
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


def test_without_one_of_its_modules_the_page_says_so(context):
    asked = []

    def block(route):
        asked.append(route.request.url)
        route.fulfill(status=404, body="no")

    context.route("**/ribbon.js", block)
    page = context.new_page()
    page.goto(browser.address(), wait_until="commit")
    says = page.locator("#sv-view .sv-failed")
    says.wait_for()
    assert says.text_content() == "The page’s scripts could not load: reload the page."
    assert says.get_attribute("role") == "alert" and len(asked) >= 2  # it was tried again


def test_a_module_that_fails_once_is_fetched_again(context):
    asked = []

    def answer(route):
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            route.continue_()

    context.route("**/ribbon.js", answer)
    visit = Visit(context.new_page(), browser.address())
    assert len(asked) == 2 and visit.errors == []


def test_modules_may_be_kept_since_another_content_is_another_address(context):
    page = context.new_page()
    kept = {}
    page.on("response", lambda response: kept.update({response.url: response.headers}))
    Visit(page, browser.address())
    modules = {url.partition(f"{SCRIPTS_AT}/")[2]: headers for url, headers in kept.items() if SCRIPTS_AT in url}
    assert {"view.js", "ribbon.js", "dom.js"} <= set(modules) <= set(SCRIPTS)
    for headers in modules.values():
        assert "immutable" in headers["cache-control"] and headers["content-type"].startswith("text/javascript")
    assert page.request.get(f"{browser.address()}{SCRIPTS_AT[1:]}/other.js").status == 404


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
