"""The page in another language: the address chooses it, and handlers, generators and server functions speak it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace

import gradio as gr
import pytest
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from specviz.core.runtime import DTYPES
from specviz.core.words import catalogue, language, languages, speaking
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.models.catalogue import MODELS, PAIRS
from specviz.ui import app
from specviz.ui.languages import Blocks, SpokenRequests
from specviz.verification import RULES
from tests.ui import browser

SAME = {"K", "c", "α", "top-k", "top-p", "Prompt", "Code", "❚❚ Pause", "auto"}
"""Words that are the same in both languages."""
NAMES = {*STRATEGIES, *LENGTHS, *RULES, *MODELS, *PAIRS, *DTYPES}
"""Names that are the same on the page, in links and in programs."""
GERMAN = {"referer": "http://testserver/?k=3&lang=de"}


@pytest.fixture(scope="module")
def page() -> Blocks:
    built = app.build(browser.load, preload=False)
    built.theme = app.THEME  # a document needs one; launch() gives it else
    built.config = built.get_config_file()
    return built


@pytest.fixture(scope="module")
def client(page) -> TestClient:
    return TestClient(gr.routes.App.create_app(page, app_kwargs={"middleware": [Middleware(SpokenRequests)]}))


@pytest.mark.parametrize(
    ("query", "code"), [("", "en"), ("?lang=de", "de"), ("?k=3&lang=de", "de"), ("?lang=xx", "en"), ("?lang=", "en")]
)
def test_the_address_chooses_the_language_of_the_document_and_of_its_first_script(client, query, code):
    # a link on the German page to the English one says where it comes from
    answer = client.get("/" + query, headers=GERMAN)
    head = re.sub(r"\s+", " ", answer.text)
    assert f'<html lang="{code}"' in head and head.index("navigator, 'language'") < head.index("<meta")
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert ("Watch a small model" in answer.text) == (code == "en")
    assert ("Ein kleines Modell" in answer.text) == (code == "de")


def test_all_languages_have_the_same_components_events_and_links_to_each_other(page):
    english = page.config
    for code in languages()[1:]:
        with speaking(code):
            other = page.config
        for part in ("components", "dependencies"):
            assert [item["id"] for item in other[part]] == [item["id"] for item in english[part]]
        assert other["layout"] == english["layout"] and other["title"] != english["title"]
        values = [str(item["props"].get("value")) for item in other["components"]]
        assert any('lang="en"' in text for text in values) and not any(f'lang="{code}"' in text for text in values)


def test_the_script_of_the_view_knows_the_speeds_as_the_menu_shows_them(page):
    with speaking("de"):
        props = {item["props"].get("elem_id"): item["props"] for item in page.config["components"]}
    shown = [label for label, _ in props["sv-speed"]["choices"]]
    assert shown[0] == "1 Schritt in 2 s"
    assert all(f'"{label}":' in props["sv-view"]["js_on_load"] for label in shown[:-1])  # full speed waits for nothing


def texts(component: dict) -> dict[str, str]:
    """What a visitor reads of a component: where it stands in its properties → text."""
    kind, props = component["type"], component["props"]
    parts = {part: props.get(part) for part in ("label", "info", "placeholder")} if kind != "api" else {}
    if kind in ("button", "markdown", "html"):
        parts["value"] = re.sub("<[^>]*>", " ", props.get("value") or "")
    parts |= {f"choice {name}": shown for shown, name in props.get("choices") or []}
    return {part: text for part, text in parts.items() if text and re.search(r"[^\W\d_]", str(text))}


def test_no_english_word_is_left_on_the_german_page(page):
    with speaking("de"):
        german = page.config["components"]
    left = set()
    for ours, theirs in zip(page.config["components"], german, strict=True):
        here, there = texts(ours), texts(theirs)
        assert here.keys() == there.keys()
        left |= {text for part, text in here.items() if there[part] == text}
    assert left <= SAME | NAMES


def test_handlers_and_every_item_of_a_generator_speak_the_language_of_the_page_that_asks():
    def handler() -> str:
        return language()

    def stream() -> Iterator[str]:
        yield language()
        yield language()

    with Blocks() as demo:
        for work in (handler, stream):
            gr.on(fn=work, inputs=None, outputs=gr.Textbox())

    async def call(number: int, *requests: SimpleNamespace) -> list[str]:
        heard, iterator = [], None
        for request in requests:
            answer = await demo.call_function(number, [], iterator, request)
            heard.append(answer["prediction"])
            iterator = answer["iterator"]
        return heard

    german = SimpleNamespace(query_params={"lang": "de"}, method="POST", headers={})
    other = SimpleNamespace(query_params={}, method="POST", headers={})
    assert asyncio.run(call(0, german)) == ["de"] and asyncio.run(call(0, other)) == ["en"]
    assert asyncio.run(call(1, german, german)) == ["de", "de"]
    assert language() == "en"


@pytest.mark.parametrize(("headers", "code"), [(GERMAN, "de"), ({"referer": "http://testserver/"}, "en"), ({}, "en")])
def test_server_functions_speak_the_language_of_the_page_that_calls_them(headers, code):
    def spoken(asked: object) -> str:
        return language()

    with Blocks() as demo:
        view = gr.HTML(server_functions=[spoken])
    client = TestClient(gr.routes.App.create_app(demo, app_kwargs={"middleware": [Middleware(SpokenRequests)]}))
    body = {"data": None, "component_id": view._id, "fn_name": "spoken", "session_hash": "a tab"}
    assert client.post("/gradio_api/component_server", json=body, headers=headers).json() == code


SEEN = """() => {
    const texts = [...document.querySelectorAll('input, textarea')].map((node) => node.value);
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (walk.currentNode.parentElement.checkVisibility()) texts.push(walk.currentNode.data);
    return texts.map((text) => text.trim()).filter(Boolean);
}"""


def english_only() -> set[str]:
    """Whole texts of the English catalogue that are not German."""
    forms = [
        {form for entries in catalogue(code).values() for entry in entries.values() for form in sentences(entry)}
        for code in ("en", "de")
    ]
    return {text for text in forms[0] - forms[1] if "{" not in text}


def sentences(entry: str | Mapping[str, str]) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry.values())


def test_the_page_in_another_language_keeps_its_other_parameters_and_its_run(chromium, open_tab):
    # the browser speaks a third language, which Gradio would follow
    context = chromium.new_context(locale="fr-FR")
    visit = open_tab(context, "?k=3&max_new_tokens=8")
    page = visit.page
    assert page.evaluate("document.documentElement.lang") == "en"
    visit.press("play")
    visit.wait_state("Finished")
    output = visit.output()
    page.locator(".sv-language").first.click()
    page.wait_for_url("**/?k=3&max_new_tokens=8&lang=de")
    visit.until("() => document.documentElement.lang === 'de'")
    page.locator(".sv-ribbon .sv-a, .sv-ribbon .sv-s").first.wait_for()
    assert visit.output() == output
    page.locator(".sv-runs-open").click()
    page.locator(".sv-run-link").click()
    visit.until("() => document.querySelector('.sv-say').textContent.includes('lang=de')")
    # everything unfolded, and a step played anew: what is read is German
    for number in range(page.locator(".label-wrap").count()):
        page.locator(".label-wrap").nth(number).click()
    page.locator("#sv-k label").filter(has_text="K").first.wait_for()
    page.locator("#sv-step").click()
    visit.until("() => document.querySelector('#sv-why-verdict').textContent.includes('K')")
    seen = set(page.evaluate(SEEN))
    assert {
        "Entwurfsstrategie",
        "Temperatur",
        "▶ Start",
        "akzeptiert",
        "Läufe ▾",
        "Warum diese Geschwindigkeit?",
    } <= seen
    # names of strategies, the link to the other page, and what llama.cpp itself calls one of its figures
    assert seen & english_only() <= NAMES | {"English", "mean acceptance length"}
    context.close()
