"""The table of strategies as a picture for a page that runs no script: a bar for each strategy at its best K, as SVG.

A bar ends at the median speed-up over the prompts, its tick is at the worst of them, the line at 1 is the target alone.

Example: ``svg(rows, "SmolLM2, two cores")`` with the `rows` of ``bench --json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specviz.core.settings import SpecvizError
from specviz.core.words import say
from specviz.views.markup import tag

NAMESPACE = "http://www.w3.org/2000/svg"
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 190, 170, 28, 56
BAR, WORSE, INK, MUTED, LINE = "#4f46e5", "#b45309", "#0f172a", "#475569", "#94a3b8"


def svg(rows: Sequence[Mapping[str, Any]], title: str) -> str:
    """The picture, best strategy first. Raises SpecvizError where no row was measured."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        gain = row.get("median_speed_up")
        if gain is not None and (row["lane"] not in best or gain > best[row["lane"]]["median_speed_up"]):
            best[row["lane"]] = row
    if not best:
        raise SpecvizError(say("studies.nothing_to_draw"))
    shown = sorted(best.values(), key=lambda row: -float(row["median_speed_up"]))
    most = max(1.0, *(float(row["median_speed_up"]) for row in shown)) * 1.05
    height = TOP + ROW * len(shown) + 34

    def x(gain: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * gain / most, 1)

    parts = [
        tag("rect", width=WIDTH, height=height, rx=8, fill="#ffffff"),
        tag("text", title, x=16, y=26, font_size=15, font_weight=600, fill=INK),
        tag("text", say("studies.table_key"), x=16, y=height - 12, fill=MUTED),
    ]
    for index, row in enumerate(shown):
        y, gain, worst = TOP + ROW * index, float(row["median_speed_up"]), float(row["worst_speed_up"])
        says = say("studies.table_bar", gain=f"{gain:.2f}", worst=f"{worst:.2f}")
        width, fill = f"{x(gain) - LEFT:.1f}", BAR if gain >= 1 else LINE
        parts += [
            tag("text", f"{row['lane']}, K = {int(row['k'])}", x=LEFT - 10, y=y + 15, text_anchor="end", fill=INK),
            tag("rect", x=LEFT, y=y + 2, width=width, height=17, fill=fill),
            tag("text", "▲", x=x(worst), y=y + 26, text_anchor="middle", font_size=9, fill=WORSE),
            tag("text", says, x=f"{max(x(gain), x(1)) + 8:.1f}", y=y + 15, fill=INK),
        ]
    end = TOP + ROW * len(shown)
    parts += [
        tag("line", x1=x(1), x2=x(1), y1=TOP - 6, y2=end, stroke=INK, stroke_dasharray="4 3"),
        tag("text", say("studies.table_one"), x=x(1), y=TOP - 10, text_anchor="middle", fill=MUTED),
    ]
    size = {"viewBox": f"0 0 {WIDTH} {height}", "width": WIDTH, "height": height}
    font = {"font_family": "system-ui, sans-serif", "font_size": 13}
    inside = [piece for part in parts for piece in ("\n", part)]
    return tag("svg", *inside, "\n", xmlns=NAMESPACE, **size, role="img", aria_label=title, **font) + "\n"
