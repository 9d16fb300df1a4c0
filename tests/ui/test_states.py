"""The page right in every state: on one screen, nothing covered or cut, the keyboard alone, the way back after a fault."""

from __future__ import annotations

import re

import pytest

from specviz.core.prompts import FIRST, OWN_PROMPT, PRESETS
from specviz.core.words import say
from specviz.recordings import gallery
from tests.ui.actions import PHONE, expected, lengthen, overflow, reload, wait_pause

FOCUS = """() => {
    const node = document.activeElement, box = node.getBoundingClientRect();
    const bar = document.querySelector('#sv-transport').getBoundingClientRect();
    const fixed = getComputedStyle(document.querySelector('#sv-transport')).position === 'fixed';
    const inBar = node.closest('#sv-transport') || node.matches('.toggle-button');
    return {
        name: node.id || node.getAttribute('aria-label') || node.textContent.trim().slice(0, 30) || node.tagName,
        side: !!node.closest('#sv-side'), nothing: node === document.body,
        // more than half of it in sight, or as much of a tall one
        seen: inBar || Math.min(box.bottom, fixed ? bar.top : innerHeight) - Math.max(box.top, 0)
            > Math.min(box.height, innerHeight / 2) / 2,
        ring: getComputedStyle(node).outlineStyle !== 'none' || getComputedStyle(node).boxShadow !== 'none'
            || node.matches('.sv-node'),
    };
}"""


def tab_through(visit, most=120):
    """What the Tab key comes to, from the top of the page to its end."""
    visit.page.evaluate(
        """() => {
            const first = document.createElement('button');
            document.body.prepend(first);
            first.focus();
            first.remove();
        }"""
    )
    met = []
    for _ in range(most):
        visit.page.keyboard.press("Tab")
        visit.page.wait_for_timeout(30)
        met.append(visit.page.evaluate(FOCUS))
        if met[-1]["nothing"] or met[-1]["name"] == "Settings":
            break
    return met


# ---------------------------------------------------------------------------------------------------- on one screen


@pytest.mark.parametrize("large", [False, True])
def test_the_story_down_to_the_fates_is_on_one_screen(visit, large):
    visit.steps_one_by_one(2)
    if large:
        visit.page.get_by_role("button", name="Large type").click()
    visit.until("(large) => document.querySelector('.sv-root').classList.contains('sv-presenter') === large", large)
    visit.until("() => document.querySelector('.sv-lane-fate')?.getBoundingClientRect().bottom <= innerHeight")
    tops = visit.page.locator(".sv-figure").evaluate_all(
        "(all) => all.map((n) => Math.round(n.getBoundingClientRect().bottom))"
    )
    assert max(tops) - min(tops) <= 2, "the headline is on more than one line"
    assert overflow(visit) <= 0
    if large:
        visit.page.get_by_role("button", name="Large type").click()  # kept for the other tabs of this window


@pytest.mark.parametrize("width", [1280, 1024, 640, 390])
def test_the_headline_keeps_its_height_and_its_four_tiles(shared, open_tab, width):
    context = shared(viewport={"width": width, "height": 900})
    visit = open_tab(context)
    visit.key("End")
    visit.until("() => /\\d×.*the target alone/.test(document.querySelector('.sv-headline').textContent)")
    tops = """() => [...document.querySelectorAll('.sv-figure, .sv-ribbon')].map((n) => {
        const box = n.getBoundingClientRect(), line = document.querySelector('.sv-status').getBoundingClientRect();
        return [box.left, box.top - line.bottom].map(Math.round).join();
    })"""
    names = visit.page.locator(".sv-figure-name").all_text_contents()
    assert names == ["Speed-up", "Accepted α", "Tokens per target pass τ", "Time per token"]
    at_end = visit.page.evaluate(tops)
    visit.key("Home")
    visit.until("() => document.querySelector('.sv-headline').textContent.includes('0 tokens in 0 target passes')")
    assert visit.page.evaluate(tops) == at_end
    visit.press("play")
    visit.wait_state("Finished")
    assert "not measured" in visit.headline() and visit.page.evaluate(tops) == at_end
    visit.press("alone")
    visit.until("() => /\\d×.*the target alone/.test(document.querySelector('.sv-headline').textContent)")
    assert visit.page.evaluate(tops) == at_end


