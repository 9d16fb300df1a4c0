"""What CONTRIBUTING.md promises to those who add something: one file and one line, and the rest derives from them."""

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from gradio.components import Dropdown, Slider

from specviz.core.records import Fate
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.decoding.knobs import own_knobs
from specviz.drafting import STRATEGIES
from specviz.sessions import links
from specviz.traces.trace import Trace
from specviz.ui import app
from specviz.verification import RULES
from specviz.views import page
from tests import tiny
from tests.chi_squared import p_value

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = TEXT.split("## To add something")[1].split("\n## ")[0]
PROMPT = [1, 2, 3, 3, 2, 4]

RULE = '''"""Cautious: speculative sampling that accepts less, and is exact all the same."""

import torch
from torch import Tensor

from specviz.core.settings import Knob
from specviz.verification.base import Rule, normalised

SHARE = Knob("share", 0.5, 0.1, 1, 0.1, "Of what speculative sampling would accept.")


def accept_prob(token: int, target: Tensor, draft: Tensor, share: float = SHARE.default) -> float:
    """share · min(1, p/q)."""
    return share * min(1.0, float(target[token]) / float(draft[token]))


def residual(token: int, target: Tensor, draft: Tensor, share: float = SHARE.default) -> Tensor:
    """norm(p − share · min(p, q))."""
    return normalised(target - share * torch.minimum(target, draft), otherwise=target)


CAUTIOUS = Rule(
    help="Accept with a share of min(1, p/q).",
    lossless=True,
    knobs={"share": SHARE},
    accept_prob=accept_prob,
    residual=residual,
)
'''
CHART = '''"""Drafted: how many tokens each step drafted."""

import plotly.graph_objects as go

from specviz.views.figures.base import colour, empty, feed


def drafted() -> go.Figure:
    """A mark for each step."""
    figure = empty("tokens", ("wrote_run", "passes_run", "tau_run"))
    figure.add_scatter(name="each step", marker={"color": colour("draft")}, meta=feed("steps", "step", "drafted", "draft"))
    return figure
'''


def module(folder, name, text):
    """The file `name` written to `folder` and imported."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def on_page(elem_id, kind):
    """The widget with this id in a freshly built page."""
    demo = app.build(load=None, preload=False)
    return next(b for b in demo.blocks.values() if isinstance(b, kind) and b.elem_id == elem_id)


@pytest.fixture
def repeat(tmp_path, monkeypatch):
    """The strategy of CONTRIBUTING.md, added as it says there."""
    name, code = re.search(r"`specviz/drafting/(\w+\.py)`:\n\n```python\n(.*?)^```", SECTION, re.S | re.M).groups()
    key, constant = re.search(r'Its line in `STRATEGIES` is `"(\w+)": (\w+)`', SECTION).groups()
    monkeypatch.setitem(STRATEGIES, key, getattr(module(tmp_path, name, code), constant))
    return key


@pytest.fixture
def cautious(tmp_path, monkeypatch):
    """A rule, added with one file and one line."""
    monkeypatch.setitem(RULES, "cautious", module(tmp_path, "cautious.py", RULE).CAUTIOUS)
    return "cautious"


def test_the_strategy_of_the_example_drafts_and_loses_nothing(pair, tables, repeat):
    for k in (1, 4):
        settings = RunSettings(strategy=repeat, k=k, temperature=0, max_new_tokens=40)
        trace = engine.run(pair("ctx_t"), PROMPT, settings)
        assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
        assert max(len(step.tokens) for step in trace.steps) == min(k, 2)
        again = Trace.from_json(trace.to_json())
        assert again.output_ids == trace.output_ids and {step.strategy for step in again.steps} == {repeat}
    assert any(t.fate is Fate.ACCEPTED for step in trace.steps for t in step.tokens)
    assert p_value(tables, RunSettings(strategy=repeat, k=2, max_new_tokens=3)) > 1e-4


def test_the_strategy_of_the_example_is_in_the_menu_with_its_knob(pair, repeat):
    assert (repeat, repeat) in on_page("sv-strategy", Dropdown).choices
    slider, knob = on_page("sv-copies", Slider), STRATEGIES[repeat].knobs["copies"]
    assert (slider.minimum, slider.maximum, slider.value) == (knob.low, knob.high, knob.default)
    assert (slider.label, slider.info) == (knob.label, knob.help) and own_knobs()["copies"] is knob
    assert links.read(f"?strategy={repeat}&copies=3") == ({"strategy": repeat, "copies": 3}, [])
    settings = RunSettings(strategy=repeat, k=8, max_new_tokens=30, options={"copies": 5})
    assert max(len(step.tokens) for step in engine.run(pair("ctx_t"), PROMPT, settings).steps) == 5


def test_a_rule_is_one_file_and_one_line(pair, tables, cautious):
    cold = RunSettings(strategy="greedy", rule=cautious, temperature=0, max_new_tokens=40)
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, cold)
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40) and trace.pair["lossless"]
    assert p_value(tables, RunSettings(rule=cautious, k=2, max_new_tokens=3)) > 1e-4
    strict, lax = (engine.run(pair("ctx_t", "ctx_d"), PROMPT, replace(cold, options={"share": s})) for s in (0.1, 1))
    assert len(strict.steps) > len(lax.steps)
    assert (cautious, cautious) in on_page("sv-rule", Dropdown).choices
    assert on_page("sv-share", Slider).maximum == RULES[cautious].knobs["share"].high


def test_a_chart_is_one_file_and_one_line(tmp_path, monkeypatch):
    made = module(tmp_path, "drafted.py", CHART).drafted
    monkeypatch.setattr(page, "FIGURES", {**page.FIGURES, "drafted": made})
    entry = {"name": "drafted", "figure": made().to_plotly_json()}
    assert json.dumps(entry, separators=(",", ":"), ensure_ascii=False) in page.script()


def test_every_file_and_table_that_the_list_names_is_there():
    rows = [row for row in re.findall(r"^[|-] .*", SECTION, re.M) if "`" in row]
    assert len(rows) > 15
    for row in rows:
        names = re.findall(r"`([^` ]+)`", row)
        folder = next((name for name in names if name.endswith("/")), "")
        files = [ROOT / (name if "/" in name else folder + name) for name in names if name.endswith(".py")]
        assert all(path.exists() for path in [ROOT / folder, *files]), row
        tables = [name for name in names if re.fullmatch(r"[A-Z]+|_[a-z]+", name)]
        texts = [path.read_text(encoding="utf-8") for path in files]
        assert all(any(re.search(rf"^(def )?{table}\b", text, re.M) for text in texts) for table in tables), row
