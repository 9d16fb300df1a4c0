"""What a browser's translator must leave alone is marked so: tokens, symbols, figures, names of models."""

from __future__ import annotations

from tests.ui.actions import SCREEN, unfold

TOKENS = ".sv-chip, .sv-cand bdi, .sv-position-title bdi, .sv-lo tbody th bdi, .sv-node-text, .sv-strip i, .sv-share i"
FIGURES = ", ".join(
    (
        ".sv-big",
        ".sv-lane-q td span:not(.sv-muted)",
        ".sv-lane-p td span:not(.sv-muted, .sv-unused, .sv-unused-words)",
        ".sv-lane-q th",
        ".sv-strong",
        ".sv-pair",
    )
)
BARE = "(what) => [...document.querySelectorAll(what)].filter((n) => n.translate).length"
BOXES = "#sv-prompt textarea, #sv-pair input, #sv-target input, #sv-draft input"


def test_tokens_figures_and_names_are_left_alone_and_words_are_not(shared, open_tab):
    context = shared(viewport=SCREEN)
    visit = open_tab(context)
    visit.key("Home")
    visit.key("ArrowRight", 3)
    visit.until("() => document.querySelectorAll('.sv-row').length > 5")
    visit.open("Models")
    for what in (TOKENS, FIGURES, BOXES):
        assert visit.page.locator(what).count() > 3 and visit.page.evaluate(BARE, what) == 0
    visit.page.locator("#sv-target input").click()
    visit.page.get_by_role("option").first.wait_for()
    assert visit.page.evaluate(BARE, "#sv-target .options") == 0
    visit.page.keyboard.press("Escape")
    visit.page.locator(".sv-ribbon .sv-r").first.hover()
    assert not visit.page.locator(".sv-tip-head").evaluate("(n) => n.translate")
    told = (
        ".sv-say, .sv-figure-name, .sv-more, .sv-lane-fate th, .sv-verdict, .sv-tip div:nth-child(2), #sv-prompt label"
    )
    assert visit.page.locator(told).evaluate_all("(all) => all.every((n) => n.translate)")


def test_tokens_of_the_studies_are_left_alone(shared, open_tab):
    context = shared(viewport=SCREEN)
    visit = open_tab(context, "?max_new_tokens=24")
    visit.press("play")
    visit.wait_state("Finished")
    unfold(visit, "sv-numbers", "sv-lossless")
    visit.page.get_by_text("Compare strategies on this prompt").click()
    visit.page.locator("#sv-compare-go").click()
    visit.page.locator(".sv-race .sv-staves .sv-chip").first.wait_for()
    visit.page.locator("#sv-lossless-go").click()
    visit.page.locator(".sv-lo tbody th").first.wait_for()
    visit.page.locator("#sv-numbers-drawn .sv-chip").first.wait_for(state="attached")
    assert visit.page.locator(TOKENS).count() > 60 and visit.page.evaluate(BARE, TOKENS) == 0
    assert visit.page.locator(".sv-race p").first.evaluate("(n) => n.translate")
