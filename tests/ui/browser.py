"""A running app with tiny models, and a browser on it: what the tests of the page stand on.

No network and no real model: the default pair is a random byte-level Llama and a disturbed copy of it as its draft, a
step takes about 10 ms. The app is launched once for a test process. Knows the page by what a visitor sees and by the
ids and classes of its parts; knows nothing of single tests.

Example: ``visit.play(); visit.wait_state("Finished"); visit.text()``.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import pytest
import torch
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, TimeoutError, sync_playwright
from safetensors.torch import load_file, save_file

from specviz.core.settings import RunSettings, SpecvizError
from specviz.models.loading import Pair, load_pair
from specviz.recordings.gallery import SAMPLED
from specviz.ui import app, controls
from specviz.views.page import SCRIPTS, SCRIPTS_AT
from tests import tiny

ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
CONTEXT = 8192
FIRST_SETTINGS = SAMPLED
"""Where the controls of the app under test start: a draft model of its own is rejected often, a 4-bit copy hardly ever."""
REPORT = """() => ({
    now: Math.round(performance.now()),
    pill: document.querySelector('.sv-pill')?.textContent,
    say: document.querySelector('.sv-say')?.textContent,
    label: document.querySelector('.sv-scrub-label')?.textContent,
    focus: document.activeElement?.outerHTML.slice(0, 200),
    asked: performance.getEntriesByType('resource').filter((r) => !/\\.(js|css)$/.test(r.name)).slice(-20).map((r) =>
        `${Math.round(r.startTime)}+${Math.round(r.duration)} ms ${r.responseStatus} ${r.name.replace(/^.*?:\\d+/, '')}`),
})"""
WAIT_MS = 60_000  # machines that run tests may be busy with much else
PATIENT_MS = 180_000
EVIL = (
    "start",
    "<img src=x onerror=alert(1)>",
    "${alert(2)}",
    "${1+1}",
    "{{7*7}}",
    "<script>alert(3)</script>",
    "</div></style><b>bold</b>",
    "__i18n__",
    "שלום",
    "123,",
    "مرحبا",
    "end",
)
"""A vocabulary that tries to be markup, code or a change of direction."""


# ------------------------------------------------------------------------------------------------------------ the models


@cache
def default_pair() -> Pair:
    """Bytes in, bytes out: about two of three drafted tokens are accepted, nothing but the length ends a run."""
    draft = tiny.copy("bytes_lm", Path(tempfile.mkdtemp(prefix="specviz-browser-")))
    state, generator = load_file(draft / "model.safetensors"), torch.Generator().manual_seed(3)
    noisy = {name: w + 0.02 * torch.randn(w.shape, generator=generator) for name, w in state.items()}
    save_file(noisy, draft / "model.safetensors", {"format": "pt"})
    pair = load_pair(tiny.folder("bytes_lm"), draft, dtype="float32")
    shutil.rmtree(draft.parent)
    # rotary positions go on beyond those of the config, and an early end token would end the long runs
    assert pair.draft
    target, draft_model = (replace(m, context=CONTEXT, eos_ids=frozenset()) for m in (pair.target, pair.draft))
    return replace(pair, target=target, draft=draft_model)


@cache
def evil_pair() -> Pair:
    """Says the words of EVIL one after the other."""
    return load_pair(tiny.folder("cycle12", words=list(EVIL)), None, dtype="float32")


def load(
    target: str, draft: str | None, dtype: str = "auto", progress: Callable[[float | None, str], None] | None = None
) -> Pair:
    """Stands in for the loader: these names are all it knows."""
    known = {"default": default_pair, "evil": evil_pair}
    if target not in known:
        raise SpecvizError(f"There is no model named {target}; check the name.")
    return known[target]()


# --------------------------------------------------------------------------------------------------------------- the app


def launch(first: RunSettings = FIRST_SETTINGS, **options: Any) -> tuple[gr.Blocks, str]:
    """A fresh app and its address; `first`: where its controls start. `options` are Gradio's own."""
    default_pair()
    with pytest.MonkeyPatch.context() as patch:
        # the slider ends at 512; a run of 1,500 steps needs more
        patch.setitem(controls.DRAWN, "max_new_tokens", CONTEXT)
        patch.setattr(controls, "FIRST_SETTINGS", first)
        demo = app.build(load)
    answer: list[str] = []

    # in a thread of its own: the browser's driver keeps an event loop in this one
    def start() -> None:
        given = app.launch_options() | options
        answer.append(demo.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **given)[1])

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert answer, "the app could not be launched"
    return demo, answer[0]


def free_port() -> int:
    """A port that no app of another test takes, even after it was freed: Gradio looks for one from 7860 on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@cache
def address() -> str:
    """The address of the one app that all tests share."""
    return launch()[1]


# ----------------------------------------------------------------------------------------------------------- the browser


def chromium_path() -> str:
    """The machine's own Chromium; the headless build needs 40 % less processor time for a page than the one with windows."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.fail(
        "No Chromium on this machine, and the page is tested in one: install chromium (Debian: apt install chromium), "
        "or leave these tests out with --ignore=tests/ui/test_page.py.",
        pytrace=False,
    )


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    path = chromium_path()
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=ARGS)
        try:
            yield chromium
        finally:
            chromium.close()


