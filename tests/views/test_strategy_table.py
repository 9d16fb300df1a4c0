"""The picture of the table of strategies: best first, each at its best K, and nothing unescaped."""

import xml.etree.ElementTree as ET

import pytest

from specviz.core.settings import SpecvizError
from specviz.views.strategy_table import svg

ROWS = [
    {"lane": "target alone", "k": 0, "median_speed_up": None, "worst_speed_up": None},
    {"lane": "greedy", "k": 2, "median_speed_up": 0.9, "worst_speed_up": 0.7},
    {"lane": "<copy>", "k": 4, "median_speed_up": 1.5, "worst_speed_up": 1.2},
    {"lane": "<copy>", "k": 6, "median_speed_up": 2.0, "worst_speed_up": 1.6},
]


def test_each_strategy_stands_once_at_its_best_k_best_first():
    picture = ET.fromstring(svg(ROWS, "a & b"))
    texts = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    labels = [text for text in texts if ", K = " in text]
    assert labels == ["<copy>, K = 6", "greedy, K = 2"]
    assert "2.00× (worst 1.60×)" in texts and texts[0] == "a & b"
    bars = list(picture.iter("{http://www.w3.org/2000/svg}rect"))[1:]
    widths = [float(bar.get("width")) for bar in bars]
    assert widths[0] / widths[1] == pytest.approx(2.0 / 0.9, abs=0.01)


def test_without_a_strategy_there_is_no_picture():
    with pytest.raises(SpecvizError, match="at least one"):
        svg(ROWS[:1], "nothing")
