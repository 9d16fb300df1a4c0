"""The page on paper, and all of a long run within reach of find in page and select all."""

from __future__ import annotations

import json

import pytest

from specviz.recordings import gallery
from specviz.views.figures import FIGURES
from tests.ui.actions import SCREEN

pytestmark = pytest.mark.plotly

PAPER = {"upright": {"width": 720, "height": 1000}, "across": {"width": 1040, "height": 700}}
# What stands on the page and where, as a printer would have it: texts cut or over each other, controls, empty charts.
LAID_OUT = """() => {
    const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 1;
    const box = (node) => node.getBoundingClientRect(), all = (what) => [...document.querySelectorAll(what)].filter(shown);
    const blocks = all('.sv-headline, .sv-ribbon, .sv-card-head, .sv-lanes, .sv-position, .sv-chart');
    const crossed = (a, b) => (over(box(a), box(b)) ? [a.className + ' ' + b.className] : []);
    const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const ribbon = document.querySelector('.sv-ribbon');
    return {
        controls: all('button:not(.sv-pick), input, textarea, footer, #sv-side, #sv-transport').map((n) => n.className || n.id),
        over: blocks.flatMap((a, i) => blocks.slice(i + 1).flatMap((b) => crossed(a, b))),
        beyond: blocks.filter((n) => box(n).right > innerWidth + 1 || box(n).left < -1).map((n) => n.className),
        titles: all('.sv-chart-name').map((n) => n.textContent),
        drawn: all('.sv-plot').filter((n) => n.querySelectorAll('.trace, .point').length).length,
        unseen: ribbon.scrollHeight - ribbon.clientHeight,
        chips: all('.sv-ribbon .sv-chip').length,
        words: all('.sv-ribbon .sv-chip').filter((n) => !n.classList.contains('sv-p')).map((n) => n.textContent),
    };
}"""


def long_trace(steps=1000):
    """A recording as a run of that many steps."""
    data = json.loads(gallery.read("temperature-1").to_json())
    out, start = [], 0
    while len(out) < steps:
        for step in json.loads(json.dumps(data["steps"])):
            out.append(step | {"index": len(out), "start": start, "stop": None})
            start += len(step["emitted_ids"])
    return json.dumps(data | {"steps": out, "stop": "length", "baseline": None}).encode()


@pytest.mark.parametrize("paper", PAPER)
def test_printing_gives_the_whole_run_and_all_charts_and_no_controls(chromium, open_tab, paper):
    context = chromium.new_context(viewport=SCREEN)
    visit = open_tab(context, "?__theme=dark")
    visit.key("End")
    visit.wait_label("step {0} of {0}".format(visit.place()[1]))
    chips = visit.page.locator(".sv-ribbon .sv-chip:visible").count()
    visit.page.locator(".sv-plot .main-svg").first.wait_for()  # plotly is here
    # the charts at the bottom were never in sight
    assert visit.page.locator(".sv-plot:has(.main-svg)").count() < len(FIGURES)
    visit.page.set_viewport_size(PAPER[paper])
    visit.page.emulate_media(media="print")
    visit.until("() => !document.body.classList.contains('dark')")
    found = visit.page.evaluate(LAID_OUT)
    assert found["controls"] == [] and found["over"] == [] and found["beyond"] == []
    assert found["titles"] == [build().layout.meta["title"] for build in FIGURES.values()]
    assert found["drawn"] == len(FIGURES)
    assert found["unseen"] <= 1 and found["chips"] == chips
    assert found["words"][0] == "The" and found["words"][-1] == "·in"
    visit.page.emulate_media(media="screen")
    visit.until("() => document.body.classList.contains('dark')")
    visit.until(
        "() => document.querySelector('.sv-ribbon').scrollHeight > document.querySelector('.sv-ribbon').clientHeight"
    )
    visit.page.set_viewport_size(SCREEN)
    visit.until(
        "() => document.querySelector('.sv-plot').clientWidth === document.querySelector('.sv-plot .main-svg').clientWidth"
    )
    context.close()


def test_a_page_is_made_of_it(chromium, open_tab):
    context = chromium.new_context(viewport=SCREEN)
    visit = open_tab(context)
    visit.page.locator(".sv-plot .main-svg").first.wait_for()  # plotly is here
    printed = []
    visit.page.expose_function("printed", lambda count: printed.append(count))
    # after the page's own, so as it is when the paper is filled
    wide = ".sv-plot .main-svg[width='310']"
    listen = "(wide) => addEventListener('beforeprint', () => printed(document.querySelectorAll(wide).length))"
    visit.page.evaluate(listen, wide)
    assert visit.page.pdf().startswith(b"%PDF")
    assert printed and printed[0] >= len(FIGURES)
    visit.until("(wide) => !document.querySelector(wide)", wide)
    context.close()


def test_of_a_long_run_every_word_is_found_and_selected_and_printed(chromium, open_tab, tmp_path):
    path = tmp_path / "long.json"
    path.write_bytes(long_trace())
    context = chromium.new_context(viewport=SCREEN)
    visit = open_tab(context)
    visit.page.set_input_files("input[type=file]", path)
    visit.until("() => Number(document.querySelector('.sv-scrub-label').textContent.match(/ of (.*)$/)?.[1]) >= 1000")
    visit.until("() => document.querySelectorAll('.sv-ribbon .sv-far').length > 10")
    elements = visit.page.evaluate("() => document.querySelectorAll('.sv-root *').length")
    assert elements < 5000
    trace = gallery.read("temperature-1")
    first = next(word for word in "".join(t.text for t in trace.steps[0].tokens).split() if len(word) > 3)
    found = visit.page.evaluate(
        """(word) => {
            const box = document.querySelector('.sv-ribbon');
            getSelection().selectAllChildren(box);
            const selected = String(getSelection()).length;
            getSelection().removeAllRanges();
            box.scrollTop = box.scrollHeight;
            return { selected, all: box.textContent.length, found: find(word, true, false, true) };
        }""",
        first,
    )
    assert found["selected"] >= 0.95 * found["all"] and found["found"]
    visit.page.emulate_media(media="print")
    visit.until("() => !document.querySelector('.sv-far')")
    printed = visit.page.evaluate(LAID_OUT)
    assert printed["unseen"] <= 1 and printed["chips"] > 3000
    visit.page.emulate_media(media="screen")
    visit.until("(most) => document.querySelectorAll('.sv-root *').length <= most", 5000)
    context.close()


def test_a_trace_without_steps_behind_the_cursor_prints_what_is_shown(visit):
    """At step 3 of a recording paper ends there, too."""
    visit.key("Home")
    visit.key("ArrowRight", 3)
    visit.until("() => document.querySelector('.sv-scrub-label').textContent.startsWith('step 3 ')")
    visit.page.emulate_media(media="print")
    found = visit.page.evaluate(LAID_OUT)
    visit.page.emulate_media(media="screen")
    assert found["words"][-1] == "·occurs" and found["unseen"] <= 1
