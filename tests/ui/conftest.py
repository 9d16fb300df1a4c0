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
def desk(chromium):
    """A window of the usual size, shared by tests; each has a tab of its own, and so is a visitor of its own."""
    context = chromium.new_context(viewport=SCREEN)
    yield context
    context.close()


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
def open_tab(request, traced):
    """Open tabs in any context; at the end all of them must have been faultless."""
    visits = []

    def opened(context, query="", url=""):
        traced(context)
        page = context.new_page()
        if not request.node.get_closest_marker("plotly"):
            page.add_init_script(NO_PLOTLY)
        visits.append(Visit(page, (url or browser.address()) + query))
        return visits[-1]

    yield opened
    if request.node.stash.get(FAILED, False):
        for visit in visits:
            print(visit.report())
    faults = [fault for visit in visits for fault in visit.faults]
    for visit in visits:
        visit.page.close()
    assert faults == []


@pytest.fixture
def visit(desk, open_tab):
    return open_tab(desk)


@pytest.fixture
def phone(windows, open_tab):
    """Open tabs as a phone does; `query` and whatever a context of the browser takes."""

    def opened(query="", **how):
        return open_tab(windows(**{"viewport": PHONE, "has_touch": True, "is_mobile": True} | how), query)

    return opened
