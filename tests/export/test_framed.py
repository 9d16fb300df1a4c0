"""A run within another page: in slides a clicker gets in, through the run, and out again; in a notebook it is a frame."""

from __future__ import annotations

import pytest

from specviz.recordings import gallery
from tests.views import js

STEPS = len(gallery.read("copy").steps)
SLIDES = """<!doctype html><title>slides</title>
<section>before</section><section><iframe src="{src}" sandbox="allow-scripts" width=960 height=540></iframe></section>
<section>after</section>
<script>
let at = 0;
const slides = [...document.querySelectorAll('section')];
const show = (to) => {{
  at = Math.max(0, Math.min(slides.length - 1, to));
  slides[at].querySelector('iframe')?.focus();
  document.title = 'slide ' + at;
}};
addEventListener('keydown', (event) => show(at + ({{ PageDown: 1, PageUp: -1 }}[event.key] || 0)));
addEventListener('message', ({{ data }}) => {{
  if (data?.type !== 'specviz') return;
  document.activeElement.blur();
  show(at + (data.at === 'end' ? 1 : -1));
}});
</script>"""


@pytest.fixture
def slides(opened, saved, tmp_path):
    def make(fragment):
        deck = tmp_path / "deck.html"
        deck.write_text(SLIDES.format(src=saved("copy").as_uri() + fragment), encoding="utf-8")
        run = opened(viewport={"width": 1000, "height": 700}).go(deck)
        frame = run.page.frames[1]
        run.wait_step("of", frame)
        return run, frame

    return make


def on_slide(run, number):
    run.page.wait_for_function("(title) => document.title === title", arg=f"slide {number}")


def test_a_clicker_goes_through_the_run_and_on_and_back(slides):
    run, frame = slides(f"#step={STEPS - 2}&bare")
    run.page.keyboard.press("PageDown")
    on_slide(run, 1)
    for shown in (STEPS - 1, STEPS):
        run.page.keyboard.press("PageDown")
        run.wait_step(f"step {shown} of", frame)
    run.page.keyboard.press("PageDown")
    on_slide(run, 2)
    # the page around it has the keys again
    run.page.keyboard.press("PageUp")
    on_slide(run, 1)
    run.page.keyboard.press("Home")
    run.wait_step("before step 1", frame)
    run.page.keyboard.press("PageUp")
    on_slide(run, 0)


def test_bare_leaves_ribbon_card_and_transport(slides):
    run, frame = slides("#step=3&bare")
    assert all(frame.locator(part).is_visible() for part in (".sv-ribbon", ".sv-card", "#sv-play", ".sv-scrub"))
    hidden = (".sv-headline", ".sv-status", ".sv-legend", ".sv-analysis", "h1", "footer")
    assert not [part for part in hidden if frame.locator(part).is_visible()]
    assert frame.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    # the address keeps the word
    frame.locator("#sv-step").focus()
    run.page.keyboard.press("ArrowRight")
    frame.wait_for_function("() => location.hash === '#step=4&bare'")


def test_without_that_word_keys_stay_in_the_frame(slides):
    run, frame = slides(f"#step={STEPS}")
    run.page.keyboard.press("PageDown")
    on_slide(run, 1)
    run.page.keyboard.press("PageDown")
    frame.get_by_text("End of the recording").first.wait_for()
    on_slide(run, 1)


def test_which_keys_lead_beyond_an_end():
    keys = "['ArrowRight', 'PageDown', 'ArrowLeft', 'PageUp', ' ', 'End'].map((key) => edgeOf(key, GIVEN, GIVEN.over))"
    at_end, at_start = {"shown": 9, "atEnd": True}, {"shown": 0, "atEnd": False}
    assert js.run(["bare.js"], keys, at_end | {"over": True}) == ["end", "end", "", "", "", ""]
    assert js.run(["bare.js"], keys, at_end | {"over": False}) == [""] * 6  # a live run goes on
    assert js.run(["bare.js"], keys, at_start | {"over": True}) == ["", "", "start", "start", "", ""]


def test_a_notebook_shows_a_run_as_a_sandboxed_frame(opened, tmp_path):
    trace = gallery.read("copy")
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{trace._repr_html_()}", encoding="utf-8")
    run = opened().go(path)
    assert run.page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    frame = run.page.frames[1]
    run.wait_step("step 10 of", frame)
    frame.locator("#sv-step").focus()
    run.page.keyboard.press("ArrowRight")
    run.wait_step("step 11 of", frame)
    frame.get_by_role("button", name="Large type").click()  # would be kept in the storage, which there is none of
    assert frame.locator(".sv-presenter").count() == 1
