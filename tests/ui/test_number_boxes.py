"""What is typed into boxes for numbers: nothing is taken for another number in silence, and nothing fails."""

from __future__ import annotations

import json
import re

import pytest

from tests.ui.actions import expected, save
from tests.views import js

BOX = "#sv-k input[type=number]"
RANGE = "#sv-k input[type=range]"


def test_the_nearest_allowed_number_by_hand():
    given = [
        ["99", 0, 32, 1],
        ["-3", 0, 32, 1],
        ["2.5", 0, 32, 1],
        ["", 0, 32, 1],
        ["abc", 0, 32, 1],
        ["0.333", 0, 2, 0.05],
    ]
    assert js.run(["gradio_fixes/number_boxes.js"], "GIVEN.map((given) => allowed(...given))", given) == [
        32,
        0,
        3,
        None,
        None,
        0.35,
    ]


@pytest.mark.parametrize(
    ("typed", "left", "said"),
    [
        ("", "4", "not a number"),
        ("99", "32", "99 is invalid"),
        ("-3", "0", "-3 is invalid"),
        ("2.5", "3", "2.5 is invalid"),
    ],
)
def test_a_box_left_with_something_else_goes_to_what_is_allowed_and_says_so(visit, typed, left, said):
    box = visit.page.locator(BOX)
    box.click()
    box.fill(typed)
    visit.page.wait_for_timeout(300)
    assert visit.page.locator(RANGE).input_value() == "4"  # half typed is not heard
    box.press("Tab")
    visit.until("(v) => document.querySelector('#sv-k input[type=range]').value === v", left)
    assert box.input_value() == left
    visit.until("(w) => document.querySelector('.sv-say').textContent.endsWith(w)", f"so {left} is used.")
    assert visit.say().startswith("K must be a whole number from 0 to 32; ") and said in visit.say()
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.wait_state("Paused")
    assert json.loads(save(visit)[1])["steps"][0]["settings"]["k"] == int(left)
    assert visit.page.locator(".toast-body").count() == 0


def test_a_number_beyond_the_end_is_told_before_gradio_moves_it_and_no_longer_than_it_matters(visit):
    box = visit.page.locator(BOX)
    note = "() => document.querySelector('.sv-say').textContent"
    for again in ("6", None):
        box.focus()
        # as some ways of typing do: no change is told before the box is left
        box.evaluate("(n) => { n.value = '-3'; n.dispatchEvent(new Event('input', { bubbles: true })); n.blur(); }")
        visit.until(f"() => ({note})().endsWith('-3 is invalid, so 0 is used.')")
        assert box.input_value() == "0"
        box.fill(again) if again else visit.slide("k", 5)
        visit.until(f"() => !({note})().includes('is used')")


def test_a_box_that_is_still_empty_when_play_is_pressed_keeps_the_old_value(visit):
    visit.page.locator(BOX).click()
    visit.page.keyboard.press("Control+a")
    visit.page.keyboard.press("Delete")
    visit.page.keyboard.type("6")
    visit.until("() => document.querySelector('#sv-k input[type=range]').value === '6'")
    visit.page.keyboard.press("Backspace")
    visit.page.evaluate("() => document.querySelector('#sv-live').click()")  # the box keeps the focus
    visit.wait_state("Finished")
    assert visit.output() == expected(k=6)


def test_a_letter_in_a_box_changes_nothing(visit):
    visit.page.locator(BOX).click()
    visit.page.keyboard.press("Control+a")
    visit.page.keyboard.type("abc")
    visit.page.keyboard.press("Tab")
    visit.until("() => document.querySelector('#sv-k input[type=number]').value === '4'")
    assert visit.page.locator(RANGE).input_value() == "4"


