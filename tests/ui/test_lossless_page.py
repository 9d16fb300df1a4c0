"""The study "Is the output really unchanged?" and the badge of lossy rules, as a visitor meets them."""

from __future__ import annotations

from tests.ui.actions import SCREEN


def unfold(visit):
    visit.page.locator("#sv-lossless > button").click()
    visit.page.locator("#sv-lossless-where").get_by_text("Rule: ").wait_for()


def test_the_recorded_run_is_replayed_and_gets_a_verdict(shared, open_tab):
    visit = open_tab(shared(viewport=SCREEN, reduced_motion="reduce"))
    unfold(visit)
    page, number = visit.page, visit.page.locator("#sv-lossless-step input[type=number]")
    first = number.input_value()
    # an arrow key moves the step, and the sentence follows
    page.locator("#sv-lossless-step input[type=range]").press("ArrowLeft")
    page.locator("#sv-lossless-where").get_by_text(f"Step {int(first) - 1}, position").wait_for()
    page.locator("#sv-lossless-find").click()
    page.locator("#sv-lossless-where").get_by_text(f"Step {first}, position").wait_for()
    page.locator("#sv-lossless-go").click()
    page.locator("#sv-lossless-says").get_by_text("Replayed 100,000 of 100,000").wait_for()
    told = page.locator("#sv-lossless-seen .sv-lo-verdict").all_text_contents()
    assert [text[0] for text in told] == ["✓", "✓", "✗"]
    assert visit.faults == []


def test_whole_runs_are_counted_and_stop_when_asked(shared, open_tab):
    visit = open_tab(shared(viewport=SCREEN, reduced_motion="reduce"))
    unfold(visit)
    page = visit.page
    page.locator("#sv-whole-go").click()
    page.locator("#sv-whole-seen .sv-lo-verdict").first.wait_for(timeout=60_000)
    page.locator("#sv-whole-halt").click()
    page.locator("#sv-whole-says").get_by_text("Stopped").wait_for()
    assert page.locator("#sv-whole-seen .sv-lo").count() == 3
    # others decode meanwhile and after
    visit.steps_one_by_one(1)
    assert visit.faults == []


def test_a_rule_that_changes_the_output_says_so_wherever_it_decided(shared, open_tab):
    visit = open_tab(shared(viewport=SCREEN, reduced_motion="reduce"))
    badge = visit.page.locator(".sv-status .sv-lossy")
    assert not badge.is_visible()
    visit.open("Sampling and rule")
    visit.choose("rule", "lenience (changes the output)")
    visit.page.locator("#sv-lenience").wait_for()
    visit.steps_one_by_one(2)
    badge.wait_for()
    visit.page.locator(".sv-card").get_by_text("changes the output").wait_for()
    badge.hover()
    visit.page.get_by_text("lenience decided in 2 of 2 steps").wait_for()
    visit.choose("rule", "token matching")
    visit.key("Home")
    badge.wait_for(state="hidden")
    assert visit.faults == []
