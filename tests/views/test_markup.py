"""Texts are text: in the builder, in every view of a trace full of markup, and by the shape of the code."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from specviz.metrics import comparison as figures
from specviz.metrics.counterfactual import counterfactual
from specviz.metrics.lossless import OTHERS, Reading, chance
from specviz.metrics.pace import pace
from specviz.traces.trace import Trace
from specviz.views import comparison, every_k, lossless, numbers, strategy_table, sweep, theory, timeline, wire
from specviz.views.findings import findings
from specviz.views.markup import Html, html, joined, tag
from tests.evil import MARKUP, evil_trace, faults

SOURCES = sorted((Path(__file__).resolve().parents[2] / "specviz").rglob("*.py"))


def test_the_builder_escapes_all_but_its_own():
    made = tag("p", "a < b & c", tag("b", '"'), None, 3, cls='x" onclick="y', data_n=None, aria_label="<")
    assert made == '<p class="x&quot; onclick=&quot;y" aria-label="&lt;">a &lt; b &amp; c<b>&quot;</b>–3</p>'
    assert isinstance(made, Html) and html(made) is made and joined(["<", made]) == "&lt;" + made
    # what was glued together without the builder is text again
    assert html(made + MARKUP).startswith("&lt;p") and html(f"{made}").startswith("&lt;p")
    assert tag("br") == "<br>"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_markup_is_made_by_the_builder_alone(path):
    if path.name == "markup.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        pieces = node.values if isinstance(node, ast.JoinedStr) else []
        texts = [piece.value for piece in pieces if isinstance(piece, ast.Constant)]
        # plotly's own word for the box beside a note, which stays empty
        texts = [str(text).replace("<extra></extra>", "") for text in texts]
        assert not re.search(r"</?[a-z][a-z0-9-]*[\s>]", "".join(texts)), f"{path}:{node.lineno}"
        called = getattr(node, "func", None)
        assert not (isinstance(called, ast.Name) and called.id == "Html"), f"{path}:{node.lineno}"


@pytest.fixture(scope="module")
def trace():
    return Trace.from_json(evil_trace())


def readings():
    probs = np.array([0.5, 0.5])
    return [Reading(np.array([60, 40]), probs, chance(probs, 100))]


def pieces(trace):
    """Everything that views make of a trace, by name."""
    known = pace(trace)
    curve = theory.Curve(0.7, 0.1, lambda k: 1 + 0.1 * k)
    traces = {MARKUP: trace, "target alone": trace}
    found = figures.table({name: [one] for name, one in traces.items()}, "target alone")
    counts = counterfactual(trace, [0] * len(trace.output_ids), range(1, 4), frozenset())
    cell = found.to_dict("records")[0] | {
        "strategy": MARKUP,
        "k": 2,
        "temperature": 0.0,
        "prompts": 1,
        "prompts_wanted": 1,
    }
    cell |= {"alone_tokens_per_s": 3.0, "speed_up": 1.2, "speed_up_low": 1.1, "speed_up_high": 1.3}
    swept = pd.DataFrame([cell, cell | {"temperature": 1.0}])
    panel = lossless.Panel(MARKUP, "lossy", MARKUP, readings(), 0.1)
    return {
        "numbers": numbers.study(trace),
        "timeline": timeline.study(trace),
        "findings": findings(known),
        "explained": theory.explained(known),
        "told": theory.told(curve, MARKUP),
        "warned": theory.warned(MARKUP),
        "comparison": comparison.html(found, traces, "target alone", MARKUP),
        "exact": every_k.exact(counts, 2, known, MARKUP),
        "estimate": every_k.estimate(known, range(1, 4), 2, 20, MARKUP),
        "sweep": sweep.html(swept, MARKUP),
        "progress": sweep.progress(1, 2, 0.5, MARKUP),
        "lossless": lossless.html([panel], [MARKUP, OTHERS], MARKUP, MARKUP, 100),
        "no panel": lossless.html([lossless.Panel(MARKUP, "wrong", note=MARKUP)], [], MARKUP, "runs", 1),
        "words": lossless.words(MARKUP),
        "strategy_table": strategy_table.svg(
            [{"lane": MARKUP, "k": 1, "median_speed_up": 1.0, "worst_speed_up": 0.5}], MARKUP
        ),
        "figures": json.dumps([picture["figure"] for picture in sweep.pictures(swept)]),
    }


def test_every_text_of_the_trace_is_markup_that_wants_to_run(trace):
    told = json.dumps(json.loads(evil_trace())).count("window.__ran='img'")
    assert told > 100 and trace.prompt == trace.text == trace.pair["target"] == MARKUP
    assert trace.steps[0].tokens[0].text == trace.steps[0].positions[0].candidates[0].text == MARKUP


def test_no_text_of_a_trace_becomes_markup(trace):
    made = pieces(trace)
    assert all(isinstance(piece, Html) for name, piece in made.items() if name not in ("figures", "strategy_table"))
    assert {name: faults(piece) for name, piece in made.items() if faults(piece)} == {}
    # and none was left out: each is shown as it was written
    assert all(
        "&lt;img src=x" in made[name]
        for name in ("numbers", "comparison", "exact", "sweep", "lossless", "strategy_table")
    )
    assert "<" not in wire.pack(wire.recording(trace))