def offer_scripts(shown: Page) -> None:
    """An empty document beside which the page's modules lie, with no app behind it."""

    def answer(route: Route) -> None:
        name = urlsplit(route.request.url).path.removeprefix(SCRIPTS_AT + "/")
        if name in SCRIPTS:
            route.fulfill(body=SCRIPTS[name], content_type="text/javascript")
        else:
            route.fulfill(body="", content_type="text/html")

    shown.route("**/*", answer)
    shown.goto("http://page.invalid/")


def is_local(url: str) -> bool:
    """Whether nothing leaves this machine for it."""
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob", "about") or parts.hostname in ("127.0.0.1", "localhost")


def _of_leaving(words: str) -> bool:
    """Gradio aborts its own streams as a page is left (`close` on beforeunload) and catches nothing."""
    return "AbortError" in words and ".close (" in words


class Visit:
    """One tab. Collects what must never be: errors of the page, dialogs, requests to other hosts.

    `complaints` are what the console shows in red; only the end of a server may cause some.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.size = page.viewport_size
        self.errors: list[str] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.left = False
        page.set_default_timeout(WAIT_MS)
        if page.url.split("#")[0] == url.split("#")[0]:
            page.goto("about:blank")  # another fragment alone would load nothing
        page.goto(url, wait_until="commit")
        # from here on: what the page of the visit before says while it is left is not this one's
        self.heard: dict[Any, Callable[..., None]] = {
            "pageerror": self._page_error,
            "console": self._complaint,
            "request": lambda request: self.requests.append(request.url),
            "websocket": lambda socket: self.requests.append(socket.url),
            "dialog": self._dialog,
        }
        for event, listener in self.heard.items():
            page.on(event, listener)
        page.wait_for_function(
            "() => document.querySelector('.sv-root')?.dataset.shown && "
            "document.querySelector('#sv-side .toggle-button[aria-expanded]') && "
            # the column of controls slides in, or out of the way
            "!document.querySelector('#sv-side').getAnimations({ subtree: true }).length && "
            "window.svLeft === (window.svLeft = document.querySelector('.sv-root').getBoundingClientRect().left) && "
            "/^(Recording|Not done|No run yet)$/.test(document.querySelector('.sv-pill').textContent) && "
            # what Step and Play do depends on what is on screen
            "(document.querySelector('.sv-pill').textContent !== 'Recording' || document.querySelector('#sv-live[data-on]'))"
        )

    def _page_error(self, error: Error) -> None:
        if not _of_leaving(f"{error.name}: {error.stack}"):
            self.errors.append(f"page error: {error}")

    def _complaint(self, told: ConsoleMessage) -> None:
        if told.type != "error":
            return
        # Gradio's word for a stream that it has closed itself comes with it
        left, self.left = self.left, _of_leaving(told.text)
        if not (self.left or (left and "errored out" in told.text)):
            self.complaints.append(told.text)

    def leave(self) -> bool:
        """Make the tab ready for another visit, which loads the page in it at half the cost of a tab of its own."""
        if self.page.is_closed() or not self.page.url.startswith(address()):
            return False
        for event, listener in self.heard.items():
            self.page.remove_listener(event, listener)
        self.page.unroute_all()
        self.page.set_viewport_size(self.size)
        self.page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")
        self.page.evaluate(
            "() => { document.querySelector('#sv-pause')?.click(); sessionStorage.clear(); localStorage.clear(); }"
        )
        return True

    def _dialog(self, dialog: Any) -> None:
        self.errors.append(f"a dialog was opened: {dialog.message}")
        dialog.dismiss()

    @property
    def faults(self) -> list[str]:
        """What must be empty at the end of every visit."""
        return self.errors + self.complaints + [f"asked {url}" for url in self.requests if not is_local(url)]

    def report(self) -> str:
        """What a failed test left on screen, and what the page asked of the server last: for the log."""
        try:
            seen = self.page.evaluate(REPORT)
        except Error as error:
            seen = str(error)
        return f"{self.page.url}\n{json.dumps(seen, indent=1, ensure_ascii=False)}\nfaults: {self.faults}"

    # ---- what is on screen

    def state(self) -> str:
        """The word in the status line."""
        return self.page.locator(".sv-pill").text_content() or ""

    def say(self) -> str:
        """The sentence beside it."""
        return self.page.locator(".sv-say").text_content() or ""

    def label(self) -> str:
        """For example "step 3 of 12"."""
        return self.page.locator(".sv-scrub-label").text_content() or ""

    def place(self) -> tuple[int, int]:
        """Steps on screen and steps there are."""
        words = self.label().split()
        if words[:1] == ["step"]:
            return int(words[1]), int(words[3])
        return 0, int(words[4]) if words[:1] == ["before"] else 0

    def headline(self) -> str:
        """All figures in one line."""
        return self.page.locator(".sv-headline").text_content() or ""

    def card(self) -> str:
        """All words of the step card."""
        return self.page.locator(".sv-card").text_content() or ""

    def chips(self, kinds: str = "absbtrup") -> list[str]:
        """What stands on the ribbon's visible chips, in order; `kinds` are letters of fates, p for the prompt."""
        return self.page.evaluate(
            """(kinds) => [...document.querySelectorAll('.sv-ribbon .sv-chip')]
                .filter((c) => [...kinds].some((k) => c.classList.contains('sv-' + k)))
                .filter((c) => getComputedStyle(c).visibility !== 'hidden').map((c) => c.textContent)""",
            kinds,
        )

    def output(self) -> list[str]:
        """The chips of the output alone."""
        return self.chips("asbt")

    # ---- waiting

    def until(self, condition: str, arg: Any = None, timeout: float = WAIT_MS) -> None:
        """Wait for a condition in the page's own words."""
        self.page.wait_for_function(condition, arg=arg, timeout=timeout)

    def wait_state(self, word: str, timeout: float = WAIT_MS) -> None:
        """Wait for the word in the status line."""
        self.until("(w) => document.querySelector('.sv-pill').textContent === w", word, timeout)

    def wait_label(self, words: str) -> None:
        """Wait for the words beside the scrub bar."""
        self.until("(w) => document.querySelector('.sv-scrub-label').textContent === w", words)

    def wait_steps(self, count: int, timeout: float = WAIT_MS) -> None:
        """Wait until there are that many steps of a run."""
        self.until(
            "(n) => Number(document.querySelector('.sv-scrub-label').textContent.match(/ of (\\d+)$/)?.[1]) >= n",
            count,
            timeout,
        )

    # ---- doing

    def press(self, name: str) -> None:
        """Click one of the transport's buttons: play, pause, step, reset, alone, live, return.

        "play" and "step" compute: while a recording is on screen, Run live plays, and Reset puts it away before a step.
        `click` presses the button that is named.
        """
        if name == "step" and self.page.locator("#sv-live").is_visible():
            self.click("reset")
            self.wait_state("No run yet")
        if name == "play":
            # a run that was begun a moment ago may take the recording, and with it Run live, off the screen
            for _ in range(WAIT_MS // 1000):
                live = self.page.locator("#sv-live")
                try:
                    return (live if live.is_visible() else self.page.locator("#sv-play")).click(timeout=1000)
                except TimeoutError:
                    continue
        self.click(name)

    def click(self, name: str) -> None:
        """Click the button of that name, whatever is on screen."""
        self.page.locator(f"#sv-{name}").click()

    def key(self, key: str, times: int = 1) -> None:
        """Keys pressed while nothing has focus."""
        self.page.evaluate("() => document.activeElement?.blur()")
        for _ in range(times):
            self.page.keyboard.press(key)

    def run_live(self) -> None:
        """Play, and wait for the live run to take the place of what was on screen."""
        self.press("play")
        self.wait_state("Running")

    def steps_one_by_one(self, count: int) -> None:
        """Press Step `count` times, waiting for each; begins a run."""
        for number in range(1, count + 1):
            self.press("step")
            self.wait_label(f"step {number} of {number}")
            self.wait_state("Paused")

    def prompt(self, text: str) -> None:
        """Type a prompt."""
        self.page.locator("#sv-prompt textarea").fill(text)

    def menu(self, entry: str) -> None:
        """Take an entry of the menu of runs: Open run …, Save run, Copy link, or a recording by its title."""
        self.page.get_by_role("button", name="Runs: recordings, files and links").click()
        panel = self.page.locator(".sv-runs-panel")
        # a recording that is slower than the target alone says so before its title
        title = re.compile(f"(^|: ){re.escape(entry)}$")
        panel.get_by_role("button").filter(has=self.page.get_by_text(title)).or_(
            panel.get_by_role("button", name=entry, exact=True)
        ).first.click()

    def open(self, section: str) -> None:
        """Unfold a section of the controls."""
        self.page.locator("#sv-side button", has_text=section).click()

    def slide(self, name: str, value: float) -> None:
        """Put a slider somewhere, as a drag does: one event on the way, one at the end."""
        self.page.locator(f"#sv-{name} input[type=range]").evaluate(
            """(node, value) => {
                for (const type of ['input', 'change', 'pointerup']) {
                    node.value = value;
                    node.dispatchEvent(new Event(type, { bubbles: true }));
                }
            }""",
            value,
        )

    def choose(self, name: str, option: str) -> None:
        """Take an entry of a menu."""
        self.page.locator(f"#sv-{name} input").click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def write_in(self, name: str, text: str) -> None:
        """Type an own word into a menu."""
        box = self.page.locator(f"#sv-{name} input")
        box.fill(text)
        box.press("Enter")
