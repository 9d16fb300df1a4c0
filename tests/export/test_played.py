"""An exported run in a browser: from disk, without a network, by keyboard, in a frame, on paper, in both themes."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

import specviz
from specviz.export.charts import PLANS
from specviz.recordings import gallery
from specviz.traces.trace import Trace
from tests.evil import MARKUP, evil_trace
from tests.export.conftest import LABEL

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
STEPS = len(gallery.read("explanation").steps)
EMITTED = len(gallery.read("explanation").output_ids)


def test_the_keyboard_goes_through_a_run_to_its_end_and_the_address_follows(opened, saved):
    run = opened().go(saved())
    run.wait_step(f"step 3 of {STEPS}")
    run.page.keyboard.press("Home")
    run.wait_step(f"before step 1 of {STEPS}")
    for key in ("ArrowRight", "PageDown", "ArrowRight", "ArrowLeft", "PageUp"):
        run.page.keyboard.press(key)
    run.wait_step(f"step 1 of {STEPS}")
    assert run.page.url.endswith("#step=1")
    for _ in range(STEPS - 1):
        run.page.keyboard.press("ArrowRight")
    run.wait_step(f"step {STEPS} of {STEPS}")
    run.page.keyboard.press("ArrowRight")
    run.page.get_by_text("End of the recording").first.wait_for()
    assert run.page.url.endswith(f"#step={STEPS}")
    emitted = run.page.locator(".sv-ribbon .sv-step:not(.sv-prompt) .sv-chip:is(.sv-a, .sv-s, .sv-b)").count()
    assert emitted == EMITTED
    run.page.keyboard.press("Home")
    run.page.keyboard.press("End")
    run.wait_step(f"step {STEPS} of {STEPS}")


def test_space_plays_at_the_chosen_speed_and_pauses(opened, saved):
    run = opened().go(saved("copy"), "#step=0")
    run.page.locator("#sv-speed select").select_option("8 steps/s")
    run.page.locator("body").press(" ")
    run.wait_step("step 2 of")
    run.page.keyboard.press(" ")
    run.page.get_by_text("Recording", exact=True).wait_for()
    run.page.locator("#sv-play").click()
    run.page.get_by_text("End of the recording").first.wait_for()


def test_an_address_opens_a_step(opened, saved):
    run = opened().go(saved(), "#step=12")
    run.wait_step(f"step 12 of {STEPS}")
    assert "Step 12" in run.page.locator(".sv-card-title").inner_text()
    # what has candidates shows them: nothing waits for a server
    assert run.page.locator(".sv-position .sv-row").count() > 5
    assert run.page.locator(".sv-chart .sv-still").count() == len(PLANS)
    run.page.evaluate("location.hash = '#step=999'")
    run.wait_step(f"step {STEPS} of {STEPS}")


def test_a_click_on_a_chart_goes_to_that_step(opened, saved):
    run = opened().go(saved())
    box = run.page.locator(".sv-still").first.bounding_box()
    run.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 20)
    run.wait_step(f"step {STEPS} of {STEPS}")


@pytest.mark.parametrize("name", ["beams", "k-midway"])
def test_a_tree_and_changed_settings_are_shown(opened, saved, name):
    run = opened().go(saved(name), "#step=12")
    run.wait_step("step 12 of")
    assert run.page.locator(".sv-tree svg").is_visible() == (name == "beams")
    assert run.page.get_by_text("K 2→8").count() == (6 - 1 if name == "k-midway" else 0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(opened, saved, theme):
    run = opened(color_scheme=theme).go(saved("4-bit" if theme == "light" else "explanation"))
    run.wait_step("step")
    assert run.page.evaluate("document.body.classList.contains('dark')") == (theme == "dark")
    found = Axe().run(run.page, options=RULES | {"resultTypes": ["violations"]}).response["violations"]
    assert [
        f"{fault['id']} at {node['target']}: {node['failureSummary']}" for fault in found for node in fault["nodes"]
    ] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(opened, saved, width):
    run = opened(viewport={"width": width, "height": 800}).go(saved())
    run.wait_step("step 3")
    assert run.page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_has_the_whole_text_and_all_charts_and_no_buttons(opened, saved):
    run = opened(color_scheme="dark").go(saved(), f"#step={STEPS}")
    run.wait_step(f"step {STEPS} of")
    run.page.emulate_media(media="print")
    run.page.wait_for_function("() => !document.body.classList.contains('dark')")
    page = run.page
    assert page.locator("button:visible:not(.sv-pick), input:visible, select:visible").count() == 0
    assert page.locator(".sv-still:visible").count() == len(PLANS)
    hidden = page.locator(".sv-ribbon").evaluate("(box) => box.scrollHeight - box.clientHeight")
    assert hidden <= 1
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_charts_are_there(opened, saved):
    run = opened(java_script_enabled=False).go(saved())
    assert run.page.locator(".sv-still:visible").count() == len(PLANS)
    assert run.page.locator("noscript p").is_visible()


def test_evil_texts_do_nothing(opened, tmp_path):
    trace = Trace.from_json(evil_trace())
    path = tmp_path / "evil.html"
    specviz.to_html(trace, path, title=MARKUP)
    run = opened().go(path)
    run.wait_step("step")
    for _ in range(3):
        run.page.keyboard.press("ArrowRight")
    run.page.locator(".sv-ribbon .sv-chip").first.hover()
    assert run.page.evaluate("window.__ran ?? null") is None
    assert run.page.locator("sv-evil, img, main a").count() == 0
    assert MARKUP[:20] in run.page.locator("h1").inner_text()
    assert run.page.evaluate(LABEL)
