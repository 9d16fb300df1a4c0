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
        visit.run_live()  # the first step may still make charts that the recording had no use for
        visit.wait_steps(20)
        page.evaluate(WATCH)
        first = visit.place()[1]
        visit.wait_state("Finished")
        steps = visit.place()[1] - first
        same = page.evaluate("() => seen.nodes.every((n) => n.isConnected && n.data)")
        made, fills = page.evaluate("() => [seen.made, seen.fills]")
        faults = visit.faults
    assert steps > 150 and same and made == 0 and faults == []
    for chart in {plot for plot, *_ in fills}:
        times = [at for plot, at, *_ in fills if plot == chart]
        most = max(sum(start <= at < start + 1000 for at in times) for start in times)
        assert chart >= 0 and most <= 6 and len(times) < steps / 3
        for edge in (2, 3):  # neither axis jumps back
            ends = [fill[edge] for fill in fills if fill[0] == chart]
            assert all(later >= earlier for earlier, later in pairwise(ends))
    assert len({plot for plot, *_ in fills}) >= 3
