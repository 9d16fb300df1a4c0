"""The numbers of a run as a piece of page: gaps and words where there is nothing, nothing unescaped, tables one can read."""

import re
from dataclasses import replace

import pytest

from specviz.core.words import say
from specviz.metrics.pace import pace
from specviz.metrics.rates import count
from specviz.metrics.rejections import ranks, rejections, saved
from specviz.recordings import gallery
from specviz.views import numbers
from specviz.views.elements import changed
from specviz.views.findings import findings
from tests.made_runs import ran, run_of, trace_of, words
from tests.ui.browser import EVIL


def test_the_recorded_run_has_all_its_denominators():
    trace = gallery.read("explanation")
    counts, found = count(trace.steps), rejections(trace.steps)
    alpha, n = counts.acceptance_rate, len(found)
    assert alpha.whole > 20 and n > 5
    said = words(numbers.study(trace))
    wide, second = saved(found, 2), ranks(found)["2"]
    for sentence in (
        say(
            "numbers.intro",
            passes=f"{counts.steps} target passes",
            drafted=counts.drafted,
            tested=alpha.whole,
            accepted=counts.accepted,
            tokens=f"{counts.emitted} tokens",
        ),
        f"{alpha.value:.3f} {say('numbers.acceptance_rate_formula')} {alpha.part} ÷ {alpha.whole}",
        f"1 + {counts.accepted} ÷ {counts.drafting_steps}",
        "vLLM draft_acceptance_rate",
        f"TensorRT-LLM acceptanceRate ({say('numbers.note_tree_longest')})",
        say("numbers.rejections", n=n, count=n, tested=alpha.whole),
        f"{say('numbers.rank', rank=2)} {second} of {n} ({second / n:.0%})",
        f"{say('numbers.wide', width=2)} {wide} of {n} ({wide / n:.0%})",
    ):
        assert sentence in said, sentence


def test_a_rule_that_changes_the_output_has_its_badge_here_too():
    lossy = ran("sampling", rule="lenience")
    drafted = sum(bool(step.tokens) for step in lossy.steps)
    sentence = say("studies.changed", rules="lenience", part=drafted, steps=f"{len(lossy.steps)} steps")
    said = f"⚠ {say('studies.lossy')} {sentence}"
    assert said in words(numbers.study(lossy)) and said in words(findings(pace(lossy), changed(lossy)))
    exact = ran("sampling")
    assert "⚠" not in numbers.study(exact) + findings(pace(exact), changed(exact))


@pytest.mark.parametrize("name", gallery.present())
def test_every_recording_adds_up(name):
    html = numbers.study(gallery.read(name))
    assert not re.search(r"\bnan\b|\binf\b|None", words(html))
    bars = [int(n) for n in re.findall(r"<span>(\d+) of \d+ \(", html)]
    assert not bars or sum(bars) == len(rejections(gallery.read(name).steps))
    # every table can be scrolled and says what it is; every column is headed
    assert html.count("<table") == html.count('tabindex="0" role="region" aria-label=')
    assert all(len(row) for row in re.findall(r'<th scope="col">(.*?)</th>', html))


@pytest.mark.parametrize(
    ("trace", "key", "fields"),
    [
        (trace_of([]), "studies.no_step", {}),
        (trace_of(run_of([(0, 0)])), "numbers.no_drafts_here", {}),
        (trace_of(run_of([(3, 3)])), "numbers.none_rejected", {"n": 3, "count": 3}),
        (trace_of(run_of([(1, 1)])), "numbers.none_rejected", {"n": 1}),
        (trace_of(run_of([(3, 0)])), "numbers.never_accepted", {"n": 3}),
        (trace_of(run_of([(1, 0)])), "numbers.never_accepted", {"n": 1}),
        (trace_of(run_of([(4, 1), (4, 2)])), "numbers.beyond_last", {"last": 2, "tokens": "4 tokens"}),
        (ran("none", 0), "numbers.nothing_wasted", {}),
        (ran("greedy", 4, 1), "numbers.no_drafts_here", {}),
        (ran("prompt lookup", 3), "numbers.no_candidates", {}),
        (ran("beam search", 2, temperature=0, options={"width": 3}), "numbers.ranks_tree", {"siblings": 3}),
        (replace(ran(), stop=None), "numbers.why_rejected", {}),
    ],
    ids=[
        "empty",
        "no draft",
        "kept",
        "one kept",
        "rejected",
        "one rejected",
        "deep",
        "alone",
        "one token",
        "lookup",
        "tree",
        "stopped",
    ],
)
def test_gaps_and_words_where_there_is_nothing(trace, key, fields):
    said = words(numbers.study(trace))
    assert say(key, **fields) in said
    assert not re.search(r"\bnan\b|\binf\b|None", said)
    if trace.steps and not any(step.tokens for step in trace.steps):
        assert f"– {say('numbers.acceptance_rate_formula')} {say('numbers.no_denominator')}" in said and not re.search(
            r"\b0%|0\.000", said
        )


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
    assert say("numbers.first_of", first=200, count=250) in html and html.count('class="sv-chip sv-r"') == 200
