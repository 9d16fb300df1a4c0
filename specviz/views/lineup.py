"""The table of `lineup` as a picture for a page that runs no script: a bar for each strategy at its best K, as SVG.

A bar ends at the median speed-up over the prompts, its tick stands at the worst of them, the line at 1 is the target alone.

Example: ``svg(rows, "SmolLM2, two cores")`` with the `rows` of ``bench --json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from specviz.settings import SpecvizError

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
        raise SpecvizError("There is no strategy to draw; measure at least one beside the target alone.")
    shown = sorted(best.values(), key=lambda row: -float(row["median_speed_up"]))
    most = max(1.0, *(float(row["median_speed_up"]) for row in shown)) * 1.05
    height = TOP + ROW * len(shown) + 34

    def x(gain: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * gain / most, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="15" font-weight="600" fill="{INK}">{escape(title)}</text>',
        f'<text x="16" y="{height - 12}" fill="{MUTED}">Bar: median over the prompts of tokens/s ÷ those of the target '
        "alone, in turns; ▲ worst prompt.</text>",
    ]
    for place, row in enumerate(shown):
        y, gain, worst = TOP + ROW * place, float(row["median_speed_up"]), float(row["worst_speed_up"])
        parts += [
            f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end" fill="{INK}">'
            f"{escape(str(row['lane']))}, K = {int(row['k'])}</text>",
            f'<rect x="{LEFT}" y="{y + 2}" width="{x(gain) - LEFT:.1f}" height="17" fill="{BAR if gain >= 1 else LINE}"/>',
            f'<text x="{x(worst)}" y="{y + 26}" text-anchor="middle" font-size="9" fill="{WORSE}">▲</text>',
            f'<text x="{max(x(gain), x(1)) + 8:.1f}" y="{y + 15}" fill="{INK}">{gain:.2f}× (worst {worst:.2f}×)</text>',
        ]
    end = TOP + ROW * len(shown)
    parts += [
        f'<line x1="{x(1)}" x2="{x(1)}" y1="{TOP - 6}" y2="{end}" stroke="{INK}" stroke-dasharray="4 3"/>',
        f'<text x="{x(1)}" y="{TOP - 10}" text-anchor="middle" fill="{MUTED}">1 = target alone</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
