"""No label, digit or word is cut: at four widths of the window, in the two fonts that machines have."""

from __future__ import annotations

import pytest

from tests.ui.actions import unfold

WIDTHS = (390, 1024, 1280, 1920)
FONTS = ("DejaVu Sans", "Inter")
FONT = """%s * { font-family: "%s", sans-serif !important; }
%s :is(.sv-chip, .sv-cand, .sv-node-text, code) { font-family: "DejaVu Sans Mono", monospace !important; }
/* pictures of plotly are looked at elsewhere, and drawing them anew for each width takes long */
.sv-plot, .sv-sweep-plot { display: none !important; }"""
# Text in a box that cuts or covers it. What scrolls can be reached, so only boxes inside of a scrolling one count, and
# what belongs to one cell, button or tile must not run into the next.
CLIPPED = """(allowed) => {
    const unseen = 'script, style, svg, .sv-sr, .sr-only, .sv-lo-hidden, .options, .toast-wrap, .label-wrap .icon, footer';
    const own = 'td, th, button, .sv-figure, .sv-row > *, .sv-track-name, .sv-strip-name', found = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node; (node = walk.nextNode());) {
        const at = node.parentElement, words = node.data.trim();
        if (!words || at.closest(unseen) || at.closest(allowed)) continue;
        if (!at.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
        range.selectNodeContents(node);
        const rects = [...range.getClientRects()].filter((r) => r.width > 0.5);
        const out = (box, across) => rects.some((r) => r.left < box.left - 1.5 || r.right > box.right + 1.5 ||
            (!across && (r.top < box.top - 3 || r.bottom > box.bottom + 3)));
        const tell = (box, why) => found.add(`${why} ${box.tagName}.${box.className}: ${words.slice(0, 40)}`);
        const cell = at.closest(own);
        if (cell && out(cell.getBoundingClientRect(), true)) tell(cell, 'beside its own');
        for (let box = at; box && box !== document.body; box = box.parentElement) {
            const style = getComputedStyle(box), flows = [style.overflowX, style.overflowY];
            if (style.textOverflow === 'ellipsis' && box.scrollWidth > box.clientWidth) tell(box, 'ends in dots in');
            if (flows.some((f) => f === 'auto' || f === 'scroll')) break;
            if (flows.some((f) => f !== 'visible') && out(box.getBoundingClientRect(), false)) tell(box, 'cut by');
        }
    }
    return [...found];
}"""
ALLOWED = ", ".join(
    (
        ".sv-time, .sv-share i, .sv-strip i",  # bars as wide as a time or a count, with a sign; words are in their legend
        "#sv-preset, #sv-strategy, #sv-pair",  # a menu's input scrolls with the keys, and its list shows the whole entry
    )
)


def in_font(visit, font):
    """Put the whole page into a font, once its rules of before are gone."""
    visit.page.evaluate("() => document.getElementById('font')?.remove()")
    visit.page.add_style_tag(content=FONT % ("html", font, "html"))
    visit.page.evaluate("() => { document.head.lastElementChild.id = 'font'; }")


def at_width(visit, width):
    """Make the window that wide, and wait until ribbon and card are laid out anew."""
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.until("(wide) => innerWidth === wide", width)
    visit.page.evaluate(
        """async () => {
            for (let same = 0, before = ''; same < 6;) {
                await new Promise((done) => setTimeout(done, 50));
                const now = [...document.querySelectorAll('.sv-ribbon, .sv-lanes td')].map((n) => n.clientWidth).join();
                same = now === before ? same + 1 : 0;
                before = now;
            }
        }"""
    )


def clipped(visit, what="", fonts=FONTS, widths=WIDTHS):
    """What is cut at each width in each font."""
    found = []
    for font in fonts:
        in_font(visit, font)
        for width in widths:
            at_width(visit, width)
            found += [f"{width} {font} {what}: {one}" for one in visit.page.evaluate(CLIPPED, ALLOWED)]
    return found


def to_step(visit, step):
    visit.page.locator(".sv-scrub input").evaluate(
        """(node, step) => {
            node.value = step;
            for (const type of ['input', 'change']) node.dispatchEvent(new Event(type));
        }""",
        step,
    )
    visit.until("(n) => document.querySelector('.sv-card-title').textContent.startsWith(`Step ${n} `)", step)


@pytest.mark.parametrize("trace", ["explanation", "beams", "sampled-tree"])
def test_nothing_of_a_step_is_cut(shared, open_tab, trace):
    context = shared(viewport={"width": 1280, "height": 900})
    visit = open_tab(context, f"?trace={trace}")
    to_step(visit, 3)
    visit.until("() => document.querySelectorAll('.sv-row').length > 5")
    found = clipped(visit, f"step 3 of {trace}", FONTS if trace == "explanation" else FONTS[:1])
    assert not found, "\n".join(found)


def test_nothing_in_large_type_is_cut(shared, open_tab):
    context = shared(viewport={"width": 1280, "height": 900})
    visit = open_tab(context, "?trace=explanation")
    to_step(visit, 3)
    visit.page.get_by_role("button", name="Large type").click()
    found = clipped(visit, "large type", FONTS[:1])
    assert not found, "\n".join(found)


def test_nothing_of_the_controls_and_the_studies_is_cut(shared, open_tab):
    context = shared(viewport={"width": 1280, "height": 900})
    visit = open_tab(context, "?max_new_tokens=24")
    for section in ("Sampling and rule", "Length and template", "Models"):
        visit.open(section)
    visit.press("play")
    visit.wait_state("Finished")
    visit.press("alone")
    visit.until("() => document.querySelector('.sv-headline').textContent.includes('the target alone')")
    unfold(visit, "sv-why", "sv-numbers", "sv-lossless", "sv-sweep", "sv-every-k")
    visit.page.get_by_text("Compare strategies on this prompt").click()
    visit.page.locator("#sv-compare-go").click()
    visit.page.locator(".sv-race").wait_for()
    visit.page.locator("#sv-lossless-go").click()
    visit.page.locator("#sv-lossless-says").get_by_text("Replayed 100,000 of").wait_for()
    visit.page.locator("#sv-sweep-go").click()
    visit.until("() => /All done/.test(document.querySelector('.sv-sweep-line')?.textContent)")
    visit.page.locator("#sv-every-k-table td").first.wait_for()
    visit.page.evaluate("() => document.querySelectorAll('.gr-accordion details').forEach((d) => { d.open = true; })")
    found = clipped(visit)
    assert not found, "\n".join(found)
