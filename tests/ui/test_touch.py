"""A finger on the page of a phone: sliders that are swiped across, dragged and tapped; the phone on its side; narrow rows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.ui.actions import PHONE, overflow, unfold

SIDE = {"width": 844, "height": 390}
VALUE = "(id) => [...document.querySelectorAll(`#sv-${id} input`)].map((node) => Number(node.value))"
TOP = "() => document.querySelector('#sv-side .sidebar-content').scrollTop"


def touch(visit, path):
    """One finger along these points, in small steps as fingers go."""
    session = visit.page.context.new_cdp_session(visit.page)

    def tell(kind, *points):
        there = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": there})
        visit.page.wait_for_timeout(30)

    tell("touchStart", path[0])
    for (x, y), (to_x, to_y) in pairwise(path):
        for part in range(1, 11):
            tell("touchMove", (x + (to_x - x) * part / 10, y + (to_y - y) * part / 10))
    tell("touchEnd")
    visit.page.wait_for_timeout(400)


def spot(visit, name, share):
    """A point on a slider."""
    box = visit.page.locator(f"#sv-{name} input[type=range]").bounding_box()
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


@pytest.fixture
def drawer(phone):
    visit = phone()
    visit.page.get_by_role("button", name="Controls").click()
    visit.page.locator("#sv-side.open").wait_for()
    visit.open("Sampling and rule")
    visit.page.wait_for_timeout(500)
    return visit


def test_a_swipe_across_a_slider_scrolls_and_sets_nothing(drawer):
    assert drawer.page.evaluate(VALUE, "k") == [4, 4]
    (x, y), before = spot(drawer, "k", 0.88), drawer.page.evaluate(TOP)
    touch(drawer, [(x, y), (x + 4, y - 180)])
    assert drawer.page.evaluate(TOP) > before + 40
    assert drawer.page.evaluate(VALUE, "k") == [4, 4]
    drawer.page.keyboard.press("Escape")
    drawer.page.locator("#sv-side:not(.open)").wait_for()
    drawer.steps_one_by_one(1)
    kept = drawer.page.evaluate("() => JSON.parse(sessionStorage.getItem('specviz.controls')).k")
    assert kept == 4 and "drafted 4" in drawer.page.locator(".sv-headline").text_content().replace(
        "4 drafted", "drafted 4"
    )


def test_a_slider_is_dragged_and_tapped_as_ever(drawer):
    before = drawer.page.evaluate(TOP)
    touch(drawer, [spot(drawer, "k", 0.14), spot(drawer, "k", 0.75)])
    dragged, box = drawer.page.evaluate(VALUE, "k")
    assert dragged == box and 18 <= dragged <= 30
    point = spot(drawer, "k", 0.5)
    touch(drawer, [point])
    assert drawer.page.evaluate(VALUE, "k") == [16, 16]
    assert drawer.page.evaluate(TOP) == before


@pytest.mark.parametrize("least", [24, 36], ids=["mouse", "fingers"])
def test_a_slider_is_hit_beside_its_line_and_covers_no_number(phone, least):
    visit = phone(
        **({} if least == 36 else {"viewport": {"width": 1280, "height": 800}, "has_touch": False, "is_mobile": False})
    )
    if least == 36:
        visit.page.get_by_role("button", name="Controls").click()
        visit.page.locator("#sv-side.open").wait_for()
        visit.until("() => !document.querySelector('#sv-side').getAnimations({ subtree: true }).length")
    hits = """(least) => ['k', 'temperature'].map((name) => {
        const node = document.querySelector(`#sv-${name} input[type=range]`);
        node.scrollIntoView({ block: 'center' });
        const box = node.getBoundingClientRect(), number = node.closest('.block').querySelector('input[type=number]');
        const reach = least / 2 - 1, middle = box.top + box.height / 2, around = number.getBoundingClientRect();
        const at = (x, y) => document.elementFromPoint(x, y);
        return [at(box.left + 60, middle - reach) === node, at(box.left + 60, middle + reach) === node,
            at(around.left + 8, around.bottom - 2) === number];
    })"""
    found = visit.page.evaluate(hits, least)
    assert all(all(each) for each in found), found


def test_on_its_side_nothing_lies_over_the_bar_and_the_handle_has_its_word(phone):
    visit = phone(viewport=SIDE)
    visit.page.locator("#sv-side:not(.open)").wait_for()
    visit.page.wait_for_timeout(400)
    handle = visit.page.get_by_role("button", name="Controls")
    covered = """() => [...document.querySelectorAll('#sv-transport button')].filter((n) => n.offsetHeight).filter((node) => {
        const box = node.getBoundingClientRect(), xs = [box.left + 2, box.left + box.width / 2, box.right - 2];
        return !xs.every((x) => document.elementFromPoint(x, box.top + box.height / 2)?.closest('button') === node);
    }).map((node) => node.textContent)"""
    # a recording has Run live where a run has what measures
    assert visit.page.locator("#sv-live").is_visible() and visit.page.evaluate(covered) == []
    visit.steps_one_by_one(1)
    assert visit.page.locator("#sv-alone").is_visible() and visit.page.evaluate(covered) == []
    box = handle.bounding_box()
    assert box["width"] >= 90 and box["height"] >= 36 and box["y"] + box["height"] <= SIDE["height"]
    assert handle.evaluate("(node) => getComputedStyle(node, '::after').content") == '"Controls"'
    visit.page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    foot, bar = (visit.page.locator(part).bounding_box() for part in ("footer button >> nth=0", "#sv-transport"))
    assert foot["y"] + foot["height"] <= bar["y"]
    handle.click()
    visit.page.locator("#sv-side.open").wait_for()
    visit.page.wait_for_timeout(500)
    assert visit.page.evaluate(covered) == [] and overflow(visit) <= 0
    handle.click()
    visit.page.locator("#sv-side:not(.open)").wait_for()


@pytest.mark.parametrize("size", [PHONE, {"width": 360, "height": 740}, SIDE], ids=["usual", "small", "side"])
def test_a_candidate_is_not_squeezed_by_what_became_of_it(phone, size):
    visit = phone(viewport=size)
    visit.page.locator(".sv-cand").first.wait_for()
    both = """() => {
        const name = document.querySelector('.sv-cand'), tag = (m) => `<span class="sv-tag">${m}</span>`;
        name.innerHTML = '<bdi>·photosynthesis</bdi>' + tag('drafted') + tag('emitted');
        const cell = name.getBoundingClientRect();
        return [...name.children].map((node) => {
            const box = node.getBoundingClientRect();
            return [box.left >= cell.left - 1 && box.right <= cell.right + 1, box.width];
        });
    }"""
    token, *tags = visit.page.evaluate(both)
    assert all(inside for inside, _ in (token, *tags)) and token[1] >= 80


def test_the_shade_of_a_table_that_scrolls_leaves_the_figures_readable(phone):
    visit = phone(viewport={"width": 360, "height": 740})
    unfold(visit, "sv-numbers")
    visit.page.locator(".sv-compare-scroll").first.wait_for()
    size = visit.page.locator(".sv-compare-scroll").first.evaluate("(node) => getComputedStyle(node).backgroundSize")
    assert [part.split()[0] for part in size.split(", ")][2:] == ["5px", "5px"]
