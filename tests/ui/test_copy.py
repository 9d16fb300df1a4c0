"""What is copied is the text itself, not what the chips show of it."""

import specviz
from specviz.core.settings import RunSettings
from tests.ui import browser
from tests.ui.browser import Visit

PROMPT = "a\nb    c\td"


def test_marks_stand_for_blanks_on_the_chips_and_the_true_characters_are_copied():
    settings = RunSettings(strategy="greedy", k=4, temperature=1, max_new_tokens=48, seed=1)
    with browser.browser() as chromium:
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit = Visit(
            context.new_page(), f"{browser.address()}?temperature=1&strategy=greedy&k=4&seed=1&max_new_tokens=48"
        )
        visit.open("Length and template")
        visit.page.locator("#sv-chat input").uncheck()
        visit.prompt(PROMPT)
        visit.press("play")
        visit.wait_state("Finished")
        assert visit.chips("p") == [*"a⏎b····c→d"]
        tops = visit.page.evaluate(
            "() => [...document.querySelectorAll('.sv-ribbon .sv-chip.sv-p')].map((c) => c.getBoundingClientRect().top)"
        )
        assert tops[2] > tops[1] + 5 and tops[1] == tops[0]  # a real line break after the mark for one
        visit.page.get_by_role("button", name="Runs: recordings, files and links").click()
        visit.page.get_by_role("button", name="Copy text").click()
        visit.until("() => document.querySelector('.sv-say').textContent.includes('copied')")
        copied = visit.page.evaluate("() => navigator.clipboard.readText()")
        faults = visit.faults
    text = specviz.run(browser.default_pair(), PROMPT, settings).text
    assert copied.replace("\r\n", "\n") == text.replace("\r\n", "\n") and faults == []
