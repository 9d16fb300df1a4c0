"""Charts while a run goes on: live from its first second on, made once, filled a few times a second, never shrinking."""

import time
from itertools import pairwise

from specviz.decoding import engine
from tests.ui import browser
from tests.ui.browser import Visit

WATCH = """() => {
    const { newPlot, update, restyle } = window.Plotly;
    const filled = (plot) => seen.fills.push(
        [seen.nodes.indexOf(plot), performance.now(), plot.layout.xaxis.range[1], plot.layout.yaxis.range[1]]);
    window.seen = { made: 0, fills: [], nodes: [...document.querySelectorAll('.js-plotly-plot')] };
    window.Plotly.newPlot = (...a) => { seen.made++; return newPlot(...a); };
    window.Plotly.update = (plot, ...a) => { const done = update(plot, ...a); filled(plot); return done; };
    window.Plotly.restyle = (plot, ...a) => { const done = restyle(plot, ...a); filled(plot); return done; };
}"""


BEYOND = """() => [...document.querySelectorAll('.sv-chart')].filter((c) => c.querySelector('.sv-plot').data).map((chart) => {
    const { data, layout } = chart.querySelector('.sv-plot'), bars = data.filter((t) => t.type === 'bar');
    const sums = bars.length ? bars[0].y.map((_, i) => bars.reduce((s, b) => s + (b.y[i] || 0), 0)) : [];
    const n = chart.querySelector('.sv-beyond').textContent.match(/^↑ (\\d+) bars? beyond the axis, up to \\d+ /);
    return [sums.filter((sum) => sum > layout.yaxis.range[1]).length, n ? Number(n[1]) : 0];
})"""


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
        cut = page.evaluate(
            """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot.data
                .filter((t) => t.mode && Math.max(...t.y) > plot.layout.yaxis.range[1]).map((t) => t.name))"""
        )
        beyond = page.evaluate(BEYOND)
        made, fills = page.evaluate("() => [seen.made, seen.fills]")
        faults = visit.faults
    assert steps > 150 and same and made == 0 and faults == []
    assert cut == []  # a line and a point are whole; of bars that are not it is said
    assert all(higher == said for higher, said in beyond) and len(beyond) >= 3
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


SHOWN = """() => [...document.querySelectorAll('.sv-chart')].slice(0, 2)
    .map((chart) => (chart.querySelector('.sv-plot').data || []).flatMap((t) => t.y || []).filter((y) => y !== null).length)"""


def test_acceptance_and_latency_have_data_before_a_run_is_half_over_and_go_on(monkeypatch):
    plain = engine.step

    def slow(run, settings):
        time.sleep(0.1)  # about what a step of the default pair takes
        return plain(run, settings)

    monkeypatch.setattr(engine, "step", slow)
    with browser.browser() as chromium:
        page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
        visit = Visit(page, f"{browser.address()}?k=1&temperature=0&max_new_tokens=50&chat=0")
        visit.until("() => document.querySelectorAll('.js-plotly-plot').length >= 2")  # the recording's
        visit.run_live()
        counts = []
        while visit.state() == "Running":
            counts.append((visit.place()[1], *page.evaluate(SHOWN)))
            page.wait_for_timeout(100)
        visit.wait_state("Finished")
        steps, faults = visit.place()[1], visit.faults
    assert steps >= 25 and faults == []
    halfway = [c for c in counts if c[0] <= steps / 2][-1]
    assert min(halfway[1:]) > 0, f"after {halfway[0]} of {steps} steps: {halfway[1]} and {halfway[2]} points"
    # and they are filled again and again
    assert all(len({c[chart] for c in counts}) >= 3 for chart in (1, 2)), counts
