"""The server goes and comes back: the page keeps what is on screen, and says where it was pressed that nothing can come."""

from __future__ import annotations

import threading

import gradio as gr
import pytest
from gradio.context import Context

from specviz.ui import app
from tests.ui import browser

UNHEARD = "() => document.querySelector('.sv-unheard')?.textContent ?? ''"
AWAY = "The server is unreachable."
BACK = "The server is back but no longer has this run; "


class Server:
    """An app that can be ended and begun anew at one address, as a process that is started again."""

    def __init__(self) -> None:
        self.first = Context.id  # a new process numbers its components from the same number on
        self.demo: gr.Blocks
        self.demo, self.url = browser.launch(server_port=browser.free_port())

    def end(self) -> None:
        self.demo.close(verbose=False)

    def begin(self) -> None:
        Context.id = self.first
        demo, port = app.build(browser.load), int(self.url.rstrip("/").rsplit(":", 1)[1])

        def start() -> None:
            demo.launch(
                prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", server_port=port, **app.launch_options()
            )

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        self.demo = demo


@pytest.fixture
def server():
    running, last = Server(), Context.id
    yield running
    running.end()
    Context.id = max(last, Context.id)


def until_said(visit, words):
    visit.until("(w) => document.querySelector('.sv-say').textContent.includes(w)", words)


def test_a_server_that_comes_back_is_told_and_the_page_stays(desk, open_tab, server):
    visit = open_tab(desk, url=server.url)
    visit.steps_one_by_one(3)
    visit.page.locator("#sv-compare > .label-wrap").click()
    visit.prompt("A prompt of my own")
    server.end()
    visit.press("step")
    visit.wait_state("Offline")
    chips, loaded = visit.chips(), visit.page.evaluate("() => performance.timeOrigin")
    visit.page.locator("#sv-prompt textarea").focus()
    server.begin()
    until_said(visit, BACK + "reload the page to run again.")
    assert visit.state() == "Paused"
    visit.page.wait_for_timeout(5000)  # Gradio asks every two seconds, and would have loaded the page anew
    assert visit.page.evaluate("() => performance.timeOrigin") == loaded
    assert visit.chips() == chips
    assert visit.page.locator("#sv-prompt textarea").input_value() == "A prompt of my own"
    assert visit.page.evaluate("() => !!document.activeElement.closest('#sv-prompt')")
    assert visit.page.locator("#sv-compare-go").is_visible()
    visit.press("play")  # nothing comes of it, and that is said
    visit.wait_state("Not done")
    assert visit.say() == BACK + "reload the page to run again."
    visit.complaints.clear()
    visit.page.reload(wait_until="commit")
    visit.until("() => document.querySelector('.sv-say')?.textContent.startsWith('The run of this tab is no longer')")
    visit.steps_one_by_one(1)


def test_a_server_that_was_not_missed_by_gradio_runs_again_without_a_reload(desk, open_tab, server):
    visit = open_tab(desk, url=server.url)
    visit.steps_one_by_one(2)
    visit.page.wait_for_timeout(2500)  # the stream of the last step is over
    server.end()
    visit.wait_state("Offline")
    server.begin()
    until_said(visit, BACK + "press Play for a new one.")
    assert visit.label() == "step 2 of 2"
    visit.press("play")
    visit.wait_state("Finished")
    visit.complaints.clear()


def test_what_is_pressed_in_a_study_while_the_server_is_gone_says_so_beside_it(desk, open_tab, server):
    visit = open_tab(desk, url=server.url)
    for study in ("sv-compare", "sv-lossless"):
        visit.page.locator(f"#{study} > .label-wrap").click()
    visit.page.wait_for_timeout(500)
    assert visit.page.evaluate(UNHEARD) == ""
    server.end()
    visit.page.locator("#sv-compare-go").click()  # by this press the page finds out
    for button in ("sv-compare-go", "sv-whole-go", "sv-lossless-find"):
        if button != "sv-compare-go":
            visit.page.locator(f"#{button}").click()
        visit.until(f"(w) => ({UNHEARD})().startsWith(w)", AWAY)
        line = visit.page.locator(".sv-unheard")
        assert line.get_attribute("role") == "status"
        said, pressed = line.bounding_box(), visit.page.locator(f"#{button}").bounding_box()
        assert said and pressed
        assert abs(said["y"] + said["height"] / 2 - pressed["y"] - pressed["height"] / 2) < 60, button
    server.begin()
    visit.until(f"() => ({UNHEARD})().startsWith('The server is back; reload the page')")
    visit.complaints.clear()


def test_the_card_does_not_promise_candidates_that_a_lost_server_had(desk, open_tab, server):
    visit = open_tab(desk, url=server.url)
    visit.choose("speed", "4 steps/s")
    visit.run_live()
    visit.wait_steps(3)
    visit.page.route("**/component_server/**", lambda route: route.abort())  # no step is looked up any more
    server.end()
    visit.wait_state("Offline")
    visit.until(
        "() => document.querySelector('.sv-position .sv-muted').textContent"
        " === 'The candidates are on the server, which is unreachable.'"
    )
    visit.complaints.clear()
