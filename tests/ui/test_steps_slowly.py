"""A step told slowly, a draft that is a tree, and what can be taken home from the charts, in a real browser.

After every test: no error was thrown on the page, no dialog opened, nothing was asked of another host.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import specviz
from specviz.core.prompts import FIRST, PRESETS
from specviz.core.settings import RunSettings
from specviz.metrics import count
from specviz.views import wire
from tests.ui import browser
from tests.ui.actions import SCREEN
from tests.ui.browser import FIRST_SETTINGS

STORY = ["Draft", "Target pass", "Verdicts", "Result"]
TALE = "() => !document.querySelector('.sv-tale').hidden"
CAUGHT_UP = (
    "() => { const m = document.querySelector('.sv-scrub-label').textContent.match(/\\d+/g); return m[0] === m[1]; }"
)
NO_TALE = "() => document.querySelector('.sv-tale').hidden"


def settings(**changes):
    return RunSettings(**{name: getattr(FIRST_SETTINGS, name) for name in RunSettings.__dataclass_fields__} | changes)


def output_of(trace):
    steps = [wire.step(step) for step in trace.steps]
    return [t[1] for s in steps for t in [*(t for t in s["tok"] if t[2] == "a"), *([s["ex"]] if s["ex"] else [])]]


def switch(visit, name):
    visit.page.locator(".sv-switches button", has_text=name).click()


def told(visit):
    """Whether a step is being told, and its parts so far."""
    return visit.page.evaluate(TALE)


def to_end(visit):
    total = visit.place()[1]
    visit.key("End")
    visit.wait_label(f"step {total} of {total}")


def listen(visit):
    """From now on collect which part of the story is on, with how many chips of the step have what look."""
    visit.page.evaluate(
        """() => {
            window.heard = [];
            const note = () => {
                const at = document.querySelector('.sv-tale:not([hidden]) .sv-stage[aria-current]');
                const step = document.querySelector('.sv-ribbon .sv-now');
                const count = (c) => step.querySelectorAll('.sv-chip' + c).length;
                if (at) window.heard.push([at.textContent, count('.sv-wait'), count('.sv-pending'), count('')]);
            };
            new MutationObserver(note).observe(document.querySelector('.sv-tale'),
                { subtree: true, childList: true, attributes: true, characterData: true });
        }"""
    )


# ------------------------------------------------------------------------------------------------ a step told slowly


def test_by_default_no_step_is_told_slowly(visit):
    visit.key("ArrowLeft")
    visit.steps_one_by_one(2)
    assert not told(visit) and visit.page.locator(".sv-offer").is_hidden()


def test_on_a_phone_the_lanes_follow_the_token_that_is_told(shared, open_tab):
    visit = open_tab(
        shared(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce")
    )
    in_sight = """(i) => {
        const lanes = document.querySelector('.sv-lanes'), tds = lanes.querySelectorAll('.sv-lane-draft td');
        const box = tds[i].getBoundingClientRect(), extra = lanes.querySelector('.sv-extra').getBoundingClientRect();
        return box.left >= lanes.querySelector('th').getBoundingClientRect().right - 3 && box.right <= extra.left + 3;
    }"""
    visit.steps_one_by_one(1)
    switch(visit, "Slow steps")
    visit.press("step")
    visit.wait_label("step 2 of 2")
    visit.until(TALE)  # stops after its first part, where motion is not wanted
    rejected = visit.page.evaluate(
        """() => [...document.querySelectorAll('.sv-lanes .sv-lane-fate td')].findIndex((td) => td.textContent.startsWith('✗'))"""
    )
    assert rejected == 0 and visit.page.locator(".sv-lanes .sv-lane-draft td").count() == 5
    assert visit.page.evaluate(in_sight, 3), "the token drafted last"
    visit.page.get_by_role("button", name="Verdicts").click()
    assert visit.page.evaluate(in_sight, rejected), "the rejected token"
    visit.page.locator(".sv-lanes").evaluate("(n) => { n.scrollLeft = 999; }")
    visit.page.get_by_role("button", name="Skip to the end").click()
    assert visit.page.evaluate(in_sight, rejected), "the token chosen at the end"


def test_a_step_that_is_looked_at_is_told_in_order_and_then_shown_whole(visit):
    whole = visit.card()
    switch(visit, "Slow steps")
    visit.until(NO_TALE)
    visit.key("ArrowLeft")
    visit.until(TALE)
    visit.until(NO_TALE)
    listen(visit)
    before = len(visit.requests)
    visit.key("ArrowRight")
    visit.until(TALE)
    # what is not yet known is on neither card nor ribbon
    assert "kept" not in visit.page.locator(".sv-card-title").inner_text()
    visit.until(NO_TALE)
    heard = visit.page.evaluate("() => window.heard")
    assert list(dict.fromkeys(part for part, *_ in heard)) == STORY
    first, last = heard[0], heard[-1]
    assert first[1] == first[3] - 1 and first[2] == 1
    assert (last[1], last[2]) == (0, 0)
    waiting = [wait for _, wait, _, _ in heard]
    assert waiting == sorted(waiting, reverse=True)
    assert visit.card() == whole
    assert visit.page.locator(".sv-root .sv-wait, .sv-root .sv-pending").count() == 0
    assert not [url for url in visit.requests[before:] if "queue/join" in url]


@pytest.mark.parametrize("how", ["→", "clicker", "escape", "click"])
def test_any_key_or_click_completes_the_step(visit, how):
    shown, total = visit.place()
    switch(visit, "Slow steps")
    visit.until(TALE)
    visit.key("ArrowLeft")  # ends the first telling, then moves
    visit.wait_label(f"step {shown - 1} of {total}")
    visit.until(TALE)
    if how == "click":
        visit.page.locator(".sv-card-title").click()
    else:
        visit.key({"→": "ArrowRight", "clicker": "PageDown", "escape": "Escape"}[how])
    assert not told(visit)
    # as in slides the first → completes, the next goes on
    visit.wait_label(f"step {shown - 1} of {total}")
    visit.key("ArrowRight")
    visit.wait_label(f"step {shown} of {total}")
    visit.until(TALE)


def test_step_is_told_and_play_waits_for_no_tale_and_gives_the_run_that_python_makes(visit):
    switch(visit, "Slow steps")
    visit.key("Escape")
    visit.press("step")
    visit.until(TALE)
    visit.wait_label("step 1 of 1")
    assert visit.state() in ("Paused", "Running")
    visit.press("step")
    visit.wait_label("step 2 of 2")
    visit.until(TALE)
    visit.press("play")
    visit.wait_state("Finished")
    assert not told(visit)
    trace = specviz.run(browser.default_pair(), PRESETS[FIRST].prompt, settings())
    assert visit.output() == output_of(trace)
    # looking back at a finished run tells, and leaves it as it was
    visit.key("ArrowLeft")
    visit.until(TALE)
    visit.key("End")
    visit.wait_label(f"step {len(trace.steps)} of {len(trace.steps)}")
    visit.until(TALE)
    visit.key("Escape")
    assert visit.output() == output_of(trace)


def test_without_motion_the_parts_are_buttons_and_nothing_moves_by_itself(shared, open_tab):
    visit = open_tab(shared(viewport=SCREEN, reduced_motion="reduce"))
    visit.key("Home")
    visit.key("ArrowRight")  # the first step has a draft, which the last one of a run may not have
    switch(visit, "Slow steps")
    visit.until(TALE)
    current = visit.page.locator(".sv-stage[aria-current]")
    assert current.text_content() == "Draft"
    visit.page.wait_for_timeout(800)
    assert current.text_content() == "Draft"
    words = []
    for name in [*STORY[1:], "Draft"]:
        visit.page.get_by_role("button", name=name, exact=True).click()
        assert current.text_content() == name
        words.append(visit.page.locator(".sv-tale-words").text_content())
    assert len(set(words)) == 4 and re.search(r"scores \d+ positions in one pass", words[0])
    visit.page.get_by_role("button", name="Skip to the end").click()
    assert not told(visit)


def test_a_part_clicked_in_mid_tale_stays(visit):
    switch(visit, "Slow steps")
    visit.until(TALE)
    visit.page.get_by_role("button", name="Target pass", exact=True).click()
    visit.page.wait_for_timeout(1500)
    assert visit.page.locator(".sv-stage[aria-current]").text_content() == "Target pass"
    visit.key("Escape")
    assert not told(visit)


def test_below_full_speed_telling_is_offered(visit):
    visit.choose("speed", "4 steps/s")
    visit.key("ArrowLeft")
    offer = visit.page.get_by_role("button", name="Explain: this step")
    offer.click()
    visit.until(TALE)
    visit.until(NO_TALE)
    visit.key("ArrowLeft")
    assert not told(visit)


def test_play_below_full_speed_explains_each_step_of_a_recording(visit):
    visit.key("Home")
    visit.choose("speed", "4 steps/s")
    switch(visit, "Slow steps")
    visit.click("play")
    total = visit.place()[1]
    before = len(visit.requests)
    for number in (1, 2):
        visit.wait_label(f"step {number} of {total}")
        visit.until(TALE)
        listen(visit)
        # the next step waits for the end of the story, though the speed asks for four a second
        visit.until("() => document.querySelector('.sv-stage[aria-current]').textContent === 'Result'")
        assert visit.label() == f"step {number} of {total}"
    visit.click("pause")
    visit.wait_state("Recording")
    assert not [url for url in visit.requests[before:] if "queue/join" in url]


def test_play_below_full_speed_explains_each_step_of_a_live_run_and_slows_it_not(visit):
    visit.choose("speed", "4 steps/s")
    switch(visit, "Slow steps")
    visit.key("Escape")
    visit.press("play")
    visit.until("() => /^step 1 of/.test(document.querySelector('.sv-scrub-label').textContent)")
    visit.until(TALE)
    visit.wait_steps(6)  # made while the first step is explained
    assert visit.place()[0] <= 2 and visit.state() == "Running"
    visit.key("ArrowRight")  # completes the story; the next step follows by itself
    visit.until("() => /^step 2 of/.test(document.querySelector('.sv-scrub-label').textContent)")
    visit.until(TALE)
    visit.click("pause")
    visit.wait_state("Paused")
    shown = visit.label()
    visit.until(NO_TALE)
    assert visit.label() == shown
    # full speed waits for no story: the screen catches up
    visit.choose("speed", "full speed")
    switch(visit, "Slow steps")
    visit.click("play")
    visit.wait_state("Finished")
    assert visit.output() == output_of(specviz.run(browser.default_pair(), PRESETS[FIRST].prompt, settings()))


def test_slow_steps_switched_off_in_mid_run_follow_the_run_at_once(visit):
    visit.choose("speed", "4 steps/s")
    switch(visit, "Slow steps")
    visit.key("Escape")
    visit.press("play")
    visit.wait_steps(4)
    assert visit.place()[0] < 4
    switch(visit, "Slow steps")
    visit.until(CAUGHT_UP)
    visit.click("pause")
    visit.wait_state("Paused")


SWITCH_OFF_BEFORE_THE_NEXT_STEP_IS_DRAWN = """() => new Promise((done) => {
    const drawn = requestAnimationFrame, tale = document.querySelector('.sv-tale');
    const button = [...document.querySelectorAll('.sv-switches button')].find((b) => b.textContent.includes('Slow steps'));
    let armed = false;
    new MutationObserver(() => setTimeout(() => { armed = true; }, 200)).observe(tale, { attributeFilter: ['hidden'] });
    window.requestAnimationFrame = (draw) => drawn((time) => {
        if (armed && tale.hidden) {
            armed = false;
            window.requestAnimationFrame = drawn;
            button.click();
            done();
        }
        draw(time);
    });
})"""


def test_slow_steps_switched_off_between_a_step_and_its_drawing_do_not_stop_the_replay(visit):
    visit.choose("speed", "4 steps/s")
    switch(visit, "Slow steps")
    visit.key("Escape")
    visit.click("play")
    visit.until(TALE)
    visit.page.evaluate(SWITCH_OFF_BEFORE_THE_NEXT_STEP_IS_DRAWN)
    visit.until(CAUGHT_UP)


@pytest.mark.plotly
def test_headline_charts_and_voice_tell_no_result_before_it_is_shown(shared, open_tab):
    visit = open_tab(shared(viewport=SCREEN, reduced_motion="reduce"))
    shown, total = visit.place()
    before = visit.headline()
    visit.until("() => document.querySelector('.sv-plot')?.data?.[1].x.length > 0")
    last = "() => document.querySelector('.sv-plot').data[1].x.length"
    points = visit.page.evaluate(last)
    switch(visit, "Slow steps")
    visit.key("ArrowRight")
    visit.wait_label(f"step {shown + 1} of {total}")
    for stage in STORY[:3]:
        visit.page.get_by_role("button", name=stage, exact=True).click()
        assert visit.headline() == before
        visit.page.wait_for_timeout(150)
        assert visit.page.evaluate(last) == points
        heard = visit.page.locator(".sv-top .sv-sr").text_content()
        assert f"Step {shown + 1}:" not in heard
    visit.page.get_by_role("button", name="Result", exact=True).click()
    assert visit.headline() != before
    visit.until(f"(n) => ({last})() === n", points + 1)


# ------------------------------------------------------------------------------------------------- drafts that are trees


@pytest.fixture
def forked(visit):
    """A finished run with beams of three, with the cursor at its first step; and the same run in Python."""
    visit.choose("strategy", "beam search")
    visit.slide("width", 3)
    visit.slide("k", 3)
    visit.press("play")
    visit.wait_state("Finished")
    visit.key("Home")
    visit.key("ArrowRight")
    trace = specviz.run(
        browser.default_pair(),
        PRESETS[FIRST].prompt,
        settings(strategy="beam search", k=3, options={"width": 3}),
    )
    visit.wait_label(f"step 1 of {len(trace.steps)}")
    return visit, trace


def test_the_ribbon_shows_the_winning_branch_and_one_mark_for_the_rest(forked):
    visit, trace = forked
    to_end(visit)
    assert visit.output() == output_of(trace)
    assert visit.chips("ru") == []
    marks = visit.page.locator(".sv-ribbon .sv-fork")
    trees = [step for step in trace.steps if [t.parent for t in step.tokens] != list(range(-1, len(step.tokens) - 1))]
    assert marks.count() == len(trees) > 0
    first, step = marks.first, trees[0]
    rest = len(step.tokens) - count([step]).accepted
    assert f"{rest} of {len(step.tokens)}" in (first.text_content() or "")
    first.hover()
    tip = visit.page.locator(".sv-tip").text_content()
    assert f"tree draft: {rest} of {len(step.tokens)} tokens not kept" in tip and "position 1:" in tip
    assert visit.page.locator(".sv-fork-rest").first.is_visible()
    switch(visit, "Discarded drafts")
    assert visit.page.locator(".sv-fork").first.is_visible()
    assert not visit.page.locator(".sv-fork-rest").first.is_visible()


def test_the_headline_counts_positions_and_says_so(forked):
    visit, trace = forked
    to_end(visit)
    counts = count(trace.steps)
    rate = counts.acceptance_rate
    assert rate.whole != counts.tested
    assert f"({rate.part} of {rate.whole} positions)" in visit.headline()
    visit.page.locator(".sv-figure-alpha").hover()
    tip = visit.page.locator(".sv-tip").text_content()
    assert "Counted by position" in tip and f"{counts.accepted} of {counts.tested} tested tokens" in tip


def test_the_tree_is_drawn_and_gone_through_by_keys_without_moving_the_run(forked):
    visit, trace = forked
    step = trace.steps[0]
    nodes = visit.page.locator(".sv-tree [role=treeitem]")
    assert nodes.count() == len(step.tokens) + 1
    kinds = visit.page.evaluate(
        "() => [...document.querySelectorAll('.sv-node')].map((n) => n.getAttribute('class').slice(-1)).sort()"
    )
    wanted = sorted(wire.LETTERS[t.fate] for t in [*step.tokens, step.extra])
    assert kinds == wanted
    assert visit.page.locator(".sv-tree [tabindex='0']").count() == 1
    nodes.first.click()
    label = visit.label()
    titles = set()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowDown", "End", "Home", " "):
        visit.page.keyboard.press(key)
        assert visit.page.evaluate("() => document.activeElement.getAttribute('aria-selected')") == "true"
        titles.add(visit.page.locator(".sv-position-title").text_content())
    assert visit.label() == label and visit.state() == "Finished"
    assert any(title.startswith("Position 1, directly after the text") for title in titles)
    assert any(title.startswith("Position 2, after") for title in titles)
    # the lanes hold what the walk tested, no more
    tested = sum(t.coin is not None for t in step.tokens)
    assert visit.page.locator(".sv-lane-draft .sv-pick").count() == tested + 1


def test_a_chain_has_no_tree_and_a_tree_is_told_position_by_position(forked):
    visit, _ = forked
    switch(visit, "Slow steps")
    visit.until(TALE)
    assert visit.page.locator(".sv-tale-words").text_content().startswith("Position 1: the draft proposes")
    assert visit.page.locator(".sv-node.sv-wait").count() > 0
    visit.until(NO_TALE)
    assert visit.page.locator(".sv-node.sv-wait, .sv-edge.sv-wait").count() == 0
    to_end(visit)
    visit.choose("strategy", "greedy")
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.key("Escape")
    assert visit.page.locator(".sv-tree").is_hidden()


# -------------------------------------------------------------------------------------------------- charts to take home


def chart(visit, title):
    return visit.page.locator(f".sv-chart[aria-label='{title}']")


@pytest.mark.plotly
def test_speed_up_is_drawn_once_the_target_alone_is_measured(visit):
    visit.slide("temperature", 0)
    visit.press("play")
    visit.wait_state("Finished")
    assert chart(visit, "Tokens per second").is_visible()
    assert chart(visit, "Speed-up").is_hidden()
    visit.press("alone")
    visit.until("() => !document.querySelector(\".sv-chart[aria-label='Speed-up']\").hidden")
    chart(visit, "Speed-up").scroll_into_view_if_needed()
    visit.until("() => / times$/.test(document.querySelector(\".sv-chart[aria-label='Speed-up'] .sv-plot\").ariaLabel)")


@pytest.mark.plotly
def test_the_x_axis_counts_steps_or_tokens(visit):
    range_of = "() => document.querySelector('.sv-plot').layout.xaxis.range[1]"
    title = "(w) => document.querySelector('.sv-plot .xtitle')?.textContent === w"
    visit.until(title, "step")
    assert visit.page.evaluate(range_of) >= visit.place()[0]
    visit.page.get_by_role("button", name="x axis in tokens").click()
    visit.until(title, "output tokens")
    tokens = int(re.search(r"(\d+) tokens? in", visit.headline())[1])
    assert visit.page.evaluate(range_of) >= tokens
    xs = visit.page.evaluate("() => [...document.querySelector('.sv-plot').data[1].x]")
    assert xs[-1] == tokens
    visit.page.get_by_role("button", name="x axis in steps").click()
    visit.until(title, "step")


@pytest.mark.plotly
@pytest.mark.parametrize(("kind", "begins"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_a_chart_is_saved_with_its_title(visit, kind, begins):
    visit.until("() => !!document.querySelector('.sv-plot .xtitle')")
    with visit.page.expect_download() as got:
        visit.page.get_by_role("button", name=f"Save Acceptance as {kind}").click()
    data = Path(got.value.path()).read_bytes()
    assert got.value.suggested_filename == f"specviz-acceptance.{kind.lower()}"
    assert data.startswith(begins) and len(data) > 5000
    if kind == "SVG":
        assert b"Acceptance" in data and "α so far".encode() in data


def test_the_steps_are_saved_as_a_table(visit):
    to_end(visit)  # the headline tells of the steps on screen, the table of all
    with visit.page.expect_download() as got:
        visit.page.get_by_role("button", name="Steps to CSV").click()
    rows = list(csv.DictReader(Path(got.value.path()).read_text(encoding="utf-8").splitlines()))
    assert len(rows) == visit.place()[1]
    assert rows[-1]["emitted so far [tokens]"] == re.search(r"(\d+) tokens? in", visit.headline())[1]


def test_the_end_of_a_telling_leaves_the_focus_on_the_steps(visit):
    visit.steps_one_by_one(2)
    visit.page.get_by_role("button", name="Slow steps").click()
    visit.key("ArrowLeft")
    skip = visit.page.get_by_role("button", name="Skip to the end")
    skip.focus()
    visit.page.keyboard.press("Enter")
    skip.wait_for(state="hidden")
    assert visit.page.evaluate("() => document.activeElement.closest('.sv-scrub') !== null")
