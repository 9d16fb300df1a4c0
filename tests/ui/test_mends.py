"""What a visitor does with the page beside running it: taps, keys in menus and on the scrub bar, notes that come and go."""

from __future__ import annotations

from itertools import pairwise

from specviz.core.words import say
from specviz.views.figures import FIGURES
from tests.ui.actions import PHONE

ACTIVE = """() => [
    document.activeElement.closest('.sv-knob')?.id || document.activeElement.className,
    document.activeElement.getAttribute('aria-expanded'),
]"""
TIP = "() => { const tip = document.querySelector('#sv-tip'); return tip.hidden ? '' : tip.textContent; }"
TOPS = (
    "() => ['.sv-headline', '.sv-ribbon', '.sv-card'].map((s) => document.querySelector(s).getBoundingClientRect().top)"
)


# ------------------------------------------------------------------------------------------------------------ by touch


def test_a_tap_shows_a_note_until_the_next_tap_elsewhere_or_escape(shared, open_tab):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    page = visit.page
    page.locator(".sv-figure-alpha").tap()
    page.wait_for_timeout(300)
    assert page.evaluate(TIP).startswith("Acceptance rate α = accepted ÷ tested")
    page.locator(".sv-legend .sv-r").tap()
    page.wait_for_timeout(300)
    assert page.evaluate(TIP).startswith("✗ rejected")
    page.keyboard.press("Escape")
    assert page.evaluate(TIP) == ""
    page.locator(".sv-pill").tap()
    page.wait_for_timeout(300)
    assert "←" in page.evaluate(TIP)  # which models
    page.locator(".sv-scrub-label").tap()
    page.wait_for_timeout(300)
    assert page.evaluate(TIP) == ""
    chip = page.locator(".sv-ribbon .sv-step.sv-now .sv-chip").last
    word = chip.text_content()
    chip.tap()
    page.wait_for_timeout(300)
    assert word in page.evaluate(TIP)


def test_what_a_chart_and_a_column_mean_is_a_tap_away(shared, open_tab):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    page = visit.page
    names = page.locator(".sv-chart:not([hidden]) .sv-chart-name")
    # the recording has a measured speed-up; charts are drawn a moment after the rest
    visit.until("(n) => document.querySelectorAll('.sv-chart:not([hidden]) .sv-chart-name').length === n", len(FIGURES))
    for name in names.all():
        name.tap()
        page.wait_for_timeout(300)
        assert page.evaluate(TIP) == told(name)
        assert name.bounding_box()["height"] >= 24
    visit = open_tab(context, "?temperature=0&max_new_tokens=8")
    page = visit.page
    visit.page.get_by_text("Compare strategies on this prompt").tap()
    visit.page.locator("#sv-compare-go").tap()
    page.locator("#sv-compared .sv-meanings summary").tap()
    meaning = page.locator("#sv-compared .sv-meanings dd", has_text=say("columns.verify_ratio_about"))
    meaning.scroll_into_view_if_needed()
    assert meaning.is_visible()
    assert page.locator("#sv-compared .sv-meanings summary").bounding_box()["height"] >= 36


def told(name):
    """A chart's title and what its figure says that it means, as its note holds them."""
    figures = [figure().layout.meta for figure in FIGURES.values()]
    return next(meta["title"] + meta["means"] for meta in figures if meta["title"] == name.text_content())


# ------------------------------------------------------------------------------------------------------------- by keys


def test_a_chart_title_says_what_it_shows_to_a_mouse_and_to_keys(visit):
    name = visit.page.locator(".sv-chart-name").first
    name.hover()
    assert visit.page.evaluate(TIP) == told(name)
    visit.page.keyboard.press("Escape")
    visit.page.mouse.move(0, 0)
    assert visit.page.evaluate(TIP) == ""
    name.focus()
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate(TIP) != told(name)
    visit.page.keyboard.press("Shift+Tab")
    assert visit.page.evaluate(TIP) == told(name)


def test_a_menu_left_by_escape_or_enter_keeps_the_focus_and_stays_closed(visit):
    box = visit.page.locator("#sv-strategy input")
    box.focus()
    visit.page.get_by_role("option", name="sampling", exact=True).wait_for()
    visit.page.keyboard.press("Escape")
    visit.until(f"() => ({ACTIVE})()[1] === 'false'")
    assert visit.page.evaluate(ACTIVE) == ["sv-strategy", "false"]
    visit.page.keyboard.press("ArrowDown")
    visit.until(f"() => ({ACTIVE})()[1] === 'true'")
    visit.page.keyboard.press("Home")
    visit.page.keyboard.press("Enter")
    visit.until("() => document.querySelector('#sv-strategy input').value === 'none'")
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate(ACTIVE) == ["sv-strategy", "false"]
    visit.steps_one_by_one(1)
    # the choice was heard; a card is drawn at most every 600 ms
    visit.until("() => document.querySelector('.sv-card').textContent.includes('no draft ·')")


