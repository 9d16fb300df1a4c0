"""The studies that explain a run, in a real browser: on the recording, beside a live run, after it, with and without a
measured target alone; sliders, costs on request, and the strip's window."""

from __future__ import annotations

import re

import pytest

from specviz.core.words import say
from specviz.metrics.diagnosis import headline
from specviz.metrics.pace import pace
from specviz.recordings import gallery
from specviz.views.findings import headlined
from tests.ui.actions import PHONE

pytestmark = pytest.mark.plotly


def unfold(visit, study):
    visit.page.locator(f"#{study} > button").click()


def words(visit, place):
    return visit.page.locator(f"#{place}").inner_text()


def wait_words(visit, place, part, timeout=60_000):
    visit.until("([p, w]) => document.querySelector('#' + p)?.innerText.includes(w)", [place, part], timeout=timeout)


def curves(visit):
    """Last values of the lines that plotly has drawn, by name."""
    return visit.page.evaluate(
        "() => Object.fromEntries(document.querySelector('.sv-picture .sv-plot').data.map((t) => [t.meta.line, t.y.at(-1)]))"
    )


def wait_drawn(visit):
    visit.until("() => document.querySelector('.sv-picture .sv-plot')?.data?.length >= 4")


def test_the_recorded_run_is_explained_before_anything_is_pressed(visit):
    visit.until("() => window.Plotly")
    version = visit.page.evaluate("() => window.Plotly.version")
    unfold(visit, "sv-why")
    recorded = gallery.read(
        visit.page.evaluate("() => JSON.parse(document.querySelector('.sv-root').dataset.shown).name")
    )
    wait_words(visit, "sv-why-found", headlined(headline(pace(recorded))))
    wait_drawn(visit)
    drawn = curves(visit)
    assert {"points", "expected"} <= drawn.keys() and drawn["alone"] == 1
    wait_words(visit, "sv-why-explained", say("speed.gap_title"))
    assert "step 1:" in visit.page.locator(".sv-time-verify[title]").first.get_attribute("title")
    unfold(visit, "sv-numbers")
    wait_words(visit, "sv-numbers-drawn", "TensorRT-LLM")
    assert say("numbers.why_rejected") in words(visit, "sv-numbers-drawn")
    visit.page.locator(
        "#sv-numbers summary",
        has_text=re.compile(re.escape(say("numbers.all_rejections", count="N")).replace("N", r"\d+")),
    ).click()
    assert visit.page.locator("#sv-numbers .sv-r").first.is_visible()
    # the page's own plotly drew it: Gradio's plot would have loaded an older one and put it in this one's place
    assert visit.page.evaluate("() => window.Plotly.version") == version
    assert not [url for url in visit.requests if "PlotlyPlot" in url]


def test_a_slider_moves_the_curve_and_the_runs_own_values_come_back(visit):
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-verdict", say("speed.whose_run"))
    wait_drawn(visit)
    before, said = curves(visit), words(visit, "sv-why-verdict .sv-study")
    visit.slide("why-c", 1.5)
    wait_words(visit, "sv-why-verdict", say("speed.whose_sliders"))
    visit.until("() => document.querySelector('.sv-picture .sv-plot').data.every((t) => t.meta.line !== 'best')")
    assert "points" in curves(visit)  # what was measured stays where it is
    visit.page.locator("#sv-why-back").click()
    wait_words(visit, "sv-why-verdict", say("speed.whose_run"))
    visit.until(
        "(name) => document.querySelector('.sv-picture .sv-plot').data.some((t) => t.name === name)",
        say("speed.measured_line"),
    )
    assert curves(visit) == pytest.approx(before) and words(visit, "sv-why-verdict .sv-study") == said


def test_after_a_live_run_both_studies_are_about_it_and_costs_are_measured_on_request(visit):
    unfold(visit, "sv-why")
    unfold(visit, "sv-numbers")
    wait_words(visit, "sv-numbers-drawn", say("numbers.definitions"))
    recorded = words(visit, "sv-numbers-drawn")
    visit.press("play")  # a short run may be over before anybody sees it running
    visit.wait_state("Finished")
    visit.until("(t) => document.querySelector('#sv-numbers-drawn').innerText !== t", recorded)
    _, total = visit.place()
    wait_words(visit, "sv-numbers-drawn", f"{total} target passes")
    wait_words(visit, "sv-why-found", say("findings.not_measured"))
    assert say("speed.example") in words(visit, "sv-why-warned")
    above, curve = (visit.page.locator(f"#sv-why-{part}").bounding_box() for part in ("warned", "curve"))
    assert above["y"] + above["height"] <= curve["y"]
    visit.page.locator("#sv-why-measure").click()
    wait_words(visit, "sv-why-says", say("speed.measured"))
    wait_words(visit, "sv-why-verdict", say("speed.whose_run"))
    assert say("speed.source_here") in words(visit, "sv-why-explained")
    visit.press("alone")
    single = say("speed.single_target_alone", n=1)
    wait_words(visit, "sv-why-explained", say("speed.source_run", single=single))
    assert say("findings.not_measured") not in words(visit, "sv-why-found")
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
    wait_words(visit, "sv-why-found", "K = ")
    visit.slide("k", 0)
    visit.press("play")  # a short run may be over before anybody sees it running
    visit.wait_state("Finished")
    wait_words(visit, "sv-why-found", say("findings.target_alone"))
    visit.page.locator("#sv-why-measure").click()
    wait_words(visit, "sv-why-says", say("speed.no_strategy"))
    visit.press("reset")
    visit.page.locator("#sv-why-again").click()
    wait_words(visit, "sv-why-says", say("studies.no_run"))


def test_on_a_phone_nothing_sticks_out(shared, open_tab):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    unfold(visit, "sv-why")
    wait_words(visit, "sv-why-strip", "Steps 1 to")
    unfold(visit, "sv-numbers")
    wait_words(visit, "sv-numbers-drawn", say("numbers.why_rejected"))
    wait_drawn(visit)
    assert visit.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
