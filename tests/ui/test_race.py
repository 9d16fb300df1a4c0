"""The race of a comparison in a real browser: played, paused, scrubbed, driven by keys, and still where motion is not wanted."""

from __future__ import annotations

import re

import pytest

from specviz.core.words import say
from specviz.views import page as view_page
from specviz.views import wire
from specviz.views.page_files import css
from tests.ui import browser
from tests.ui.actions import PHONE, SCREEN, lengthen

pytestmark = pytest.mark.plotly

RANGE = ".sv-race input[type=range]"


def compared(visit, tokens=400, temperature=0, rivals=4):
    """Compare at `temperature`, and wait for the race."""
    lengthen(visit, tokens)
    visit.slide("temperature", temperature)
    visit.page.get_by_text("Compare strategies on this prompt").click()
    visit.page.locator("#sv-compare-go").click()
    visit.page.locator(".sv-race").wait_for()
    assert visit.page.locator(".sv-race-picks button").count() == rivals + 1


def lanes(visit):
    """(tokens on screen, figures) of each lane that races."""
    figures = visit.page.locator(".sv-track-figures").all_text_contents()
    seen = visit.page.evaluate(
        """() => { const n = document.querySelectorAll('.sv-track-name').length;
            return [...Array(n).keys()].map((i) => [...document.querySelectorAll('.sv-column')]
                .filter((c) => c.children[i].textContent && !c.children[i].classList.contains('sv-wait')).length); }"""
    )
    return list(zip(seen, figures, strict=True))


def moment(visit):
    return float(visit.page.locator(RANGE).input_value())


def test_a_race_is_played_paused_scrubbed_and_ends_with_a_verdict(visit):
    compared(visit)
    # it lies there with its outcome until it is played
    assert [seen for seen, _ in lanes(visit)] == [400, 400, 400]
    outcome = visit.page.locator(".sv-race-outcome")
    assert re.search(r"finished first of these \d+: 400 tokens in \d+\.\d\d s", outcome.text_content())
    assert (
        len(re.findall(r"\d\.\d\d× the target alone \([\d.]+ ÷ [\d.]+ tokens/s, measured\)", outcome.text_content()))
        == 2
    )
    assert outcome.text_content().count("✓ The target alone writes the same 400 tokens.") == 2

    visit.page.get_by_role("button", name="¼×").click()
    visit.page.get_by_role("button", name="▶ Race").click()
    visit.until(f"() => {{ const n = document.querySelector('{RANGE}'); return +n.value > 0 && +n.value < n.max; }}")
    assert not outcome.is_visible()
    visit.page.locator(".sv-race-play").click()
    at = moment(visit)
    told = lanes(visit)
    assert all(0 < seen <= 400 for seen, _ in told) and any(seen < 400 for seen, _ in told)
    for seen, figures in told:
        assert re.match(rf"\d+\.\d\d s · {seen} tokens? · [\d.]+ tokens/s", figures)
    for seen, figures in told[1:]:
        assert f"✓ {min(seen, told[0][0])} the same" in figures
    visit.page.wait_for_timeout(300)
    assert moment(visit) == at
    # the columns are positions: whatever has come stands over the same token of the target
    same = visit.page.evaluate(
        """() => [...document.querySelectorAll('.sv-column')].every((c) =>
            new Set([...c.children].map((n) => n.textContent)).size === 1)"""
    )
    assert same

    visit.page.get_by_role("button", name="▶ Race").click()  # goes on from there
    visit.until("() => !document.querySelector('.sv-race-outcome').hidden")
    assert [seen for seen, _ in lanes(visit)] == [400, 400, 400]


def test_keys_move_the_race_and_not_the_run_above(visit):
    compared(visit, tokens=60)
    before = visit.label()
    bar = visit.page.locator(RANGE)
    bar.focus()
    visit.page.keyboard.press("Home")
    assert moment(visit) == 0 and [seen for seen, _ in lanes(visit)] == [0, 0, 0]
    assert "– tokens/s" in lanes(visit)[0][1]
    visit.page.keyboard.press("ArrowRight")  # to the first end of a step, whoever's it is
    assert sum(seen > 0 for seen, _ in lanes(visit)) >= 1
    visit.page.keyboard.press("ArrowLeft")
    assert [seen for seen, _ in lanes(visit)] == [0, 0, 0]
    assert bar.get_attribute("aria-valuetext").startswith("0.00 s of ")
    visit.page.keyboard.press(" ")
    visit.until("() => !document.querySelector('.sv-race-outcome').hidden")
    assert visit.label() == before and visit.state() == "Recording"
    # another lane comes in, and one goes
    picks = visit.page.locator(".sv-race-picks button")
    every = picks.all_text_contents()
    racing = visit.page.locator(".sv-race-picks button[aria-pressed=true]").all_text_contents()
    coming, going = next(name for name in every if name not in racing), racing[1]  # a clock decides who begins
    picks.filter(has_text=coming).first.press("Enter")
    assert len(lanes(visit)) == 4
    picks.filter(has_text=going).first.press("Enter")
    assert [n.strip()[2:] for n in visit.page.locator(".sv-track-name").all_text_contents()] == [
        name for name in every if name != going and name in (*racing, coming)
    ]
    assert visit.page.locator(".sv-race-picks button").first.is_disabled()
    assert visit.label() == before