def test_state_sentence_and_models_are_whole(visit):
    cut = "(n) => n.scrollWidth > n.clientWidth + 1 || n.scrollHeight > n.clientHeight + 2"
    for part in (".sv-say", ".sv-pair"):
        assert visit.page.locator(part).text_content()
        assert not visit.page.locator(part).evaluate(cut)


# --------------------------------------------------------------------------------------- more than there is room for


def test_a_long_draft_says_what_is_in_sight_covers_nothing_and_is_scrolled_by_keys(visit):
    visit.slide("k", 12)
    visit.steps_one_by_one(1)
    lanes = visit.page.locator(".sv-lanes")
    lanes.evaluate("(n) => { n.scrollLeft = 0; n.dispatchEvent(new Event('scroll')); }")
    visit.until(
        "() => /^tokens 1–\\d+ of 12$/.test(document.querySelector('.sv-card > .sv-sides .sv-muted')?.textContent || '')"
    )
    halves = """(lanes) => {
        const from = lanes.querySelector('th').getBoundingClientRect().right;
        const to = lanes.querySelector('.sv-extra').getBoundingClientRect().left;
        return [...lanes.querySelectorAll('.sv-lane-draft td:not(.sv-extra)')].map((td) => td.getBoundingClientRect())
            .filter((b) => b.right > from + 3 && b.left < to - 3 && (b.left < from - 3 || b.right > to + 3)).length;
    }"""
    assert lanes.evaluate(halves) == 0
    lanes.focus()
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
    visit.until("() => document.querySelector('.sv-card > .sv-sides .sv-muted').textContent.startsWith('tokens 4–')")
    assert lanes.evaluate(halves) == 0
    assert visit.label() == "step 1 of 1"  # the run has not been moved by them
    for _ in range(6):
        after = visit.page.locator(".sv-card > .sv-sides").get_by_role("button", name="tokens after")
        if after.is_disabled():
            break
        after.click()
    visit.until("() => document.querySelector('.sv-card > .sv-sides .sv-muted').textContent.endsWith('–12 of 12')")
    visit.slide("k", 2)
    visit.press("step")
    visit.wait_label("step 2 of 2")
    visit.until("() => document.querySelector('.sv-card > .sv-sides').hidden")


def test_a_wide_tree_says_what_is_in_sight(visit):
    visit.choose("strategy", "beam search")
    visit.slide("k", 12)
    visit.steps_one_by_one(1)
    # a card is drawn at most every 600 ms
    visit.until("() => document.querySelector('.sv-card-title').textContent.startsWith('Step 1 ·')")
    words = visit.page.locator(".sv-tree .sv-sides .sv-muted")
    assert re.fullmatch(r"positions \d+–\d+ of 1[23]", words.text_content() or "")
    before = words.text_content()
    visit.page.locator(".sv-tree").get_by_role("button", name="positions after").click()
    assert words.text_content() != before


# ------------------------------------------------------------------------------------------------- the keyboard alone


def test_every_stop_of_the_tab_key_is_seen_and_no_menu_stays_open(visit):
    for section in ("Sampling and rule", "Length and template", "Models"):
        visit.open(section)
    visit.page.wait_for_timeout(400)  # sections unfold
    visit.until("() => document.getAnimations().every((a) => a.playState !== 'running')")
    met = tab_through(visit)
    assert met[-1]["name"] == "Settings" and len(met) > 40
    assert [stop["name"] for stop in met if stop["nothing"]] == []
    assert [stop["name"] for stop in met if not stop["seen"]] == []
    assert [stop["name"] for stop in met if not stop["ring"]] == []
    assert visit.page.locator("[role=combobox][aria-expanded=true]").count() == 0


def test_on_a_phone_the_bar_hides_no_stop_and_the_closed_drawer_has_none(shared, open_tab):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    cut = visit.page.locator("#sv-transport button").evaluate_all(
        "(all) => all.filter((n) => { const b = n.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth; }).length"
    )
    assert cut == 0
    met = tab_through(visit)
    assert met[-1]["name"] == "Settings"
    assert [stop["name"] for stop in met if stop["side"]] == ["Controls"]
    assert [stop["name"] for stop in met if not stop["seen"]] == []
    visit.page.get_by_role("button", name="Controls").click()
    visit.page.locator("#sv-side.open").wait_for()
    assert visit.page.evaluate("() => document.querySelector('#sv-view').inert")
    visit.page.get_by_role("button", name="Controls").click()
    visit.page.locator("#sv-side:not(.open)").wait_for()
    assert not visit.page.evaluate("() => document.querySelector('#sv-view').inert")


