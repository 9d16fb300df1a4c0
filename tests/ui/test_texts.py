"""Texts of files and models are text on the whole page: a file full of markup, every study, chart and note opened."""

from __future__ import annotations

import gradio as gr
import pytest

from specviz.core.words import say
from specviz.ui import app
from specviz.ui.piece import Piece
from specviz.views.markup import tag
from tests.evil import evil_trace
from tests.ui import browser

pytestmark = pytest.mark.plotly

STUDIES = ("sv-compare", "sv-why", "sv-numbers", "sv-lossless", "sv-sweep", "sv-every-k")
# what is in no faultless page: elements, handlers, formulas and links that a text brought along
MADE = """() => [window.__ran ?? '', ...[...document.querySelectorAll(
    'img[src="x"], sv-evil, .sv-root script, .katex, [onerror], [onmouseover], a[href^="javascript"]'
)].map((node) => node.outerHTML.slice(0, 200))].filter(Boolean)"""


def test_a_part_of_the_page_escapes_all_but_markup_of_views():
    part = Piece("")
    assert part.postprocess("<b>") == "&lt;b&gt;" and part.postprocess(tag("b", "<")) == "<b>&lt;</b>"
    assert part.postprocess(None) == part.postprocess("") == ""


def test_no_output_of_the_page_takes_markup_as_it_comes():
    demo = app.build(browser.load, preload=False)
    outputs = {id(block): block for fn in demo.fns.values() for block in fn.outputs}.values()
    assert sum(isinstance(block, Piece) for block in outputs) > 10
    assert not [block for block in outputs if isinstance(block, gr.Markdown)]
    # the others have a template of their own, which does not hold their value
    raw = [block for block in outputs if isinstance(block, gr.HTML) and not isinstance(block, Piece)]
    assert raw and all(block.html_template != gr.HTML().html_template for block in raw)


# an unknown rule rules other K out before the names of the models are looked at
@pytest.mark.parametrize("keep", ["-", "settings"], ids=["all", "known settings"])
def test_nothing_in_an_opened_file_becomes_markup(visit, tmp_path, keep):
    page, path = visit.page, tmp_path / "evil.json"
    path.write_text(evil_trace(keep), encoding="utf-8")
    page.set_input_files("input[type=file]", str(path))
    visit.until("() => document.querySelector('.sv-say').textContent.includes('evil.json')")
    visit.until("() => document.querySelector('.sv-ribbon').textContent.includes('onerror')")
    for study in STUDIES:
        page.locator(f"#{study} > button").click()
    visit.until("() => document.querySelector('#sv-numbers-drawn').textContent.includes('onerror')")
    visit.until("() => document.querySelector('#sv-every-k-table').textContent.includes('onerror')")
    visit.until(
        "(w) => document.querySelector('#sv-why-explained').textContent.includes(w)", say("speed.formula_title")
    )
    visit.until("() => document.querySelector('#sv-lossless-where').textContent.includes('onerror')")
    visit.until("() => document.querySelectorAll('.sv-chart .main-svg').length > 3")
    page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    # every note there is, and every step's card
    page.evaluate(
        """() => {
            for (const node of document.querySelectorAll('.sv-root *, .sv-chip'))
                node.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
        }"""
    )
    _, total = visit.place()
    for step in range(total, 0, -1):
        visit.wait_label(f"step {step} of {total}")
        visit.key("ArrowLeft")
    page.locator("#sv-lossless-go, #sv-why-measure").first.click()
    visit.until("() => document.querySelector('#sv-why-says').textContent.includes('onerror')")
    assert page.evaluate(MADE) == []
