"""One browser for each file of tests, and the tabs they open.

After every test: no error on the page, no dialog, no request to another host. With SPECVIZ_TRACES=FOLDER a failed test
leaves its Playwright trace there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import torch

from tests.ui import browser
from tests.ui.actions import PHONE, SCREEN
from tests.ui.browser import Visit

TRACES = os.environ.get("SPECVIZ_TRACES")
FAILED = pytest.StashKey[bool]()
NO_PLOTLY = """
const nothing = async () => {};
window.Plotly = { newPlot: nothing, react: nothing, update: nothing, restyle: nothing, relayout: nothing, purge: nothing,
                  Plots: { resize: nothing } };
"""
"""In place of plotly: reading its 5 MB and drawing with it is a third of what a page costs. Names, legends and texts of
charts are the page's own. Tests that look at what plotly draws are marked with `plotly`."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Note on the test whether it failed: fixtures are taken down after that."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="module")
def chromium():
    # tiny models on few cores: helper threads of torch would only fight with the browser
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with browser.browser() as started:
        yield started
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def shared_contexts():
    """By what made them."""
    contexts = {}
    yield contexts
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="module")
def shared(chromium, shared_contexts):
    """Make contexts that tests of one file share; each test is a visitor of its own, with nothing remembered."""

    def opened(**how):
        key = repr(sorted(how.items()))
        if key not in shared_contexts:
            shared_contexts[key] = chromium.new_context(**how)
        return shared_contexts[key]

    return opened


@pytest.fixture(scope="module")
def desk(shared):
    """A window of the usual size."""
    return shared(viewport=SCREEN)


@pytest.fixture(scope="module")
def tabs():
    """Idle tabs of shared contexts, by context and by whether plotly is real there."""
    return {}


@pytest.fixture
def windows(chromium):
    """Make contexts of the browser, which are closed at the end."""
    contexts = []

    def opened(**how):
        contexts.append(chromium.new_context(**how))
        return contexts[-1]

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def traced(request, windows):
    """Record what happens in a context, and keep it where the test fails; without a folder for it nothing is recorded.

    Asks for `windows` so that those are still open when the trace is written.
    """
    contexts = []

    def begin(context):
        if TRACES and context not in contexts:
            contexts.append(context)
            context.on("close", lambda closed: contexts.remove(closed))
            context.tracing.start(screenshots=True, snapshots=True)

    yield begin
    name = re.sub(r"\W+", "-", request.node.nodeid).strip("-")
    for number, context in enumerate(contexts):
        kept = Path(TRACES) / f"{name}-{number}.zip" if request.node.stash.get(FAILED, False) else None
        context.tracing.stop(path=kept)


@pytest.fixture
def open_tab(request, traced, shared_contexts, tabs):
    """Open tabs in any context; at the end all of them must have been faultless."""
    visits = []
    plotly = bool(request.node.get_closest_marker("plotly"))

    def opened(context, query="", url=""):
        traced(context)
        if idle := tabs.get((context, plotly)):
            page = idle.pop()
        else:
            page = context.new_page()
            if not plotly:
                page.add_init_script(NO_PLOTLY)
        visits.append(Visit(page, (url or browser.address()) + query))
        return visits[-1]

    yield opened
    failed = request.node.stash.get(FAILED, False)
    if failed:
        for visit in visits:
            print(visit.report())
    faults = [fault for visit in visits for fault in visit.faults]
    for visit in visits:
        if visit.page.context in shared_contexts.values() and not failed and not faults and visit.leave():
            tabs.setdefault((visit.page.context, plotly), []).append(visit.page)
        else:
            visit.page.close()
    assert faults == []


@pytest.fixture
def visit(desk, open_tab):
    return open_tab(desk)


@pytest.fixture
def phone(shared, open_tab):
    """Open tabs as a phone does; `query` and whatever a context of the browser takes."""

    def opened(query="", **how):
        return open_tab(shared(**{"viewport": PHONE, "has_touch": True, "is_mobile": True} | how), query)

    return opened
