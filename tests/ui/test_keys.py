"""The keyboard on the whole page: what the Tab key passes stays as it is, and the focus is never lost nor unseen."""

from __future__ import annotations

import pytest

from specviz.core.prompts import FIRST, PRESETS
from tests.ui.actions import SCREEN

HERE = "() => document.activeElement.className + ' ' + (document.activeElement.getAttribute('aria-label') || '')"
RING = """() => {
    const style = getComputedStyle(document.activeElement), probe = document.createElement('i');
    probe.style.color = document.body.classList.contains('dark') ? '#b4b8ff' : '#3f3fb8';
    document.body.append(probe);
    const wanted = getComputedStyle(probe).color;
    for (const moving of document.activeElement.getAnimations()) moving.finish();
    probe.remove();
    return style.outlineStyle === 'solid' && parseFloat(style.outlineWidth) >= 2 && style.outlineColor === wanted;
}"""
HEADINGS = """() => [...document.querySelectorAll('.gr-accordion .label-wrap')].map((n) => [
    n.getAttribute('aria-expanded'), n.nextElementSibling.checkVisibility(), n.querySelector('.icon').ariaHidden])"""

# ----------------------------------------------------------------------------------------------- menus that are passed


def test_a_pair_that_is_only_passed_loads_nothing_stops_no_run_and_keeps_what_was_typed(visit):
    visit.open("Models")
    visit.choose("speed", "4 steps/s")
    visit.run_live()
    visit.page.locator("#sv-pair input").focus()
    visit.page.keyboard.press("Tab")
    before = visit.place()[1]
    visit.wait_steps(before + 4)
    assert visit.state() == "Running"
    visit.page.locator("#sv-load").click()
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('These models are already loaded')")
    visit.wait_steps(before + 6)
    assert visit.state() == "Running"
    visit.press("pause")
    visit.wait_state("Paused")
    visit.page.locator("#sv-target input").fill("evil")
    for _ in range(2):
        visit.page.keyboard.press("Shift+Tab")
    visit.until("() => document.querySelector('#sv-pair input').value === 'own choice'")
    visit.page.wait_for_timeout(300)
    assert visit.page.locator("#sv-target input").input_value() == "evil"
    assert visit.state() == "Paused"


def test_an_example_that_is_only_passed_fills_nothing(visit):
    chat = visit.page.locator("#sv-chat input")
    visit.open("Length and template")
    assert chat.is_checked() and PRESETS[FIRST].chat
    chat.uncheck()
    visit.page.locator("#sv-preset input").focus()
    visit.page.keyboard.press("Tab")
    visit.page.wait_for_timeout(300)
    assert not chat.is_checked()
    visit.choose("preset", "List")
    visit.until("(p) => document.querySelector('#sv-prompt textarea').value === p", PRESETS["List"].prompt)
    visit.until("(on) => document.querySelector('#sv-chat input').checked === on", PRESETS["List"].chat)


# ------------------------------------------------------------------------------------------ the focus is seen and kept


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_whatever_has_the_focus_in_the_studies_has_the_ring_of_the_page(desk, open_tab, theme):
    visit = open_tab(desk, f"?__theme={theme}")
    for study in ("sv-compare", "sv-why", "sv-lossless", "sv-sweep"):
        visit.page.locator(f"#{study} > .label-wrap").click()
    visit.page.locator("#sv-sweep-tokens input[type=number]").wait_for()
    visit.page.locator("#sv-compare > .label-wrap").focus()
    met, bare = set(), []
    for _ in range(120):
        visit.page.keyboard.press("Tab")
        kind, inside, ring = visit.page.evaluate(
            f"() => [document.activeElement.type || document.activeElement.tagName, "
            f"!!document.activeElement.closest('.gr-accordion'), ({RING})()]"
        )
        if not inside:
            break
        met.add(kind)
        if not ring:
            bare.append(visit.page.evaluate("() => document.activeElement.outerHTML.slice(0, 120)"))
    assert bare == []
    assert {"checkbox", "range", "number", "text", "submit"} <= met


def test_an_arrow_on_a_token_of_the_card_keeps_the_focus_there(visit):
    visit.key("Home")
    visit.key("ArrowRight", 2)
    token = visit.page.locator(".sv-lanes .sv-pick").first
    token.focus()
    for step in (3, 4):
        visit.page.keyboard.press("ArrowRight")
        visit.until("(n) => document.querySelector('.sv-card-title').textContent.startsWith('Step ' + n)", step)
        assert visit.page.evaluate("() => document.activeElement.matches('.sv-lanes .sv-pick[aria-pressed=true]')")
    visit.page.locator(".sv-lanes th", has_text="coin").focus()
    visit.page.keyboard.press("ArrowLeft")
    visit.until("() => document.querySelector('.sv-card-title').textContent.startsWith('Step 3')")
    assert visit.page.evaluate("() => document.activeElement.textContent") == "coin"


