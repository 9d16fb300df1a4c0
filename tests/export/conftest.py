"""Exported pages opened from disk, with the network off. After every test: no error, no blocked part, no request."""

from __future__ import annotations

from functools import cache

import pytest

import specviz
from specviz.recordings import gallery
from tests.ui import browser

WATCH = """addEventListener('securitypolicyviolation',
    (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));"""
LABEL = "document.querySelector('.sv-scrub-label')?.textContent"


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as started:
        yield started


@cache
def exported(name="explanation", **how):
    return specviz.to_html(gallery.read(name), title=gallery.RECORDINGS[name].title, **how)


class Opened:
    """A page from disk, or another page around one. `faults`: what went wrong so far."""

    def __init__(self, context):
        self.faults = []
        context.set_offline(True)
        context.add_init_script(WATCH)
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.faults.append(m.text))
        self.page.on("pageerror", lambda e: self.faults.append(str(e)))
        self.page.on("request", lambda r: r.url.startswith("http") and self.faults.append(r.url))

    def go(self, path, fragment=""):
        self.page.goto(path.as_uri() + fragment)
        return self

    def wait_step(self, words, frame=None):
        (frame or self.page).wait_for_function(f"(words) => ({LABEL} || '').includes(words)", arg=words)

    def chips(self):
        return self.page.locator(".sv-ribbon .sv-step:not(.sv-later) .sv-chip:visible").all_inner_texts()


@pytest.fixture
def opened(chromium):
    """Open tabs; `how`: what a context of the browser takes."""
    contexts, pages = [], []

    def make(**how):
        contexts.append(
            chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | how)
        )
        pages.append(Opened(contexts[-1]))
        return pages[-1]

    yield make
    for context in contexts:
        context.close()
    assert [fault for page in pages for fault in page.faults] == []


@pytest.fixture
def saved(tmp_path):
    """A recording as a file."""

    def make(name="explanation", **how):
        path = tmp_path / f"{name}.html"
        path.write_text(exported(name, **how), encoding="utf-8")
        return path

    return make
