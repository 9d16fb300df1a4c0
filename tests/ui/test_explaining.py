"""The studies that explain a run, in a real browser: on the recording, beside a live run, after it, with and without a
measured target alone; sliders, costs on request, and the strip's window."""

from __future__ import annotations

import re

import pytest

from tests.ui.actions import PHONE


def unfold(visit, study):
    visit.page.locator(f"#{study} > button").click()


def words(visit, place):
    return visit.page.locator(f"#{place}").inner_text()


def wait_words(visit, place, part, timeout=60_000):
    visit.until("([p, w]) => document.querySelector('#' + p)?.innerText.includes(w)", [place, part], timeout=timeout)


def curves(visit):
    """Names and last values of what plotly has drawn."""
    return visit.page.evaluate(
        "() => Object.fromEntries(document.querySelector('.sv-picture .sv-plot').data.map((t) => [t.name, t.y.at(-1)]))"
    )


def wait_drawn(visit):
    visit.until("() => document.querySelector('.sv-picture .sv-plot')?.data?.length >= 4")


def test_the_recorded_run_is_explained_before_anything_is_pressed(visit):
    visit.until("() => window.Plotly")
    version = visit.page.evaluate("() => window.Plotly.version")
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-found", "the target alone:")
    assert re.search(r"\d\.\d\d× measured \(\d+ tokens in \d+ steps, K = 4\)", words(visit, "sv-why-found"))
    wait_drawn(visit)
    drawn = curves(visit)
    assert "measured" in drawn and "with measured v(K)" in drawn and drawn["target alone: 1"] == 1
    wait_words(visit, "sv-why-explained", "From the textbook to the measurement")
    assert (
        visit.page.locator(".sv-time-verify[title]").first.get_attribute("title").startswith("step 1: verifying over")
    )
    unfold(visit, "sv-numbers")
    wait_words(visit, "sv-numbers-drawn", "TensorRT-LLM")
    assert "Why rejected" in words(visit, "sv-numbers-drawn")
    visit.page.locator("#sv-numbers summary", has_text="All refusals").click()
    assert visit.page.locator("#sv-numbers .sv-r").first.is_visible()
    # the page's own plotly drew it: Gradio's plot would have loaded an older one and put it in this one's place
    assert visit.page.evaluate("() => window.Plotly.version") == version
    assert not [url for url in visit.requests if "PlotlyPlot" in url]


def test_a_slider_moves_the_curve_and_the_runs_own_values_come_back(visit):
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-verdict", "own values.")
    wait_drawn(visit)
    before, said = curves(visit), words(visit, "sv-why-verdict .sv-study")
    visit.slide("why-c", 1.5)
    wait_words(visit, "sv-why-verdict", "Values of the sliders.")
    wait_words(visit, "sv-why-verdict", "No K can help")
    visit.until("() => document.querySelector('.sv-picture .sv-plot').data.every((t) => t.name !== 'best K')")
    assert "measured" in curves(visit)  # what was measured stays where it is
    visit.page.locator("#sv-why-back").click()
    wait_words(visit, "sv-why-verdict", "own values.")
    visit.until(
        "() => document.querySelector('.sv-picture .sv-plot').data.some((t) => t.name === 'with measured v(K)')"
    )
    assert curves(visit) == pytest.approx(before) and words(visit, "sv-why-verdict .sv-study") == said


def test_after_a_live_run_both_studies_are_about_it_and_costs_are_measured_on_request(visit):
    unfold(visit, "sv-why")
    unfold(visit, "sv-numbers")
    wait_words(visit, "sv-numbers-drawn", "One run under every definition")
    recorded = words(visit, "sv-numbers-drawn")
    visit.press("play")  # a short run may be over before anybody sees it running
    visit.wait_state("Finished")
    visit.until("(t) => document.querySelector('#sv-numbers-drawn').innerText !== t", recorded)
    _, total = visit.place()
    wait_words(visit, "sv-numbers-drawn", f"{total} target passes")
    wait_words(visit, "sv-why-found", "press Measure target alone")
    assert "An example" in words(visit, "sv-why-warned")
    above, curve = (visit.page.locator(f"#sv-why-{part}").bounding_box() for part in ("warned", "curve"))
    assert above["y"] + above["height"] <= curve["y"]
    visit.page.locator("#sv-why-measure").click()
    wait_words(visit, "sv-why-says", "Measured.")
    wait_words(visit, "sv-why-verdict", "own values.")
    assert "measured on this machine just now" in words(visit, "sv-why-explained")
    visit.press("alone")
    visit.until(
        "() => /Faster than|Slower than|As fast|not to be trusted/.test(document.querySelector('#sv-why-found').innerText)"
    )
    wait_words(visit, "sv-why-explained", "the run's own steps against the target alone")
    assert visit.page.locator(".sv-time-alone[title]").count() > 5


def test_the_strip_goes_on_from_a_step(visit):
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-strip", "Steps 1 to")
    box = visit.page.locator("#sv-why-first input")
    box.fill("7")
    box.press("Tab")
    wait_words(visit, "sv-why-strip", "Steps 7 to")
    assert visit.page.locator(".sv-time-draft[title]").first.get_attribute("title").startswith("step 7:")


def test_a_run_without_drafts_and_no_run_at_all_are_words(visit):
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-found", "measured")
    visit.slide("k", 0)
    visit.press("play")  # a short run may be over before anybody sees it running
    visit.wait_state("Finished")
    wait_words(visit, "sv-why-found", "Nothing was drafted")
    visit.page.locator("#sv-why-measure").click()
    wait_words(visit, "sv-why-says", "no strategy to measure")
    visit.press("reset")
    visit.page.locator("#sv-why-again").click()
    wait_words(visit, "sv-why-says", "There is no run on screen yet")


def test_on_a_phone_nothing_sticks_out(chromium, open_tab):
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-strip", "Steps 1 to")
    unfold(visit, "sv-numbers")
    wait_words(visit, "sv-numbers-drawn", "Why rejected")
    wait_drawn(visit)
    assert visit.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    context.close()
