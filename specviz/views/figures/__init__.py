"""The charts of the live view, one a file: each builds an empty plotly figure that the browser fills.

A figure knows its axes, units, colours and words, and says in `meta` which columns go where; it holds no data.
`assets/charts.js` fills any of them from two tables made of the steps (columns listed in `assets/tables.js`).

Example: a trace with ``meta={"table": "steps", "x": "step", "y": "alpha"}`` is filled from those two columns.
To add a chart: one file with one function, one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import plotly.graph_objects as go

from specviz.views.figures.acceptance import acceptance
from specviz.views.figures.latency import latency
from specviz.views.figures.position import position
from specviz.views.figures.speed import speed
from specviz.views.figures.speedup import speedup
from specviz.views.figures.tokens import tokens

FIGURES: Mapping[str, Callable[[], go.Figure]] = MappingProxyType(
    {
        "acceptance": acceptance,
        "latency": latency,
        "tokens per pass": tokens,
        "tokens per second": speed,
        "speed-up": speedup,
        "by position": position,
    }
)
