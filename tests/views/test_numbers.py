"""The numbers of a run as a piece of page: gaps and words where there is nothing, nothing unescaped, tables one can read."""

import re
from dataclasses import replace
from html import unescape

import pytest

import specviz
from specviz.core.settings import RunSettings
from specviz.metrics.pace import pace
from specviz.metrics.rates import count
from specviz.metrics.rejections import ranks, refusals, saved
from specviz.recordings import gallery
from specviz.traces.trace import Trace
from specviz.views import numbers
from specviz.views.numbers import EMPTY, NO_DRAFTS
from specviz.views.study import changed
from specviz.views.theory import findings
from tests.conftest import tiny_pair
from tests.metrics.test_rates import run_of
from tests.ui.browser import EVIL


def trace_of(steps):
    return Trace("p", (1,), tuple(steps), "", None, {})


def ran(strategy="greedy", k=3, tokens=30, **settings):
    pair = tiny_pair("ctx_t", "ctx_d")
    return specviz.run(pair, [1, 2, 3, 1, 2], RunSettings(strategy=strategy, k=k, max_new_tokens=tokens, **settings))


def words(html):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


def test_the_recorded_run_is_told_with_denominators():
    trace = gallery.read("explanation")
    counts, found = count(trace.steps), refusals(trace.steps)
    alpha, n = counts.acceptance_rate, len(found)
    assert alpha.whole > 20 and n > 5
    said = words(numbers.study(trace))
    wide, second = saved(found, 2), ranks(found)["2"]
    for sentence in (
        f"{counts.steps} target passes, {counts.drafted} drafted, {alpha.whole} tested, {counts.accepted} accepted",
        f"{alpha.value:.3f} accepted ÷ tested {alpha.part} ÷ {alpha.whole}",
        f"1 + accepted ÷ steps that drafted 1 + {counts.accepted} ÷ {counts.drafting_steps}",
        "vLLM draft_acceptance_rate",
        "TensorRT-LLM acceptanceRate (of a tree it counts the longest branch only)",
        f"{n} places of {alpha.whole} tested ended in a refusal",
        f"rank 2 {second} of {n} ({second / n:.0%})",
        f"2 wide {wide} of {n} ({wide / n:.0%})",
        "of the time of drafting and verifying",
    ):
        assert sentence in said, sentence


def test_a_rule_that_changes_the_output_has_its_badge_here_too():
    lossy = ran("sampling", rule="lenience")
    drafted = sum(bool(step.tokens) for step in lossy.steps)
    said = f"⚠ changes the output lenience decided in {drafted} of {len(lossy.steps)} steps"
    assert said in words(numbers.study(lossy)) and said in words(findings(pace(lossy), changed(lossy)))
    exact = ran("sampling")
    assert "⚠" not in numbers.study(exact) + findings(pace(exact), changed(exact))


@pytest.mark.parametrize("name", gallery.present())
def test_every_recording_adds_up(name):
    html = numbers.study(gallery.read(name))
    assert not re.search(r"\bnan\b|\binf\b|None", words(html))
    bars = [int(n) for n in re.findall(r"<span>(\d+) of \d+ \(", html)]
    refused = re.search(r"(\d+) places? of [\d,]+ tested ended", html)
    assert not bars or sum(bars) == int(refused[1])
    # every table can be scrolled and says what it is; every column is headed
    assert html.count("<table") == html.count('tabindex="0" role="region" aria-label=')
    assert all(len(row) for row in re.findall(r'<th scope="col">(.*?)</th>', html))


@pytest.mark.parametrize(
    ("trace", "sentence"),
    [
        (trace_of([]), EMPTY),
        (trace_of(run_of([(0, 0)])), NO_DRAFTS),
        (trace_of(run_of([(3, 3)])), "No draft was refused: all 3 tested tokens were kept."),
        (trace_of(run_of([(3, 0)])), "No drafted token was ever accepted, at any of 3 positions"),
        (trace_of(run_of([(4, 1), (4, 2)])), "Beyond position 2 drafting never paid: 4 tokens drafted there"),
        (ran("none", 0), "Nothing was drafted, so nothing was thrown away"),
        (ran("greedy", 4, 1), NO_DRAFTS),
        (ran("prompt lookup", 3), "No model stands behind these drafts"),
        (ran("beam search", 2, temperature=0, options={"width": 3}), "candidates a place already"),
        (replace(ran(), stop=None), "Why rejected"),
    ],
    ids=["empty", "no draft", "kept", "refused", "deep", "alone", "one token", "lookup", "tree", "stopped"],
)
def test_gaps_and_words_where_there_is_nothing(trace, sentence):
    said = words(numbers.study(trace))
    assert sentence in said
    assert not re.search(r"\bnan\b|\binf\b|None", said)
    if trace.steps and not any(step.tokens for step in trace.steps):
        assert "– accepted ÷ tested nothing to divide by" in said and not re.search(r"\b0%|0\.000", said)


def test_tokens_that_try_to_be_markup_are_text():
    trace = ran(temperature=0)
    step = next(s for s in trace.steps if s.extra and str(s.extra.fate) == "resampled")
    for text in EVIL:
        evil = replace(
            step, tokens=tuple(replace(t, text=text) for t in step.tokens), extra=replace(step.extra, text=text)
        )
        html = numbers.study(trace_of([evil]))
        assert "<img" not in html and "<script" not in html and "</style>" not in html


def test_long_tables_are_cut_and_say_so():
    html = numbers.study(trace_of(run_of([(3, 1)] * 250)))
    assert "The first 200 of 250." in html and html.count('class="sv-chip sv-r"') == 200
