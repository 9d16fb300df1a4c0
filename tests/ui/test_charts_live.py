"""Charts while a run goes on: made once, filled a few times a second however fast the steps come, never shrinking."""

from itertools import pairwise

from tests.ui import browser
from tests.ui.browser import Visit

WATCH = """() => {
    const { newPlot, update } = window.Plotly;
    window.seen = { made: 0, fills: [], nodes: [...document.querySelectorAll('.js-plotly-plot')] };
    window.Plotly.newPlot = (...a) => { seen.made++; return newPlot(...a); };
    window.Plotly.update = (plot, data, layout) => {
        seen.fills.push([seen.nodes.indexOf(plot), performance.now(), layout['xaxis.range'][1], layout['yaxis.range']?.[1] ?? 0]);
        return update(plot, data, layout);
    };
}"""


def test_three_hundred_steps_fill_the_same_charts_a_few_times_a_second():
    with browser.browser() as chromium:
        page = chromium.new_context(viewport={"width": 1280, "height": 1400}).new_page()
        visit = Visit(page, f"{browser.address()}?k=1&temperature=1&max_new_tokens=500&chat=0")
        visit.until("() => document.querySelectorAll('.js-plotly-plot').length >= 3")  # the recording's
        page.evaluate(WATCH)
        visit.press("play")
        visit.wait_state("Finished")
        steps = visit.place()[1]
        same = page.evaluate("() => seen.nodes.every((n) => n.isConnected && n.data)")
        made, fills = page.evaluate("() => [seen.made, seen.fills]")
        faults = visit.faults
    assert steps > 150 and same and made == 0 and faults == []
    charts = {plot for plot, *_ in fills}
    seconds = (fills[-1][1] - fills[0][1]) / 1000
    # one chart at a time, and all of them at once when the run has ended
    assert len(charts) >= 3 and min(charts) >= 0
    # a chart drawn anew at each step would be filled `steps` times, and there are several of them
    assert len(fills) < max(steps, 5 * seconds)
    for chart in charts:
        for edge in (2, 3):  # neither axis jumps back
            ends = [fill[edge] for fill in fills if fill[0] == chart]
            assert all(later >= earlier for earlier, later in pairwise(ends))