def test_the_menu_of_runs_takes_no_key_of_the_run_and_closes_when_it_is_left(visit):
    label = visit.label()
    opener = visit.page.get_by_role("button", name="Runs: recordings, files and links")
    opener.focus()
    visit.page.keyboard.press("Enter")
    visit.page.locator(".sv-recording").first.wait_for()
    visit.page.keyboard.press("Tab")
    for key in ("ArrowLeft", "Home"):
        visit.page.keyboard.press(key)
    assert visit.label() == label
    opener.focus()
    visit.page.keyboard.press("Escape")
    assert visit.page.locator(".sv-runs-panel").is_hidden()
    visit.page.keyboard.press("Enter")
    visit.page.locator(".sv-recording").last.focus()
    visit.page.keyboard.press("Tab")
    assert visit.page.locator(".sv-runs-panel").is_hidden()


# ---------------------------------------------------------------------------------------------------- words and ways


def test_after_models_that_cannot_be_loaded_one_button_goes_back(visit):
    visit.steps_one_by_one(1)
    visit.open("Models")
    visit.write_in("target", "missing")
    visit.page.locator("#sv-load").click()
    visit.wait_state("Not done")
    back = visit.page.locator(".sv-back")
    assert (back.text_content() or "").startswith("Go back to ") and back.is_visible()
    back.click()
    visit.wait_state("Paused")
    assert not back.is_visible()
    assert visit.page.locator("#sv-target input").input_value() == "default"
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.output() == expected()


def test_the_example_menu_follows_the_prompt(visit):
    shown = visit.page.locator("#sv-preset input")
    assert shown.input_value() == FIRST
    for prompt, name in (("My own words", OWN_PROMPT), (PRESETS["List"].prompt, "List")):
        visit.prompt(prompt)
        visit.until("(name) => document.querySelector('#sv-preset input').value === name", name)
    visit.choose("preset", OWN_PROMPT)
    assert visit.page.locator("#sv-prompt textarea").input_value() == PRESETS["List"].prompt
    visit.choose("preset", "Story")
    visit.until("(p) => document.querySelector('#sv-prompt textarea').value === p", PRESETS["Story"].prompt)


def test_the_voice_speaks_whole_sentences_and_of_positions_for_trees(visit):
    heard = "(words) => new RegExp(words).test(document.querySelector('.sv-top .sv-sr').textContent)"
    visit.press("play")
    visit.wait_state("Finished")
    counted = r"Step \d+: \d+ tokens so far, \d+ of \d+ tested "
    visit.until(heard, rf"^Finished\. The token limit was reached\. {counted}tokens accepted\.$")
    visit.choose("strategy", "beam search")
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.until(heard, rf"^Paused\. {counted}positions accepted\.$".replace("tokens so", "tokens? so"))


def test_the_text_is_copied_from_the_menu_of_runs(visit):
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.press("play")
    visit.wait_state("Finished")
    visit.menu("Copy text")
    visit.until("() => document.querySelector('.sv-say').textContent === 'Text copied.'")


def test_the_note_on_the_speed_up_tells_both_rates_and_their_doubt(visit):
    visit.press("play")
    visit.wait_state("Finished")
    visit.press("alone")
    # a busy machine may give the figure a ⚠
    visit.until("() => /\\d× (⚠ )?the target alone/.test(document.querySelector('.sv-headline').textContent)")
    visit.page.locator(".sv-figure-speed").hover()
    note = visit.page.locator(".sv-tip").text_content() or ""
    assert re.search(r"This run: 96 tokens at [\d.]+ tokens/s\. Target alone, [a-z ]+: 96 tokens at [\d.]+", note)
    assert "The two were measured one after the other." in note


def test_a_prompt_of_characters_that_several_tokens_make_is_shown_as_itself(visit):
    visit.prompt("🙂 日本 שלום")
    visit.open("Length and template")
    visit.page.locator("#sv-chat input").uncheck()
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.wait_state("Paused")
    shown = "".join(visit.chips("p")).replace("‿", "")
    assert shown.endswith("🙂·日本·שלום") and "⟨" not in shown
    visit.page.locator(".sv-chip.sv-p", has_text="‿").first.hover()
    visit.until("() => /bytes ⟨9F⟩\\. They form a character only/.test(document.querySelector('.sv-tip').textContent)")


