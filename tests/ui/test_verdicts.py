"""What the target computes in its pass, what decides over a token, and what only draws one: the words and numbers of it.

Steps are looked at without motion, so that each part of a story stays until the next is asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from specviz.core.records import Fate
from specviz.recordings import gallery
from specviz.views import glyphs
from tests.ui.actions import SCREEN


@pytest.fixture
def visit(shared, open_tab):
    """Nothing moves by itself."""
    return open_tab(shared(viewport=SCREEN, reduced_motion="reduce"))


def slowly(visit, part):
    """Show a step slowly, as far as that part."""
    switch = visit.page.locator(".sv-switches button", has_text="Slow steps")
    if switch.get_attribute("aria-pressed") == "false":
        switch.click()
    visit.page.get_by_role("button", name=part, exact=True).click()


# ------------------------------------------------------------------------------------------ what the target pass computes


def with_all_p(name):
    """A recording whose untested tokens have the probabilities that the target computed for them."""
    trace = gallery.read(name)
    steps = [
        replace(
            step,
            tokens=tuple(
                replace(t, target_prob=0.125, verifier_prob=0.0625) if t.fate is Fate.UNTESTED else t
                for t in step.tokens
            ),
        )
        for step in trace.steps
    ]
    return replace(trace, steps=tuple(steps))


def open_trace(visit, trace, name="mine.json"):
    visit.page.locator(".sv-runs input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": trace.to_json().encode()}
    )
    visit.until("(w) => document.querySelector('.sv-say').textContent.startsWith(w)", f"“{name}”, a recorded run")


P_ROW = """() => [...document.querySelectorAll('.sv-lane-p td:not(.sv-extra)')].map((td) => [
    td.querySelector('span:not(.sv-two)').textContent,
    td.classList.contains('sv-wait') ? 'hidden' : 'shown',
    !!td.querySelector('.sv-unused-words') && getComputedStyle(td.querySelector('.sv-unused-words')).visibility === 'visible'])"""


def test_the_target_pass_shows_p_of_all_positions_and_the_verdicts_which_were_not_used(visit):
    open_trace(visit, with_all_p("explanation"))
    visit.key("Home")
    visit.key("ArrowRight", 3)
    visit.wait_label(f"step 3 of {visit.place()[1]}")
    fates = [token.fate.value[0] for token in gallery.read("explanation").steps[2].tokens]
    assert "u" in fates
    slowly(visit, "Draft")
    assert [seen for _, seen, _ in visit.page.evaluate(P_ROW)] == ["hidden"] * len(fates)
    slowly(visit, "Target pass")
    row = visit.page.evaluate(P_ROW)
    # nothing in the row tells yet where the rejection will be
    assert [seen for _, seen, _ in row] == ["shown"] * len(fates) and not any(words for *_, words in row)
    assert [p for p, *_ in row if p == "–"] == [] and row[-1][0] == "0.13"
    assert visit.page.locator(".sv-lanes tr", has_text="accept").locator("td:not(.sv-wait)").count() == 0
    colours = "(all) => all.map((n) => getComputedStyle(n).color)"
    assert len(set(visit.page.locator(".sv-lane-p td:not(.sv-extra) span:first-child").evaluate_all(colours))) == 1
    slowly(visit, "Result")
    assert [words for *_, words in visit.page.evaluate(P_ROW)] == [fate == "u" for fate in fates]
    visit.page.get_by_role("button", name="Skip").click()
    visit.page.locator(".sv-lane-draft .sv-pick").nth(fates.index("u")).hover()
    assert (
        "target p = 0.13 · target’s softmax 0.06 · computed, not used" in visit.page.locator(".sv-tip").text_content()
    )


def test_an_old_recording_has_no_p_of_what_was_not_tested(visit):
    trace = gallery.read("explanation")
    bare = replace(
        trace,
        steps=tuple(
            replace(
                s,
                tokens=tuple(
                    replace(t, target_prob=None, verifier_prob=None) if t.fate is Fate.UNTESTED else t for t in s.tokens
                ),
            )
            for s in trace.steps
        ),
    )
    open_trace(visit, bare)
    visit.key("Home")
    visit.key("ArrowRight", 3)
    visit.wait_label(f"step 3 of {visit.place()[1]}")
    fates = [token.fate for token in bare.steps[2].tokens]
    row = visit.page.evaluate(P_ROW)
    assert [p == "–" for p, *_ in row] == [fate is Fate.UNTESTED for fate in fates] and not any(w for *_, w in row)


def test_a_verdict_is_in_no_note_before_it_is_told(visit):
    slowly(visit, "Target pass")
    tip = visit.page.locator(".sv-tip")
    for where in (".sv-lane-draft .sv-pick >> nth=1", ".sv-ribbon .sv-now .sv-chip >> nth=1"):
        visit.page.locator(where).hover()
        tip.get_by_text("drafted · ").wait_for()
        assert not re.search("accepted|rejected|untested|coin", tip.text_content())


# ------------------------------------------------------------------------------------------- what decides, and what draws


def test_at_temperature_0_the_first_choice_decides_and_no_random_number_is_shown(visit):
    open_trace(visit, with_all_p("story"))
    trace = gallery.read("story")
    number = next(s.index + 1 for s in trace.steps if [t.fate.value[0] for t in s.tokens][:2] == ["a", "r"])
    visit.key("Home")
    visit.key("ArrowRight", number)
    visit.wait_label(f"step {number} of {len(trace.steps)}")
    step = trace.steps[number - 1]
    kept, out, choice = (glyphs.shown(t.text) for t in (*step.tokens[:2], step.extra))
    card = visit.card()
    assert "coin" not in card and "≥" not in card
    row = visit.page.locator(".sv-lanes tr", has_text="choice").locator("td").all_text_contents()
    assert row[:3] == [f"{kept}= drafted", f"{choice}≠ drafted", "–"] and row[-1] == "the target’s top token"
    # the rows agree with the table of candidates below
    visit.page.locator(".sv-lane-draft .sv-pick").nth(1).click()
    rows = visit.page.locator(".sv-row", has_text="drafted").first.locator("> *").all_text_contents()
    lane = [visit.page.locator(f".sv-lane-{name} td").nth(1).text_content() for name in "qp"]
    assert lane == rows[2:4] and lane[0] not in ("0", "1") and lane[1] not in ("0", "1")
    said = f"target’s top token: “{choice}” ≠ “{out}” → rejected"
    for where in (".sv-ribbon .sv-now .sv-r", ".sv-lane-draft .sv-pick >> nth=1"):
        visit.page.locator(where).hover()
        visit.page.locator(".sv-tip").get_by_text(said).wait_for()
        assert "coin" not in visit.page.locator(".sv-tip").text_content()
    slowly(visit, "Verdicts")
    told_words = visit.page.locator(".sv-tale-words").text_content()
    assert said in told_words and "coin" not in told_words
    slowly(visit, "Result")
    assert visit.page.locator(".sv-tale-words").text_content().endswith(f"“{choice}”, the target’s top token")


def test_at_temperature_0_a_tree_shows_no_random_number(visit):
    visit.menu("Beams")
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('“Beams”')")
    assert "coin" not in visit.card() and "accept1" not in visit.card()
    for node in visit.page.locator(".sv-node").all():
        node.hover()
        assert "coin" not in (visit.page.locator(".sv-tip").text_content() or "")


def test_the_number_of_a_correction_is_drawn_with_and_compared_with_nothing(visit):
    cell = visit.page.locator(".sv-lanes tr", has_text="coin").locator("td.sv-extra")
    assert re.fullmatch(r"0\.\d+sampled from the residual", cell.text_content())
    visit.page.locator(".sv-lane-draft .sv-extra .sv-pick").hover()
    tip = visit.page.locator(".sv-tip").text_content()
    assert "sampled from the residual with the random number" in tip and "accept probability" not in tip
    visit.page.locator(".sv-lanes th", has_text="coin").hover()
    visit.page.locator(".sv-tip").get_by_text("has no threshold").wait_for()
    slowly(visit, "Result")
    assert visit.page.locator(".sv-tale-words").text_content().endswith("sampled from the residual")
