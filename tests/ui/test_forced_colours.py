"""The page where the system forces its few colours: what says something by its colour alone must be there another way."""

from __future__ import annotations

import pytest

from tests.ui.actions import SCREEN

# Which of these have no border to be seen.
BORDERS = """(what) => [...document.querySelectorAll(what)].filter((n) => n.checkVisibility() && n.offsetWidth).filter((n) => {
    const s = getComputedStyle(n);
    return parseFloat(s.borderTopWidth) < 1 || s.borderTopStyle === 'none' || s.borderTopColor === 'rgba(0, 0, 0, 0)';
}).map((n) => n.id || n.className)"""
# Which of these have neither a background nor a border that differs from the page.
BACKGROUNDS = """(what) => {
    const page = getComputedStyle(document.body).backgroundColor, none = [page, 'rgba(0, 0, 0, 0)'];
    return [...document.querySelectorAll(what)].filter((n) => n.checkVisibility() && n.getBoundingClientRect().width >= 1)
        .map((n) => [n.className, getComputedStyle(n)])
        .filter(([, s]) => none.includes(s.backgroundColor) && none.includes(s.borderTopColor)).map(([name]) => name);
}"""


@pytest.fixture(params=["light", "dark"])
def forced(request, chromium, open_tab):
    context = chromium.new_context(viewport=SCREEN, forced_colors="active", color_scheme=request.param)
    visit = open_tab(context)
    visit.key("Home")
    visit.key("ArrowRight", 3)
    visit.until("() => document.querySelectorAll('.sv-bar-left').length > 5")
    yield visit
    context.close()


def colours(visit, locator):
    """How many different colours its picture has."""
    picture = visit.page.locator(locator).first.screenshot()
    return visit.page.evaluate(
        """async (bytes) => {
            const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
            const paper = new OffscreenCanvas(image.width, image.height).getContext('2d');
            paper.drawImage(image, 0, 0);
            const { data } = paper.getImageData(0, 0, image.width, image.height), seen = new Set();
            for (let i = 0; i < data.length; i += 4) seen.add(data[i] + ' ' + data[i + 1] + ' ' + data[i + 2]);
            return seen.size;
        }""",
        list(picture),
    )


def test_buttons_and_boxes_have_borders(forced):
    assert (
        forced.page.evaluate(
            BORDERS, "#sv-transport button, #sv-prompt textarea, #sv-k input[type=number], .sv-switches button"
        )
        == []
    )


def test_sliders_bars_and_marks_are_drawn(forced):
    for part in (
        "#sv-k input[type=range]",
        "#sv-temperature input[type=range]",
        ".sv-scrub input",
        ".sv-coin",
        ".sv-row .sv-track",
    ):
        assert colours(forced, part) >= 2, part
    marks = ".sv-bar-q, .sv-bar-p, .sv-bar-left, .sv-coin-fill, .sv-coin-dot, .sv-key-bar, .sv-key-dot"
    assert forced.page.evaluate(BACKGROUNDS, marks) == []


def test_the_prompt_has_no_sign_of_a_fate_and_the_draft_is_parted_from_the_rest(forced):
    under = "(what) => getComputedStyle(document.querySelector(what)).borderBottomStyle"
    assert forced.page.evaluate(under, ".sv-ribbon .sv-p") == "none"
    assert forced.page.evaluate(under, ".sv-ribbon .sv-a") == "solid"
    edge = forced.page.evaluate(
        "() => (({ borderLeftStyle: a, borderLeftWidth: b }) => [a, b])(getComputedStyle(document.querySelector('td.sv-extra')))"
    )
    assert edge == ["solid", "2px"]


def test_what_saves_a_chart_covers_no_number_of_its_axis(forced):
    assert (
        forced.page.evaluate("() => getComputedStyle(document.querySelector('.sv-save')).backgroundColor")
        == "rgba(0, 0, 0, 0)"
    )
