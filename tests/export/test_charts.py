"""The charts of an exported run: the same data as the page's, in words too, and drawn inside their frame."""

from __future__ import annotations

import re
from functools import cache

import pytest

from specviz.core.words import languages, say, speaking
from specviz.export import svg
from specviz.export.chart_data import changes, position_columns, step_columns
from specviz.export.charts import PLANS, charts
from specviz.recordings import gallery
from specviz.views import wire
from specviz.views.figures import FIGURES
from tests.made_runs import run_of, trace_of
from tests.views import js

KINDS = {"bar": "bar", "markers": "dot", "lines": "line", "dash": "dash"}
COMPARED = (
    "step",
    "alpha",
    "alpha_run",
    "tokens",
    "tau_run",
    "draft_ms",
    "verify_ms",
    "rate",
    "rate_run",
    "speedup_run",
)
IN_THE_BROWSER = """(() => {
    const store = makeStore();
    store.begin('r', GIVEN.head, true);
    for (const step of GIVEN.s) store.push(step);
    store.baseline = GIVEN.b;
    return [stepTable(store, store.n), positionTable(store, store.n)];
})()"""


@cache
def in_the_browser(name):
    return js.run(["store.js", "tables.js"], IN_THE_BROWSER, wire.recording(gallery.read(name)))


def test_there_are_the_page_s_charts_with_their_series_and_colours():
    assert list(PLANS) == list(FIGURES)
    for name, plan in PLANS.items():
        figure = FIGURES[name]()
        assert say(f"figures.{plan.key}") == figure.layout.meta["title"]
        assert (plan.needs or None) == figure.layout.meta.get("needs")
        for (kind, column, role, words), trace in zip(plan.series, figure.data, strict=True):
            line = "bar" if trace.type == "bar" else "dash" if trace.line.dash else trace.mode
            assert (KINDS[line], column, role) == (kind, trace.meta["y"], trace.meta["role"])
            assert say(words) == trace.name


@pytest.mark.parametrize("name", ["explanation", "beams"])
def test_columns_are_those_of_the_browser(name):
    steps, positions = in_the_browser(name)
    ours = step_columns(gallery.read(name))
    for column in COMPARED:
        for mine, theirs in zip(ours[column], steps[column], strict=True):
            assert mine == (theirs if theirs is None else pytest.approx(theirs, rel=2e-3, abs=0.006)), column
    ours = position_columns(gallery.read(name))
    assert [list(ours[column]) for column in ("accepted", "tested", "count")] == [
        positions[column] for column in ("accepted", "tested", "count")
    ]


def test_a_long_run_has_a_row_for_several_steps():
    columns = step_columns(trace_of(run_of([(3, 1)] * 401)))
    assert columns["step"] == [*range(3, 401, 3), 401]
    assert columns["alpha"] == [0.5] * 134 and columns["tokens"] == [2] * 134


def test_changes_are_named():
    assert changes(gallery.read("k-midway")) == [(10, "K 2→8"), (20, "K 8→4")]


@pytest.mark.parametrize("code", languages())
def test_each_has_a_title_and_says_what_it_shows(code):
    with speaking(code):
        page = charts(gallery.read("explanation"))
    named = re.findall(r'<title id="(.*?)">(.*?)</title><desc id="(.*?)">(.*?)</desc>', page)
    assert len(named) == len(PLANS)
    for title, words, says, sentence in named:
        assert f'aria-labelledby="{title} {says}"' in page and words and re.search(r"\d", sentence)
        assert "{" not in sentence and not re.search(r"\d\.\d{4}", sentence)


def test_what_was_not_measured_is_left_out():
    trace = gallery.read("explanation")
    page = charts(trace_of(trace.steps))
    assert f">{say('figures.speedup')}</title>" not in page and f">{say('figures.alone_token')}</span>" not in page
    assert page.count("<title ") == len(PLANS) - 1


@pytest.mark.parametrize("trace", [trace_of([]), trace_of(run_of([(0, 0)])), trace_of(run_of([(3, 3)] * 900))])
def test_odd_runs_are_drawn(trace):
    page = charts(trace)
    assert "nan" not in page and "inf" not in page.replace("info", "")


@pytest.mark.parametrize("name", gallery.present())
def test_nothing_is_drawn_outside_of_its_frame(name):
    page = charts(gallery.read(name))
    shares = [float(x) for x in re.findall(r'(?:cx|cy|x|y)="(-?[\d.]+)%"', page)]
    assert shares and min(shares) >= 0 and max(shares) <= 100
    assert all(0 <= float(n) <= 1000 for path in re.findall(r' d="(.*?)"', page) for n in re.findall(r"[\d.]+", path))


def test_round_numbers_on_the_axes():
    assert svg.ticks(150) == [0, 50, 100, 150] and svg.ticks(1.5) == [0, 0.5, 1, 1.5]
    assert [svg.nice_ceil(x) for x in (0, 0.7, 93, 1.2)] == [1, 0.8, 100, 1.5]
