"""A recording on screen is played like a film: its buttons and keys replay it, and only Run live computes."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from specviz.core.records import Fate
from specviz.core.words import say
from specviz.metrics.telling_step import first_telling
from specviz.recordings import gallery
from specviz.sessions import files
from specviz.views import wire
from tests.ui.actions import lengthen, save

END = "End of the recording. Play starts it again."
NAMES = list(gallery.RECORDINGS)


def start_of(name):
    return json.loads(files.recording_named(name))["start"]


def computed(visit, since):
    """Whether a driver of the server was asked since then."""
    return [url for url in visit.requests[since:] if "queue/join" in url]


def near_end(visit, before):
    """Put the cursor so many steps before the end; how many steps there are."""
    total = visit.place()[1]
    visit.key("End")
    visit.key("ArrowLeft", before)
    visit.wait_label(f"step {total - before} of {total}")
    return total


# ---------------------------------------------------------------------------------------------------- without a browser


def step(letters, extra=True):
    fates = {letter: fate for fate, letter in wire.LETTERS.items()}
    return SimpleNamespace(tokens=[SimpleNamespace(fate=fates[c]) for c in letters], extra=extra or None)


@pytest.mark.parametrize(
    ("steps", "start"),
    [
        ([step("rru"), step("aaa"), step("aru")], 3),
        ([step("aaa"), step("aru", extra=False), step("ar"), step("aru")], 4),
        ([step("aaa"), step(""), step("ruu")], 3),
        ([step(""), step("aa")], 2),
        ([step(""), step("")], 1),
        ([], 1),
    ],
)
def test_the_first_telling_step(steps, start):
    assert first_telling(steps) == start


REJECTION = {Fate.ACCEPTED, Fate.REJECTED, Fate.UNTESTED}


def fates(step):
    return {token.fate for token in step.tokens}


@pytest.mark.parametrize("name", NAMES)
def test_each_recording_opens_at_a_step_that_explains(name):
    trace, start = gallery.read(name), start_of(name)
    assert 1 <= start <= len(trace.steps)
    opened, rejections = trace.steps[start - 1], any(fates(step) >= REJECTION for step in trace.steps)
    if gallery.RECORDINGS[name].start is not None:
        assert start == gallery.RECORDINGS[name].start and fates(opened)
    elif rejections:
        assert fates(opened) >= REJECTION and opened.extra
    elif any(Fate.REJECTED in fates(step) for step in trace.steps):  # short drafts: none is left after a rejection
        assert Fate.REJECTED in fates(opened)
    else:  # a draft accepted whole, with its bonus token; only the 4-bit copy may do without a rejection
        assert name == "4-bit"
        assert fates(opened) == {Fate.ACCEPTED} and opened.extra.fate == Fate.BONUS


@pytest.mark.parametrize("name", NAMES)
def test_the_typed_prompt_is_told_from_the_chat_template(name):
    trace = gallery.read(name)
    first, end = wire.head(trace)["own"]
    assert "".join(trace.prompt_texts[first:end]) == trace.prompt


def test_a_prompt_that_is_not_sure_to_be_found_is_not_told_from_the_template():
    for prompt, texts in (("a", ("a", "x", "a")), ("hello", ("<s>", "hel", "lo!")), ("", ("a",)), ("b", ("a",))):
        assert "own" not in wire.head(prompt=prompt, prompt_ids=range(len(texts)), prompt_texts=texts)
    parts = {"prompt": "hi you", "prompt_ids": (1, 2, 3), "prompt_texts": ("<s>", "hi", " you")}
    assert wire.head(**parts)["own"] == [1, 3]


# ------------------------------------------------------------------------------------------------------------ the replay


def test_play_replays_the_recording_to_its_end_and_computes_nothing(visit):
    total, before = near_end(visit, 4), len(visit.requests)
    visit.click("play")
    visit.wait_state("Replaying")
    visit.wait_label(f"step {total} of {total}")
    visit.wait_state("Recording")
    assert visit.say() == END
    assert not computed(visit, before)


def test_pause_and_space_pause_the_replay_and_step_goes_one_on(visit):
    visit.click("play")
    visit.wait_state("Replaying")
    visit.click("pause")
    visit.wait_state("Recording")
    shown, total = visit.place()
    visit.click("step")
    visit.wait_label(f"step {shown + 1} of {total}")
    for state in ("Replaying", "Recording"):
        visit.key("Space")
        visit.wait_state(state)


def test_the_replay_goes_at_the_speed_of_the_menu(visit):
    visit.choose("speed", "1 step/s")
    visit.page.evaluate(
        """() => {
            window.times = [];
            new MutationObserver(() => window.times.push(performance.now()))
                .observe(document.querySelector('.sv-scrub-label'), { childList: true, characterData: true, subtree: true });
        }"""
    )
    visit.click("play")
    visit.until("() => window.times.length >= 4")
    first, *_, last = visit.page.evaluate("() => window.times.slice(0, 4)")
    # a busy machine sees one step or another late
    assert 2500 < last - first < 6000


@pytest.mark.parametrize("how", ["ArrowRight", "PageDown", "Space", "step"])
def test_at_the_end_a_key_or_step_does_nothing_and_says_so(visit, how):
    total, chips = near_end(visit, 0), visit.chips()
    before = len(visit.requests)
    if how == "step":
        visit.click("step")
    else:
        visit.key(how)
    visit.until("(w) => document.querySelector('.sv-say').textContent === w", END)
    assert visit.state() == "Recording" and visit.place() == (total, total) and visit.chips() == chips
    assert not computed(visit, before)
    visit.key("ArrowLeft")
    visit.until("(w) => document.querySelector('.sv-say').textContent !== w", END)


def test_play_at_the_end_starts_again(visit):
    total = near_end(visit, 0)
    visit.click("play")
    visit.until("() => /^step [1-9] of/.test(document.querySelector('.sv-scrub-label').textContent)")
    assert visit.state() == "Replaying" and visit.place()[1] == total


def test_at_the_end_of_a_finished_run_keys_begin_no_new_one(visit):
    visit.press("play")
    visit.wait_state("Finished")
    label, output, before = visit.label(), visit.output(), len(visit.requests)
    for key in ("ArrowRight", "PageDown", "Space"):
        visit.key(key)
    visit.until("() => document.querySelector('.sv-say').textContent === 'End of the run. Play starts a new one.'")
    assert visit.label() == label and visit.output() == output and not computed(visit, before)


# ------------------------------------------------------------------------------------------------- live, and back again


def test_only_run_live_computes_and_the_recording_stays_one_click_away(visit):
    visit.key("ArrowRight")
    shown = visit.label()
    way = visit.page.locator("#sv-return")
    assert way.is_hidden()
    visit.click("live")
    visit.wait_state("Finished")
    run, output = visit.label(), visit.output()
    assert visit.page.locator("#sv-live").is_hidden() and way.text_content() == "Back to the recording"
    way.click()
    visit.wait_state("Recording")
    visit.wait_label(shown)
    assert visit.say().endswith("your own run is kept.") and way.text_content() == "Back to your run"
    way.click()
    visit.wait_state("Finished")
    visit.wait_label(run)
    assert visit.output() == output


def test_reset_puts_the_recording_away_and_not_out_of_reach(visit):
    shown, before = visit.label(), len(visit.requests)
    visit.click("reset")
    visit.wait_state("No run yet")
    assert visit.say() == "The recording is closed. Press Play or Step for a live run." and visit.chips() == []
    visit.click("return")
    visit.wait_label(shown)
    assert visit.state() == "Recording" and not computed(visit, before)


def test_reset_on_a_recording_over_a_run_brings_the_run_back(visit):
    visit.steps_one_by_one(2)
    visit.click("return")
    visit.wait_state("Recording")
    visit.click("reset")
    visit.wait_label("step 2 of 2")
    assert visit.state() == "Paused"
    visit.click("step")
    visit.wait_label("step 3 of 3")


def test_measuring_a_recording_says_what_to_do_and_keeps_it(visit):
    label, before = visit.label(), len(visit.requests)
    visit.click("alone")
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('Only a live run can be measured')")
    assert visit.label() == label and visit.state() == "Recording" and not computed(visit, before)


def test_an_opened_file_opens_whole_and_is_one_click_away_too(visit):
    _, text = save(visit)
    visit.page.locator(".sv-runs input[type=file]").set_input_files(
        {"name": "mine.json", "mimeType": "application/json", "buffer": text.encode()}
    )
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('“mine.json”')")
    shown, total = visit.place()
    assert shown == total
    visit.press("play")
    visit.wait_state("Finished")
    visit.click("return")
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('“mine.json”')")


def test_on_a_phone_run_live_is_in_reach_and_the_bar_has_two_rows(phone):
    tab = phone()
    hit = """() => {
        const b = document.querySelector('#sv-live').getBoundingClientRect();
        return document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2).id;
    }"""
    tab.until(f"() => ({hit})() === 'sv-live'")  # the drawer slides out of the way first
    tops = "(all) => all.filter((n) => n.offsetHeight).map((n) => n.offsetTop)"
    assert len(set(tab.page.locator("#sv-transport button").evaluate_all(tops))) == 2
    tab.page.locator("#sv-live").tap()
    tab.wait_state("Finished")
    tab.page.locator("#sv-return").tap()
    tab.wait_state("Recording")


# --------------------------------------------------------------------------------------------------------------- the keys


@pytest.mark.parametrize("focus", ["body", ".sv-ribbon", "#sv-k input[type=range]", "#sv-play", ".sv-scrub input"])
def test_page_keys_step_and_never_scroll(visit, focus):
    shown, total = visit.place()
    if focus != "body":
        visit.page.locator(focus).focus()
    k = visit.page.locator("#sv-k input[type=range]").input_value()
    visit.page.keyboard.press("PageDown")
    visit.wait_label(f"step {shown + 1} of {total}")
    for _ in range(2):
        visit.page.keyboard.press("PageUp")
    visit.wait_label(f"step {shown - 1} of {total}")
    assert visit.page.evaluate("() => scrollY") == 0
    assert visit.page.locator("#sv-k input[type=range]").input_value() == k


def test_page_keys_in_a_text_field_are_the_fields_own(visit):
    label = visit.label()
    visit.page.locator("#sv-prompt textarea").focus()
    visit.page.keyboard.press("PageDown")
    assert visit.label() == label


def test_space_after_a_click_on_a_switch_plays_and_by_the_tab_key_it_switches(visit):
    switch = visit.page.locator(".sv-switches button", has_text="Discarded drafts")
    switch.click()
    assert switch.get_attribute("aria-pressed") == "false"
    visit.page.keyboard.press("Space")
    visit.wait_state("Replaying")
    visit.page.keyboard.press("Space")
    visit.wait_state("Recording")
    assert switch.get_attribute("aria-pressed") == "false"
    visit.page.keyboard.press("Shift+Tab")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Space")
    assert switch.get_attribute("aria-pressed") == "true" and visit.state() == "Recording"


# ------------------------------------------------------------------------------------------------- where each one opens

INSIDE = """(wanted) => {
    const box = document.querySelector('.sv-ribbon').getBoundingClientRect();
    return [...document.querySelectorAll(wanted)].filter((n) => n.offsetHeight).every((n) => {
        const b = n.getBoundingClientRect();
        return b.top >= box.top && b.bottom <= box.bottom;
    });
}"""


def shows_prompt_and_step(tab):
    assert "".join(tab.chips("p")).count("What·is·photosynthesis?") == 1
    return tab.page.evaluate(INSIDE, ".sv-ribbon .sv-p:not(.sv-template), .sv-ribbon .sv-now")


def test_the_page_opens_at_a_telling_step_with_the_prompt_in_sight(visit, phone):
    for tab in (visit, phone()):
        shown, total = tab.place()
        assert shown == start_of(gallery.FIRST_RECORDING) < total
        for fate in "arus":
            assert tab.page.locator(f".sv-now .sv-{fate}").count(), fate
        assert shows_prompt_and_step(tab)


def test_links_and_the_menu_open_there_too(desk, open_tab):
    tab = open_tab(desk, "?trace=k-midway")
    total = len(gallery.read("k-midway").steps)
    tab.wait_label(f"step {start_of('k-midway')} of {total}")
    tab.menu("Code")
    tab.wait_label(f"step {start_of('code')} of {len(gallery.read('code').steps)}")


def test_the_chat_template_is_folded_and_unfolds(visit):
    marks = visit.page.locator(".sv-fold")
    first, end = wire.head(gallery.read("explanation"))["own"]
    total = len(gallery.read("explanation").prompt_ids)
    assert marks.all_text_contents() == [f"chat template ({first} tokens)", f"chat template ({total - end} tokens)"]
    seen = "() => [...document.querySelectorAll('.sv-ribbon .sv-p')].filter((n) => n.offsetHeight).length"
    assert visit.page.evaluate(seen) == end - first
    marks.first.click()
    assert visit.page.evaluate(seen) == total and marks.first.get_attribute("aria-expanded") == "true"
    visit.page.locator(".sv-p").nth(first).hover()
    visit.until("() => /^prompt · What/.test(document.querySelector('.sv-tip').textContent)")
    marks.last.click()
    assert visit.page.evaluate(seen) == end - first


# ---------------------------------------------------------------------------------------------- large type, and the notes


@pytest.mark.parametrize("size", [(1024, 768), (1280, 800)])
def test_large_type_keeps_the_step_in_sight(chromium, open_tab, size):
    context = chromium.new_context(viewport=dict(zip(("width", "height"), size, strict=True)))
    tab = open_tab(context)
    tab.key("ArrowRight", 12)
    tab.wait_label(f"step {start_of('explanation') + 12} of {tab.place()[1]}")
    for _ in range(2):
        tab.page.locator(".sv-switches button", has_text="Large type").click()
        tab.until(f"() => ({INSIDE})('.sv-ribbon .sv-now .sv-chip')")
    context.close()


def test_a_note_goes_when_a_key_moves_the_cursor_and_keeps_up_with_a_run(visit):
    tip = visit.page.locator(".sv-tip")
    visit.page.locator(".sv-figure-speed").hover()
    tip.wait_for()
    visit.page.keyboard.press("ArrowRight")
    tip.wait_for(state="hidden")
    lengthen(visit)
    visit.page.locator(".sv-figure-tau").hover()
    tip.wait_for()
    tokens = "() => Number(document.querySelector('.sv-tip').textContent.match(/= (\\d+) ÷/)?.[1])"
    visit.page.evaluate("() => document.querySelector('#sv-live').click()")
    visit.wait_state("Running")
    visit.page.locator(".sv-figure-alpha").hover()
    visit.page.locator(".sv-figure-tau").hover()
    before = visit.page.evaluate(tokens)
    visit.until(f"(n) => ({tokens})() > n", before)
    visit.page.evaluate("() => document.querySelector('#sv-pause').click()")
    visit.wait_state("Paused")
    shown = int(re.search(r"(\d+) tokens? in", visit.headline())[1])
    visit.until(f"(n) => ({tokens})() === n", shown)


def test_find_a_telling_position_says_where_it_already_is(visit):
    visit.page.locator("#sv-lossless > .label-wrap").click()
    visit.page.locator("#sv-lossless-where").get_by_text("after “").first.wait_for()
    visit.page.locator("#sv-lossless-find").click()
    visit.page.locator("#sv-lossless-says").get_by_text(say("lossless.already")).wait_for()
