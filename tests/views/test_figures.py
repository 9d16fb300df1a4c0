"""Figures are empty, labelled, and fed by columns that the browser's tables have."""

import re

import pytest

from specviz.core.assets import ASSETS
from specviz.core.records import Fate
from specviz.views.figures import FIGURES
from specviz.views.palette import ROLES

TABLES = (ASSETS / "tables.js").read_text(encoding="utf-8")
STEPS = set(re.findall(r"table\.(\w+)\.push", TABLES))
POSITIONS = {"position", "accepted", "tested", "alpha", "count"}
COLUMNS = {"steps": STEPS, "positions": POSITIONS}


@pytest.fixture(params=FIGURES)
def figure(request):
    return FIGURES[request.param]()


def test_axes_are_named(figure):
    assert figure.layout.xaxis.title.text and figure.layout.yaxis.title.text


def test_traces_are_empty_and_fed_by_known_columns(figure):
    for trace in figure.data:
        meta = trace.meta
        assert trace.x is None and trace.y is None and trace.name
        assert {meta["x"], meta["y"], *meta["custom"]} <= COLUMNS[meta["table"]]
        assert meta["role"] in ROLES or meta["role"] in list(Fate)


def test_hover_reads_only_what_is_fed(figure):
    for trace in figure.data:
        used = {int(n) for n in re.findall(r"customdata\[(\d+)\]", trace.hovertemplate)}
        assert used <= set(range(len(trace.meta["custom"])))


def test_words_for_those_who_cannot_see_it(figure):
    meta = figure.layout.meta
    names = set(re.findall(r"\{(\w+)\}", meta["says"]))
    assert names and names <= COLUMNS[meta["over"]]


def test_a_title_has_its_definition(figure):
    meta = figure.layout.meta
    assert meta["means"].endswith(".") and meta["means"] != meta["title"] and "{" not in meta["means"]


def test_an_empty_figure_is_small(figure):
    # a template of plotly's own would add some 7 kB to each
    assert len(figure.to_json()) < 3000


def test_acceptance_keeps_its_range():
    assert tuple(FIGURES["acceptance"]().layout.yaxis.range) == (-0.05, 1.05)
