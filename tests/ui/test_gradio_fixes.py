"""Canaries: a plain Gradio app still has each defect that assets/gradio_fixes/ works around.

A test that fails here is good news: its defect is gone, and so may its file be.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import gradio as gr
import pytest
from playwright.sync_api import Page

from tests.ui import browser
from tests.ui.actions import PHONE, SCREEN

LATE = """
const { fetch } = window, heard = new TextDecoder(), said = new TextEncoder();
window.fetch = async (...asked) => {
    const answer = await fetch(...asked);
    if (!String(asked[0].url ?? asked[0]).includes('/queue/data')) return answer;
    const late = new TransformStream({ async transform(chunk, out) {
        const [before, end] = heard.decode(chunk).split(/(?=data: \\{"msg":"close_stream")/);
        if (before) out.enqueue(said.encode(before));
        if (!end) return;
        await new Promise((done) => setTimeout(done, 1000));
        out.enqueue(said.encode(end));
    } });
    return new Response(answer.body.pipeThrough(late), { status: answer.status, headers: answer.headers });
};
"""
"""A network on which the message that ends a stream comes a second after the others."""
ENTRIES = [f"entry {i}" for i in range(30)]


def plain_app() -> gr.Blocks:
    """The widgets that the page uses, as Gradio makes them."""
    with gr.Blocks(analytics_enabled=False) as demo:
        with gr.Sidebar(elem_id="side"):
            menu = gr.Dropdown(ENTRIES, value=ENTRIES[20], filterable=True, label="menu", elem_id="menu")
            gr.Textbox(label="next", elem_id="next")
        slider = gr.Slider(0, 10, value=4, step=1, label="slider", elem_id="slider")
        with gr.Accordion("more", open=False, elem_id="more"):
            gr.Textbox(label="inside")
        button = gr.Button("say", elem_id="say")
        count, counted = gr.Button("count", elem_id="count"), gr.Number(elem_id="counted")
        heard, chosen = gr.Textbox(elem_id="heard"), gr.Textbox(elem_id="chosen")
        slider.input(str, slider, heard, queue=False)
        menu.input(str, menu, chosen, queue=False)
        button.click(lambda: "said", None, heard)
        numbers = itertools.count(1)
        count.click(lambda: next(numbers), None, counted, trigger_mode="multiple")
    return demo


class Server:
    """A plain app that can be ended and begun anew at one address."""

    def __init__(self) -> None:
        self.port = browser.free_port()
        self.begin()

    def begin(self) -> None:
        self.demo = plain_app()
        answer: list[str] = []

        # in a thread of its own: the browser's driver keeps an event loop in this one
        def start() -> None:
            given = {"prevent_thread_lock": True, "quiet": True, "server_name": "127.0.0.1", "ssr_mode": False}
            answer.append(self.demo.launch(server_port=self.port, **given)[1])

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        self.url = answer[0]

    def end(self) -> None:
        self.demo.close(verbose=False)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.end()


def shown(context, server: Server) -> Page:
    page = context.new_page()
    page.goto(server.url)
    page.locator("#say").wait_for()
    page.locator("#side .toggle-button").wait_for()
    return page


@pytest.fixture
def plain(chromium, server):
    context = chromium.new_context(viewport=SCREEN)
    yield shown(context, server)
    context.close()


@pytest.fixture
def phone(chromium, server):
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    yield shown(context, server)
    context.close()


def open_menu(page: Page):
    box = page.locator("#menu input")
    box.click()
    page.locator("#menu .options").wait_for()
    return box


# ---------------------------------------------------------------------------------------------------------- the language


def test_the_document_is_in_the_language_of_the_browser(chromium, server):
    context = chromium.new_context(viewport=SCREEN, locale="fr-FR")
    assert shown(context, server).evaluate("() => document.documentElement.lang").startswith("fr")
    context.close()


# ----------------------------------------------------------------------------------------------------------- the sidebar


def test_the_button_of_a_sidebar_has_no_name_and_no_state(plain):
    handle = plain.locator("#side .toggle-button")
    assert handle.get_attribute("aria-expanded") is None
    assert handle.get_attribute("aria-label") in (None, "", "Toggle Sidebar")


def test_the_heading_of_an_accordion_does_not_say_whether_it_is_open(plain):
    assert plain.locator("#more .label-wrap").get_attribute("aria-expanded") is None


# ------------------------------------------------------------------------------------------------------------- the menus


def test_tab_leaves_the_list_of_a_menu_open(plain):
    open_menu(plain)
    plain.keyboard.press("Tab")
    plain.wait_for_timeout(500)
    focused_list = plain.evaluate("() => !!document.activeElement.closest('.options, .option-list')")
    assert plain.locator("#menu .options").count() or focused_list


def test_enter_in_a_menu_leaves_the_focus_nowhere(plain):
    open_menu(plain)
    plain.keyboard.press("ArrowDown")
    plain.keyboard.press("Enter")
    plain.wait_for_timeout(500)
    assert plain.evaluate("() => document.activeElement === document.body")


def test_what_is_typed_after_an_arrow_is_added_to_the_chosen_entry(plain):
    box = open_menu(plain)
    plain.keyboard.press("ArrowDown")
    plain.wait_for_timeout(300)
    assert plain.evaluate("() => document.activeElement.selectionStart === document.activeElement.selectionEnd")
    plain.keyboard.type("x")
    assert len(box.input_value()) > 1


def test_the_list_of_a_menu_opens_upwards_where_there_is_room_below(plain):
    # room below as the fix asks for it, and less than above
    plain.evaluate("() => { document.querySelector('#menu').style.marginTop = '420px'; }")
    box = open_menu(plain)
    plain.wait_for_timeout(400)
    found = plain.evaluate(
        """() => {
            const list = document.querySelector('#menu .options'), a = list.getBoundingClientRect();
            const edge = document.querySelector('#menu input').getBoundingClientRect();
            const entry = list.querySelector('[aria-selected=true]').getBoundingClientRect();
            const hidden = entry.top < a.top - 1 || entry.bottom > a.bottom + 1;
            return { up: a.bottom <= edge.top + 8, room: innerHeight - edge.bottom, hidden };
        }"""
    )
    assert box.is_visible() and found["room"] >= 248
    assert found["up"] or found["hidden"], found


# ----------------------------------------------------------------------------------------------------------- the sliders


def test_a_number_box_sends_what_is_beyond_its_range(plain):
    with plain.expect_request(lambda request: "/run/" in request.url and '"data":[99]' in (request.post_data or "")):
        plain.locator("#slider input[type=number]").fill("99")


def test_a_swipe_that_scrolls_leaves_a_slider_moved(phone):
    phone.locator("#side .toggle-button").evaluate("(node) => node.closest('.open') && node.click()")
    phone.wait_for_timeout(500)
    phone.evaluate("() => { document.body.style.paddingBottom = '2000px'; }")
    slider = phone.locator("#slider input[type=range]")
    slider.scroll_into_view_if_needed()
    at, before = slider.bounding_box(), slider.input_value()
    x, y = at["x"] + at["width"] * 0.9, at["y"] + at["height"] / 2
    touch = phone.context.new_cdp_session(phone)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for way in range(1, 9):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - 15 * way}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    phone.wait_for_timeout(300)
    assert phone.evaluate("scrollY") > 0 or phone.evaluate("document.scrollingElement.scrollTop") > 0
    assert slider.input_value() != before


# ------------------------------------------------------------------------------------------------------------ the server


def test_a_page_whose_server_comes_back_is_loaded_anew_and_a_press_before_says_nothing(chromium):
    server, context = Server(), chromium.new_context(viewport=SCREEN)
    page = shown(context, server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("() => { window.before = true; }")
    server.end()
    page.locator("#say").click()
    page.locator(".toast-body.error").wait_for()
    page.locator("#say").click()  # nothing comes of it, and nothing more is said
    page.wait_for_timeout(500)
    assert page.locator(".toast-message-item").count() <= 1
    server.begin()
    page.wait_for_function("() => !window.before && document.querySelector('#say')")
    assert any(url.endswith("/app_id") for url in asked)  # what the fix listens for
    context.close()
    server.end()


def test_a_press_while_the_stream_of_the_one_before_closes_is_not_heard(chromium):
    server, context = Server(), chromium.new_context(viewport=SCREEN)
    context.add_init_script(LATE)
    page = shown(context, server)
    count, counted = page.locator("#count"), page.locator("#counted input")

    def until(number: int) -> None:
        page.wait_for_function("(n) => document.querySelector('#counted input').value === n", arg=str(number))

    count.click()
    until(1)
    count.click()
    page.wait_for_timeout(2000)
    assert counted.input_value() == "1"
    count.click()  # brings both answers
    until(3)
    context.close()
    server.end()


def test_on_the_page_such_a_press_is_heard(desk, open_tab):
    with desk.browser.new_context(viewport=SCREEN) as context:
        context.add_init_script(LATE)
        visit = open_tab(context)
        visit.steps_one_by_one(2)
        visit.page.wait_for_timeout(1500)
        asked = len(visit.requests)
        visit.page.wait_for_timeout(1500)
        assert not [url for url in visit.requests[asked:] if "/queue/" in url]