def test_the_chosen_entry_of_a_menu_is_in_sight(visit):
    visit.choose("strategy", "sampling")
    visit.page.wait_for_timeout(400)
    visit.page.locator("#sv-strategy input").click()
    visit.page.get_by_role("option", name="sampling", exact=True).wait_for()
    visit.page.wait_for_timeout(400)  # the list unfolds
    inside = """() => {
        const entry = document.querySelector('#sv-strategy [aria-selected=true]').getBoundingClientRect();
        const list = document.querySelector('#sv-strategy .options').getBoundingClientRect();
        return entry.top >= list.top - 1 && entry.bottom <= list.bottom + 1;
    }"""
    assert visit.page.evaluate(inside)


def test_after_a_recording_was_chosen_the_focus_is_where_it_came_from(visit):
    visit.page.get_by_role("button", name="Runs: recordings, files and links").focus()
    visit.page.keyboard.press("Enter")
    visit.page.locator(".sv-recording", has_text="Beams").focus()
    visit.page.keyboard.press("Enter")
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('“')")
    assert "sv-runs-open" in visit.page.evaluate(ACTIVE)[0]


def test_space_on_the_scrub_bar_plays_and_arrows_there_scrub(visit):
    visit.choose("speed", "4 steps/s")
    visit.steps_one_by_one(2)
    visit.page.locator(".sv-scrub input").focus()
    visit.page.keyboard.press("ArrowLeft")
    visit.wait_label("step 1 of 2")
    visit.page.keyboard.press("ArrowRight")
    visit.wait_label("step 2 of 2")
    visit.page.keyboard.press("Space")
    visit.wait_state("Running")
    visit.wait_steps(3)
    visit.page.keyboard.press("Space")
    visit.wait_state("Paused")


def test_escape_closes_the_drawer_of_a_phone(shared, open_tab):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    visit.page.get_by_role("button", name="Controls").click()
    visit.page.locator("#sv-side.open").wait_for()
    visit.page.locator("#sv-strategy input").focus()
    visit.page.get_by_role("option").first.wait_for()
    visit.page.keyboard.press("Escape")  # the menu
    visit.page.wait_for_timeout(300)
    assert visit.page.locator("#sv-side.open").count() == 1
    visit.page.keyboard.press("Escape")
    visit.page.locator("#sv-side:not(.open)").wait_for()
    assert "toggle-button" in visit.page.evaluate(ACTIVE)[0]


# ----------------------------------------------------------------------------------------------------------- words


def test_over_a_run_a_recording_says_that_it_waits(visit):
    visit.steps_one_by_one(1)
    for title in ("Story", "Code"):
        visit.menu(title)
        visit.until("() => document.querySelector('.sv-say').textContent.endsWith('your own run is kept.')")


def test_sentences_and_progress_move_nothing_below_them(visit):
    visit.steps_one_by_one(1)
    before = visit.page.evaluate(TOPS)
    visit.open("Models")
    visit.write_in("target", "a-name-that-is-quite-long/" + "-".join(["word"] * 12))
    visit.press("step")
    visit.wait_state("Not done")
    assert len(visit.say()) > 110
    assert visit.page.evaluate(TOPS) == before
    visit.page.evaluate(
        "() => { const p = document.querySelector('.sv-progress'); p.hidden = false; }"
    )  # as while something loads
    assert visit.page.evaluate(TOPS) == before


def test_on_a_phone_the_ribbon_begins_above_the_middle_and_words_of_fates_stand_apart(shared, open_tab):
    context = shared(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context)
    visit.steps_one_by_one(1)
    assert visit.page.evaluate("() => document.querySelector('.sv-ribbon').getBoundingClientRect().top") < 844 / 2.2
    # a card is drawn at most every 600 ms, and until then it is the recording's
    visit.until("() => document.querySelector('.sv-card-title').textContent.startsWith('Step 1 ·')")
    edges = visit.page.locator(".sv-lane-fate .sv-verdict").evaluate_all(
        "(all) => all.map((n) => { const b = n.getBoundingClientRect(); return [b.left, b.right]; })"
    )
    drafted = edges[:-1][:3]
    assert len(drafted) == 3 and all(right + 3 <= left for (_, right), (left, _) in pairwise(drafted))
    assert visit.page.locator("footer .divider").first.evaluate("(n) => n.getBoundingClientRect().width") == 0


def test_nothing_of_a_row_scrolled_away_is_left_at_the_edge_of_the_ribbon(visit):
    slivers = """() => {
        const box = document.querySelector('.sv-ribbon'), edge = box.getBoundingClientRect().top + box.clientTop;
        const left = [...box.querySelectorAll('.sv-chip')].map((c) => c.getBoundingClientRect().bottom - edge);
        return left.filter((px) => px > 0.5 && px < 8);
    }"""
    visit.key("End")
    visit.wait_label("step {0} of {0}".format(visit.place()[1]))
    assert visit.page.evaluate("() => document.querySelector('.sv-ribbon').scrollTop") > 0
    assert visit.page.evaluate(slivers) == []
