"""What several tests of the page do, and the sizes of their windows."""

from __future__ import annotations

import specviz
from specviz.core.prompts import FIRST, PRESETS
from specviz.core.settings import RunSettings
from specviz.views import wire
from tests.ui import browser
from tests.ui.browser import FIRST_SETTINGS

LONG = 8000
"""New tokens of a run that must still be going on however slowly the browser follows."""
SCREEN = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def expected(prompt=PRESETS[FIRST].prompt, **changes):
    """Chips of the output of the same run in Python."""
    settings = {name: getattr(FIRST_SETTINGS, name) for name in RunSettings.__dataclass_fields__} | changes
    trace = specviz.run(browser.default_pair(), prompt, RunSettings(**settings))
    steps = [wire.step(step) for step in trace.steps]
    return [t[1] for s in steps for t in [*(t for t in s["tok"] if t[2] == "a"), *([s["ex"]] if s["ex"] else [])]]


def lengthen(visit, tokens=LONG):
    visit.open("Length and template")
    visit.slide("max-new-tokens", tokens)


def wait_pause(visit):
    visit.press("pause")
    visit.wait_state("Paused")


def overflow(visit):
    """Pixels by which the page is wider than the window."""
    return visit.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")


def unfold(visit, *studies):
    for study in studies:
        visit.page.locator(f"#{study} > button").click()


def reload(tab):
    """Load the page again in the same tab."""
    tab.page.reload(wait_until="commit")
    tab.until("() => document.querySelector('.sv-pill')")


def save(tab):
    """Name and text of the file that Save run writes."""
    with tab.page.expect_download() as waiting:
        tab.menu("Save run")
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def link_of(tab):
    """What Copy link copies."""
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.evaluate("() => navigator.clipboard.writeText('')")
    tab.menu("Copy link")
    tab.until("() => /^(Link|The link|The browser)/.test(document.querySelector('.sv-say').textContent)")
    return tab.page.evaluate("() => navigator.clipboard.readText()")