def test_a_changed_prompt_says_that_play_begins_anew_before_it_does(visit):
    visit.steps_one_by_one(2)
    visit.prompt("Something else")
    hint = say("sessions.changed", what=say("sessions.changed_prompt"))
    visit.until("(w) => document.querySelector('.sv-say').textContent === w", hint)
    visit.choose("preset", FIRST)
    visit.until("() => !document.querySelector('.sv-say').textContent.includes('Changed')")
    visit.choose("preset", "Story")
    visit.until("(w) => document.querySelector('.sv-say').textContent === w", hint)
    reload(visit)
    visit.until("() => document.querySelector('.sv-say').textContent.includes('Changed: prompt')")
    visit.until("(p) => document.querySelector('#sv-prompt textarea').value === p", PRESETS["Story"].prompt)
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.wait_state("Paused")
    assert "Changed" not in visit.say()
    assert "lighthouse" in "".join(visit.chips("p"))


def test_after_a_raised_limit_it_is_told_that_play_goes_on(visit):
    visit.open("Length and template")
    visit.slide("max-new-tokens", 5)
    visit.press("play")
    visit.wait_state("Finished")
    before = visit.output()
    visit.slide("max-new-tokens", 20)
    goes_on = "The token limit was reached. " + say("sessions.raised")
    visit.until("(w) => document.querySelector('.sv-say').textContent === w", goes_on)
    visit.press("play")
    visit.until("() => document.querySelector('.sv-headline').textContent.includes(' 20 tokens in ')")
    visit.wait_state("Finished")
    assert visit.output()[: len(before)] == before and visit.say() == "the token limit was reached"


def test_a_speed_up_measured_while_others_were_here_is_marked(visit, desk, open_tab):
    visit.press("play")
    visit.wait_state("Finished")
    other = open_tab(desk)
    lengthen(other)
    other.run_live()
    visit.press("alone")
    visit.until("() => /\\d× ⚠ the target alone/.test(document.querySelector('.sv-headline').textContent)")
    wait_pause(other)
    visit.page.locator(".sv-figure-speed").hover()
    note = visit.page.locator(".sv-tip").text_content() or ""
    assert re.search(r"⚠ Other users ran \d+ steps? while the target alone was measured", note)
    assert "Measure again when nobody else is here." in note
    visit.press("alone")
    # a machine of two cores may earn another mark of its own
    visit.until("() => !document.querySelector('.sv-figure-speed')._tip().join(' ').includes('Other users')")


def test_the_controls_of_a_run_that_is_gone_come_back(visit):
    visit.slide("k", 7)
    visit.prompt("Still here")
    visit.choose("strategy", "greedy")
    visit.steps_one_by_one(1)
    # as after a restart: the server knows nothing of this run
    visit.page.evaluate("() => sessionStorage.setItem('specviz.run', 'from before the restart')")
    reload(visit)
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('The run of this tab is no longer')")
    visit.until("() => document.querySelector('#sv-k input[type=range]').value === '7'")
    assert visit.page.locator("#sv-prompt textarea").input_value() == "Still here"
    assert visit.page.locator("#sv-preset input").input_value() == OWN_PROMPT
    visit.steps_one_by_one(1)
    assert visit.output() == expected("Still here", k=7, strategy="greedy")[: len(visit.output())]


def test_what_stands_beside_a_recording_names_it(desk, open_tab):
    visit = open_tab(desk, "?trace=story")
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('“Story”, a recorded run')")
    # the controls follow the recording: what is typed before that is overwritten
    visit.until("(p) => document.querySelector('#sv-prompt textarea').value === p", gallery.read("story").prompt)
    shown = "On screen: “Story”, a recorded run."
    visit.prompt(" ")
    visit.press("play")
    visit.wait_state("Not done")
    assert visit.say().startswith("Type a prompt first") and visit.say().endswith(shown)
    visit.prompt("Hello")
    visit.open("Models")
    visit.page.locator("#sv-load").click()
    visit.wait_state("Ready")
    assert visit.say().endswith(shown)
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.wait_state("Paused")
    assert shown not in visit.say()