def test_what_is_chosen_under_runs_gives_the_focus_back_to_its_button(visit, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    for entry in ("Open run …", "Copy link", "Copy text", "Save run"):
        visit.page.locator(".sv-runs-open").focus()
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("button", name=entry, exact=True).focus()
        if entry == "Open run …":  # as when the system's own window closes over it
            visit.page.locator(".sv-runs input[type=file]").set_input_files(bad)
        else:
            visit.page.keyboard.press("Enter")
        visit.until("() => document.querySelector('.sv-runs-panel').hidden")
        assert "sv-runs-open" in visit.page.evaluate(HERE), entry
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('Saved as ')")
    assert "sv-runs-open" in visit.page.evaluate(HERE)


MENU = """() => {
    const menu = document.querySelector('#sv-whole-strategy input');
    return [document.activeElement === menu, menu.getAttribute('aria-expanded'), menu.value];
}"""


def test_a_menu_of_a_study_keeps_the_focus_by_enter_and_is_closed_by_tab(visit):
    visit.page.locator("#sv-lossless > .label-wrap").click()
    visit.page.locator("#sv-whole-strategy input").focus()
    visit.page.get_by_role("option", name="greedy", exact=True).wait_for()
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate(MENU) == [True, "false", "greedy"]
    visit.page.keyboard.press("ArrowDown")
    visit.page.get_by_role("option", name="greedy", exact=True).wait_for()
    visit.page.keyboard.press("Tab")
    visit.until("() => !document.querySelector('#sv-whole-strategy .options')")
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate(MENU) == [False, "false", "greedy"]
    assert visit.page.evaluate("() => document.activeElement.matches('.gr-accordion input')")
    assert visit.page.locator("#sv-whole-strategy .options").count() == 0


def test_what_is_typed_into_a_menu_opened_by_an_arrow_replaces_its_entry(visit):
    box = visit.page.locator("#sv-strategy input")
    box.focus()
    visit.page.get_by_role("option", name="sampling", exact=True).wait_for()
    visit.page.keyboard.press("ArrowDown")
    visit.page.wait_for_timeout(100)
    visit.page.keyboard.type("dyn")
    assert box.input_value() == "dyn"
    visit.page.keyboard.press("ArrowDown")
    visit.page.wait_for_timeout(100)
    visit.page.keyboard.type("a")
    assert box.input_value() == "dyna"  # what was typed is no entry, and goes on
    visit.page.keyboard.press("Enter")
    visit.until("() => document.querySelector('#sv-strategy input').value === 'dynamic tree'")


NOTES = """() => [...document.querySelectorAll('#sv-side .sv-knob')].filter((knob) => {
    const note = knob.querySelector('.info-text');
    return note && getComputedStyle(note).visibility === 'visible';
}).map((knob) => knob.id)"""


def test_the_note_of_a_control_goes_by_escape_and_at_once_when_the_next_has_the_focus(visit):
    visit.page.mouse.move(900, 600)
    for name in ("k", "temperature"):
        visit.page.locator(f"#sv-{name} input[type=number]").focus()
        visit.until(f"(id) => JSON.stringify(({NOTES})()) === JSON.stringify([id])", f"sv-{name}")
    at_once = f"() => {{ document.querySelector('#sv-k input[type=number]').focus(); return ({NOTES})(); }}"
    assert "sv-temperature" not in visit.page.evaluate(at_once)
    visit.until(f"() => ({NOTES})().includes('sv-k')")
    visit.page.keyboard.press("Escape")
    assert visit.page.evaluate(NOTES) == []
    assert visit.page.evaluate("() => document.activeElement.closest('.sv-knob').id") == "sv-k"
    visit.page.keyboard.press("Tab")  # to the slider of the same control
    assert visit.page.evaluate(NOTES) == []
    visit.page.locator("#sv-temperature input[type=number]").focus()
    visit.page.locator("#sv-k input[type=number]").focus()
    visit.until(f"() => ({NOTES})().includes('sv-k')")
    visit.page.evaluate("() => document.activeElement.blur()")
    visit.page.locator("#sv-k").hover()
    visit.until(f"() => ({NOTES})().includes('sv-k')")
    visit.page.keyboard.press("Escape")
    assert visit.page.evaluate(NOTES) == []
    visit.page.mouse.move(900, 600)
    visit.page.locator("#sv-k").hover()
    visit.until(f"() => ({NOTES})().includes('sv-k')")


def test_the_way_back_gives_the_focus_to_play_when_it_goes(visit):
    visit.steps_one_by_one(1)
    visit.open("Models")
    visit.write_in("target", "missing")
    visit.press("step")
    visit.wait_state("Not done")
    back = visit.page.locator(".sv-back")
    back.focus()
    visit.page.keyboard.press("Enter")
    back.wait_for(state="hidden")
    visit.page.wait_for_timeout(200)
    assert visit.page.evaluate("() => document.activeElement.id") == "sv-play"


# ------------------------------------------------------------------------------------------------ what is not only seen


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_entry_that_enter_would_take_stands_out(desk, open_tab, theme):
    visit = open_tab(desk, f"?__theme={theme}")
    visit.page.locator("#sv-strategy input").focus()
    visit.page.get_by_role("option").first.wait_for()
    visit.page.keyboard.press("ArrowDown")
    visit.until("() => document.querySelector('#sv-strategy input').hasAttribute('aria-activedescendant')")
    ratios = visit.page.evaluate(
        """() => {
            const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            const light = (css) => {
                const [r, g, b] = css.match(/[\\d.]+/g).map((v) => linear(v / 255));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
            const id = document.querySelector('#sv-strategy input').getAttribute('aria-activedescendant');
            const now = getComputedStyle(document.getElementById(id));
            const list = getComputedStyle(document.querySelector('#sv-strategy .options'));
            return [contrast(now.backgroundColor, list.backgroundColor), contrast(now.color, now.backgroundColor)];
        }"""
    )
    assert ratios[0] >= 3 and ratios[1] >= 4.5


def test_headings_that_fold_tell_whether_they_are_open(visit):
    visit.until(f"() => ({HEADINGS})().length === 9")
    assert visit.page.evaluate(HEADINGS) == [["false", False, "true"]] * 9
    visit.open("Models")
    visit.page.locator("#sv-numbers > .label-wrap").press("Enter")
    told = f"(open) => JSON.stringify(({HEADINGS})().flatMap((h, i) => (h[0] === 'true' && h[1] ? [i] : []))) === open"
    visit.until(told, "[2,5]")
    visit.page.get_by_role("button", name="Models", exact=True).click()  # by a name without the arrow
    visit.until(told, "[5]")


def test_the_same_error_once_more_is_said_once_more_and_a_redraw_says_nothing(visit):
    visit.page.evaluate(
        """() => {
            const voice = document.querySelector('.sv-top .sv-sr');
            window.heard = [];
            new MutationObserver(() => { if (voice.textContent) window.heard.push(voice.textContent); })
                .observe(voice, { childList: true, characterData: true, subtree: true });
        }"""
    )
    visit.prompt("")
    rejections = "() => window.heard.filter((words) => words.startsWith('Not done. Type a prompt')).length"
    for times in (1, 2):
        visit.press("play")
        visit.until(f"(n) => ({rejections})() === n", times)
    visit.page.evaluate("() => document.body.classList.add('drawn-anew')")  # all parts are drawn again
    visit.key("ArrowLeft")
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate(rejections) == 2


def test_the_note_of_a_control_stands_beside_it_wherever_the_column_is_scrolled_to(visit):
    visit.page.mouse.move(900, 600)
    for section in ("Sampling and rule", "Length and template"):
        visit.open(section)
    for name in ("rule", "max-new-tokens", "top-p"):
        visit.page.locator(f"#sv-{name} input").first.focus()
        visit.until(f"(id) => ({NOTES})().includes(id)", f"sv-{name}")
        note, knob = (visit.page.locator(f"#sv-{name}{part}").bounding_box() for part in (" .info-text", ""))
        assert note["y"] >= 0 and note["y"] + note["height"] <= SCREEN["height"], name
        assert note["y"] < knob["y"] + knob["height"] and note["y"] + note["height"] > knob["y"], name


def test_the_first_link_skips_the_controls(visit):
    visit.page.locator("#sv-side .toggle-button").focus()
    visit.page.keyboard.press("Tab")
    link = visit.page.locator(".sv-skip")
    assert link.evaluate("(n) => n === document.activeElement && getComputedStyle(n).clipPath === 'none'")
    visit.page.keyboard.press("Enter")
    visit.until("() => document.activeElement.id === 'sv-play'")
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("() => document.activeElement.id") == "sv-pause"