def test_a_comma_between_digits_is_a_point_and_never_left_out_in_silence(visit):
    def typed(name, text, at_once=False):
        visit.page.locator(f"#sv-{name} input[type=number]").click()
        visit.page.keyboard.press("Control+a")
        (visit.page.keyboard.insert_text if at_once else visit.page.keyboard.type)(text)
        visit.page.keyboard.press("Tab")
        return visit.page.locator(f"#sv-{name} input[type=range]").input_value()

    assert float(typed("temperature", "1,5")) == 1.5
    assert float(typed("temperature", "0,35", at_once=True)) == 0.35  # as what is pasted
    assert visit.say().startswith("This is a recording")  # all of that was taken as it stands
    assert typed("k", "1,5") == "2"
    visit.until("() => document.querySelector('.sv-say').textContent.includes('1.5 is invalid')")
    assert typed("k", "1,000") == "1"
    visit.until("() => document.querySelector('.sv-say').textContent.includes('1.000 is invalid')")
    visit.open("Length and template")
    assert typed("max-new-tokens", "1,000", at_once=True) == "1000"  # thousands, as browsers read them


def test_the_seed_that_was_used_is_told_and_another_is_never_used(visit):
    visit.open("Sampling and rule")
    seed = visit.page.locator("#sv-seed input, #sv-seed textarea")
    seed.fill("9007199254740993")
    visit.press("step")
    visit.wait_label("step 1 of 1")
    visit.wait_state("Paused")
    visit.until("() => document.querySelector('.sv-pair').textContent.endsWith('· seed 9007199254740993')")
    assert json.loads(save(visit)[1])["steps"][0]["settings"]["seed"] == 9007199254740993
    visit.page.locator(".sv-pill").hover()  # where a long sentence hides the models, too
    visit.until("() => document.querySelector('.sv-tip').textContent.includes('· seed 9007199254740993')")
    for wrong in ("-1", "1.5", "99999999999999999999"):
        seed.fill(wrong)
        visit.press("step")
        said = f"seed must be a whole number from 0 to 9,223,372,036,854,775,807; you gave {wrong}."
        visit.until("(w) => document.querySelector('.sv-say').textContent === w", said)
        assert visit.state() == "Not done"
        assert visit.label() == "step 1 of 1"
    seed.fill("")
    visit.press("step")
    visit.wait_state("Paused")
    visit.until("() => !document.querySelector('.sv-pair').textContent.endsWith('740993')")
    drawn = re.search(r"· seed (\d+)$", visit.page.locator(".sv-pair").text_content() or "")
    assert drawn and json.loads(save(visit)[1])["steps"][0]["settings"]["seed"] == int(drawn[1])
    assert visit.page.locator(".toast-body").count() == 0


def test_numbers_typed_in_the_studies_are_held_to_what_they_allow(visit):
    visit.page.locator("#sv-lossless > button").click()
    visit.page.locator("#sv-lossless-where").get_by_text("Rule: ").wait_for()
    last = visit.page.locator("#sv-lossless-step input[type=range]").get_attribute("max")

    def typed(box, text):
        box.click()
        visit.page.keyboard.press("Control+a")
        visit.page.keyboard.type(text)
        visit.page.keyboard.press("Tab")
        return box.input_value()

    step, seed = (
        visit.page.locator("#sv-lossless").get_by_label(name).first for name in ("number input for step", "seed")
    )
    assert typed(step, "999") == last
    visit.until("() => document.querySelector('.sv-say').textContent.includes('step must be a whole number from 1 to')")
    assert typed(seed, "-5") == "0"
    visit.until(
        "() => document.querySelector('.sv-say').textContent.includes('seed must be a whole number, at least 0')"
    )
    assert typed(step, "1") == "1"
    visit.page.locator("#sv-lossless-where").get_by_text("Step 1, position").wait_for()
    visit.page.locator("#sv-lossless-go").click()
    visit.page.locator("#sv-lossless-says").get_by_text("Replayed 100,000 of 100,000").wait_for()
    assert visit.page.locator(".toast-item").count() == 0 and visit.faults == []
