"""A sweep in a real browser: run, stopped, taken up again, drawn, saved as a file."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

pytestmark = pytest.mark.plotly


def unfolded(visit, tokens=32):
    visit.slide("temperature", 0)
    visit.page.get_by_text("Sweep strategies and K").click()
    visit.page.locator("#sv-sweep-go").wait_for()
    visit.slide("sweep-tokens", tokens)
    visit.until("() => /combination/.test(document.querySelector('#sv-sweep-plan').textContent)")


def rows(visit):
    return visit.page.locator(".sv-sweep-table tbody tr").count()


def line(visit):
    return visit.page.locator(".sv-sweep-line").text_content()


def done(visit):
    visit.until("() => /All done/.test(document.querySelector('.sv-sweep-line')?.textContent)")


def test_a_sweep_is_stopped_taken_up_again_drawn_and_saved(visit):
    unfolded(visit, tokens=200)
    plan = visit.page.locator("#sv-sweep-plan")
    # the estimate is said before anything runs
    plan.get_by_text(re.compile(r"8 combinations: up to 3,200 tokens.*about \d+ s here")).wait_for()
    visit.page.locator("#sv-sweep-go").click()
    visit.until("() => document.querySelectorAll('.sv-sweep-table tbody tr').length >= 2")
    visit.page.locator("#sv-sweep-stop").click()
    visit.until("() => /Stopped/.test(document.querySelector('.sv-sweep-line').textContent)")
    kept = rows(visit)
    assert 2 <= kept < 8 and f"{kept} of 8: Stopped. Still to measure: {8 - kept} combination" in line(visit)
    first = visit.page.locator(".sv-sweep-table tbody tr:first-child td").all_text_contents()
    visit.until("() => /of them already measured/.test(document.querySelector('#sv-sweep-plan').textContent)")
    assert f"{kept} of them already measured" in plan.text_content()

    visit.page.locator("#sv-sweep-go").click()
    done(visit)
    assert rows(visit) == 8 and line(visit) == "8 of 8: All done."
    # what was done before the stop was not measured again
    assert visit.page.locator(".sv-sweep-table tbody tr:first-child td").all_text_contents() == first
    assert visit.page.locator(".sv-sweep-bar").get_attribute("aria-valuenow") == "100"

    # heat map and curves: a number in each cell, a line a strategy, words for those who cannot see them
    plots = visit.page.locator(".sv-sweep-plot")
    assert plots.count() == 2
    visit.until(
        "() => document.querySelectorAll('.sv-sweep-plot .heatmap text, .sv-sweep-plot .heatmap-label').length >= 8"
    )
    assert re.search(r"Fastest.*: .* at K = \d, \d\.\d\d×", plots.first.get_attribute("aria-label"))
    traces = visit.page.evaluate(
        "() => document.querySelectorAll('.sv-sweep-plot')[1].data.map((t) => [t.name || '', t.x.length])"
    )
    assert [t for t in traces if t[0]] == [["greedy", 4], ["prompt lookup", 4], ["target alone", 2]]

    with visit.page.expect_download() as saved:
        visit.page.get_by_role("button", name="Save as CSV").click()
    found = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [(row["strategy"], row["k"]) for row in found] == [
        (s, k) for s in ("greedy", "prompt lookup") for k in "1248"
    ]
    assert all(float(row["speed_up_low"]) <= float(row["speed_up"]) <= float(row["speed_up_high"]) for row in found)
    with visit.page.expect_download() as saved:
        visit.page.get_by_role("button", name="Save as JSON lines").click()
    lines = [json.loads(text) for text in saved.value.path().read_text(encoding="utf-8").splitlines()]
    assert [row["tokens"] for row in lines] == [200] * 8

    visit.page.locator("#sv-sweep-forget").click()
    visit.until("() => !document.querySelector('.sv-sweep-table')")
    assert not visit.page.locator(".sv-sweep").is_visible()


def test_nothing_chosen_is_a_sentence(visit):
    unfolded(visit)
    for box in visit.page.locator("#sv-sweep").get_by_label("greedy").all():
        box.uncheck()
    visit.page.locator("#sv-sweep").get_by_label("prompt lookup").uncheck()
    visit.until("() => /at least one strategy/.test(document.querySelector('#sv-sweep-plan').textContent)")
    visit.page.locator("#sv-sweep-go").click()
    visit.until("() => /at least one strategy/.test(document.querySelector('.sv-sweep-line')?.textContent)")
