"""One browser for each file of tests, and the tabs they open.

After every test: no error on the page, no dialog, no request to another host.
"""

from __future__ import annotations

import pytest
import torch

from tests.ui import browser
from tests.ui.actions import PHONE, SCREEN
from tests.ui.browser import Visit


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
def open_tab():
    """Open tabs in any context; at the end all of them must have been faultless."""
    visits = []

    def opened(context, query="", url=""):
        visits.append(Visit(context.new_page(), (url or browser.address()) + query))
        return visits[-1]

    yield opened
    faults = [fault for visit in visits for fault in visit.faults]
    for visit in visits:
        visit.page.close()
    assert faults == []


@pytest.fixture
def visit(desk, open_tab):
    return open_tab(desk)


@pytest.fixture
def phone(chromium, open_tab):
    """Open tabs as a phone does; `query` and whatever a context of the browser takes."""
    contexts = []

    def opened(query="", **how):
        contexts.append(chromium.new_context(**{"viewport": PHONE, "has_touch": True, "is_mobile": True} | how))
        return open_tab(contexts[-1], query)

    yield opened
    for context in contexts:
        context.close()
