"""The whole page, Gradio's own widgets and all, against WCAG 2.2 A and AA as far as axe can tell; both themes, two sizes."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from specviz.core.words import say
from tests.ui.actions import PHONE, SCREEN

pytestmark = pytest.mark.plotly

BOTH = [pytest.param(SCREEN, id="desk"), pytest.param(PHONE, id="phone", marks=pytest.mark.slow)]
"""The studies have the same parts on a phone; one round of axe on them takes seconds."""
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def faults(visit, state, *studies):
    """What axe says of the page as it is now, or of some studies on it, with the element and the reason."""
    # a menu that is still fading in has the contrast of that moment
    visit.until(
        "() => document.getAnimations().every((a) => a.playState !== 'running' || a.effect.getTiming().iterations > 9)"
    )
    context = {"include": [[f"#{study}"] for study in studies]} if studies else None
    found = Axe().run(visit.page, context, RULES | {"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{state}: {fault['id']} at {node['target']}: {node['failureSummary']}"
        for fault in found
        for node in fault["nodes"]
    ]


def faults_in_both(visit, state, *studies):
    """The same of studies in both themes, without making again what is on the page."""
    found = []
    for dark in (False, True):
        visit.page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
        visit.page.wait_for_timeout(300)  # charts take the colours of the theme
        found += faults(visit, f"{state}, {'dark' if dark else 'light'}", *studies)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_desk(shared, open_tab, theme):
    context = shared(viewport=SCREEN, reduced_motion="reduce")
    visit = open_tab(context, f"?__theme={theme}")
    for section in ("Sampling and rule", "Length and template", "Models"):
        visit.open(section)
    found = faults(visit, "recording, all sections open")
    visit.page.locator("#sv-pair input").click()
    visit.page.get_by_role("option").first.wait_for()
    found += faults(visit, "menu of pairs open")
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("button", name="Runs: recordings, files and links").click()
    visit.page.locator(".sv-recording").first.wait_for()
    found += faults(visit, "menu of runs open")
    visit.page.keyboard.press("Escape")
    visit.choose("strategy", "beam search")
    visit.slide("k", 10)
    visit.steps_one_by_one(1)
    visit.page.get_by_role("button", name="Slow steps").click()
    visit.page.get_by_role("button", name="Verdicts").click()
    found += faults(visit, "a tree told slowly")
    visit.page.locator("#sv-lossless > button").click()
    visit.page.locator("#sv-lossless-go").click()
    visit.page.locator("#sv-lossless-says").get_by_text("Replayed 100,000 of").wait_for()
    found += faults(visit, "a place replayed")
    visit.prompt(" ")
    visit.press("play")
    visit.wait_state("Not done")
    found += faults(visit, "not done")
    assert found == []


@pytest.mark.parametrize("size", BOTH)
def test_the_studies_that_explain_a_run(shared, open_tab, size):
    context = shared(viewport=size, reduced_motion="reduce")
    visit = open_tab(context, "?__theme=light")
    for study, told in (("sv-why", "#sv-why-strip .sv-time"), ("sv-numbers", "#sv-numbers-drawn .sv-bars")):
        visit.page.locator(f"#{study} > button").click()
        visit.page.locator(told).first.wait_for()
    visit.until("() => document.querySelector('.sv-picture .sv-plot')?.data?.length >= 4")
    visit.page.evaluate("() => document.querySelectorAll('.sv-study details').forEach((d) => { d.open = true; })")
    found = faults_in_both(visit, "studies unfolded", "sv-why", "sv-numbers")
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone(shared, open_tab, theme):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context, f"?__theme={theme}")
    visit.press("play")
    visit.wait_state("Finished")
    found = faults(visit, "finished")
    visit.page.get_by_role("button", name="Controls").click()
    visit.page.locator("#sv-side.open").wait_for()
    visit.page.locator("#sv-strategy input").click()
    found += faults(visit, "drawer and a menu in it open")
    assert found == []


@pytest.mark.parametrize("size", BOTH)
def test_a_race_a_sweep_and_every_k(shared, open_tab, size):
    context = shared(viewport=size)
    visit = open_tab(context, "?__theme=light&temperature=0&strategy=greedy&max_new_tokens=24")
    visit.press("play")
    visit.wait_state("Finished")
    visit.page.get_by_text(say("studies.compare_title")).click()
    visit.page.locator("#sv-compare-go").click()
    visit.page.locator(".sv-race").wait_for()
    found = faults_in_both(visit, "a race, at its end", "sv-compare")
    visit.page.locator(".sv-race input[type=range]").press("Home")
    visit.page.locator(".sv-race input[type=range]").press("ArrowRight")
    found += faults_in_both(visit, "a race, at its beginning", "sv-compare")
    visit.page.get_by_text(say("studies.compare_title")).click()
    visit.page.get_by_text(say("sweep.title")).click()
    visit.page.locator("#sv-sweep-go").click()
    visit.until("() => /All done/.test(document.querySelector('.sv-sweep-line')?.textContent)")
    found += faults_in_both(visit, "a sweep", "sv-sweep")
    visit.page.get_by_text(say("sweep.title")).click()
    visit.page.get_by_text(say("every_k.title"), exact=True).first.click()
    visit.page.locator("#sv-every-k-table table").wait_for()
    found += faults_in_both(visit, "every K", "sv-every-k")
    assert found == []