def test_above_temperature_0_texts_are_not_compared(visit):
    compared(visit, tokens=30, temperature=1)
    assert say("race.not_compared") in visit.page.locator(".sv-race").text_content()
    assert "✓ The target" not in visit.page.locator(".sv-race-outcome").text_content()


def test_where_texts_part_both_tokens_are_marked_once_both_have_come(chromium):
    """Drawn from made-up lanes: in float32, which tests run in, no two part."""

    def lane(name, at, words, **more):
        return {"name": name, "alone": name == "target alone", "at": at, "stop": "length", "in": True, **more,
                "tok": [[[word, "a"]] for word in words]}  # fmt: skip

    says = (
        "Token 3 differs: 'x' here, 'c' with the target alone. The target's logits are 1.000 and 1.125. "
        "The margin 0.125 is below 0.5: a near-tie."
    )
    lanes_ = [
        lane("target alone", [100, 200, 300, 400], "abcd"),
        lane("greedy", [50, 100, 150, 200], "abxy", held={"same": False, "position": 2, "says": says}),
        lane("sampling", [60, 120, 180, 240], "abcd"),
        lane("n-gram table", [70, 140, 210, 280], "abcd"),
    ]
    page = chromium.new_page(viewport=SCREEN)
    browser.offer_scripts(page)
    page.set_content(f"<style>{css()}</style>{view_page.RACE_TEMPLATE}")
    page.evaluate(
        "([script, value]) => new Function('element', 'props', 'watch', 'server', 'trigger', script)"
        "(document.body, { value }, () => {})",
        [view_page.race_script(), wire.pack({"lanes": lanes_, "note": "note"})],
    )
    page.wait_for_selector(".sv-track-figures")
    # as wide as they are where there is no Gradio beside them: what counts is which are marked, and when
    marked = "() => [...document.querySelectorAll('.sv-column')].map((c) => [...c.children].map((n) => n.matches('.sv-parted')))"
    assert page.evaluate(marked) == [[False] * 4, [False] * 4, [True, True, False, False], [False] * 4]
    positions = [words.rpartition(" · ")[2] for words in page.locator(".sv-track-figures").all_text_contents()]
    assert positions == [f"finished {place}" for place in ("4th", "first", "second", "third")]
    assert "greedy: 2.00× the target alone" in page.locator(".sv-race-outcome").text_content()
    assert f"≠ {says}" in page.locator(".sv-race-outcome").text_content()
    bar = page.locator(RANGE)
    bar.evaluate("(node) => { node.value = 250; node.dispatchEvent(new Event('input')); }")
    assert page.evaluate(marked) == [[False] * 4] * 4  # the target's own third token is still to come
    assert "✓ 2 the same" in page.locator(".sv-track-figures").nth(1).text_content()
    bar.evaluate("(node) => { node.value = 300; node.dispatchEvent(new Event('input')); }")
    assert page.evaluate(marked)[2] == [True, True, False, False]
    assert "≠ from token 3" in page.locator(".sv-track-figures").nth(1).text_content()
    page.close()


@pytest.mark.parametrize("size", [SCREEN, PHONE], ids=["desk", "phone"])
def test_with_reduced_motion_the_bar_alone_moves_it(shared, open_tab, size):
    context = shared(viewport=size, reduced_motion="reduce")
    seen = open_tab(context, "?max_new_tokens=30&temperature=0")
    if size is PHONE:
        seen.page.get_by_text("Compare strategies on this prompt").click()
        seen.page.locator("#sv-compare-go").click()
        seen.page.locator(".sv-race").wait_for()
    else:
        compared(seen, tokens=30)
    assert not seen.page.locator(".sv-race-play").is_visible()
    tops = "(all) => new Set(all.map((n) => Math.round(n.getBoundingClientRect().top + n.offsetHeight / 2))).size"
    assert seen.page.locator(".sv-race-scrub > *").evaluate_all(tops) == 1  # what goes back and forth stays on one line
    assert "Reduced motion is on" in seen.page.locator(".sv-race").text_content()
    seen.page.locator(RANGE).focus()
    seen.page.keyboard.press("Home")
    seen.page.keyboard.press(" ")
    seen.page.wait_for_timeout(300)
    assert moment(seen) == 0
    seen.page.keyboard.press("End")
    assert seen.page.locator(".sv-race-outcome").is_visible()
    assert seen.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
