"""Times that no machine has: whatever a file says, each piece of page stays small and holds no figure that is none."""

import re
import time
from dataclasses import replace
from itertools import cycle

import pytest

from specviz.metrics.pace import pace
from specviz.recordings import gallery
from specviz.ui.studies.speed import Own
from specviz.views import theory, timeline
from tests.views import js
from tests.views.test_markup import pieces

DAY, TINY = 86_400.0, 1e-12
TIMES = {
    "zero": [0.0],
    "tiny": [TINY],
    "a day": [DAY],
    "one day": [0.05] * 7 + [DAY],
    "mixed": [0.0, TINY, DAY, 0.05],
}


def timed(times, alone):
    """A recording whose steps and baseline have these times, again and again."""
    trace = gallery.read("copy")
    given = cycle(times)
    steps = tuple(replace(s, draft_s=next(given), verify_s=next(given), other_s=next(given)) for s in trace.steps)
    assert trace.baseline
    return replace(trace, steps=steps, baseline=replace(trace.baseline, step_s=tuple([alone] * len(trace.output_ids))))


@pytest.mark.parametrize("alone", [0.0, TINY, DAY])
@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_every_piece_is_small_and_sound(times, alone):
    trace, begun = timed(times, alone), time.process_time()
    made = pieces(trace)
    own = Own.of(pace(trace))
    shown = own.curve(own.sliders)
    made |= {"picture": theory.picture(shown), "verdict": own.told(shown), "own": own.packed()}
    assert max(map(len, made.values())) < 200_000
    assert time.process_time() - begun < 20
    for name, piece in made.items():
        assert not re.search(r"\bnan\b|\binf\b|Infinity|NaN", re.sub("<[^>]*>", " ", piece)), name


def test_the_axis_of_the_strip_has_few_ticks_and_a_bounded_width():
    for times in (*TIMES.values(), [5e-324], [5e-324, DAY]):
        for alone in (0.0, TINY, DAY):
            html = timeline.study(timed(times, alone))
            width = re.search(r'sv-lanes" style="width:(\d+)px', html)
            assert width is None or int(width[1]) <= timeline.MOST_PX + 24
            assert html.count("<span") <= timeline.MOST_PX / timeline.TICK_PX + 2
            assert html.count("<i") <= 3 * timeline.WINDOW + timeline.MOST_ALONE + 8


def test_the_browsers_axes_are_bounded():
    tops = js.run(["dom.js"], "GIVEN.map(niceCeil)", [0, 1e-9, 86_400_000, 1e300])
    assert tops[0] == 1 and all(top >= value for top, value in zip(tops[1:], [1e-9, 86_400_000, 1e300], strict=True))
    # a tick for each position of a draft would be thousands: as many as can be read at most
    for size in (1, 16, 32, 1000, 100_000):
        step = js.run(["dom.js", "plotting.js", "charts.js"], f"tickEvery({size})")
        assert 1 <= size / step <= 16 or size < 16
