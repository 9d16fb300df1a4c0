"""Every K from one run as a table: recomputed counts, or an estimate that says so. Pure: counts → HTML, all escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from specviz.metrics.counterfactual import expected_speed_up
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace
from specviz.metrics.rates import Counts
from specviz.metrics.theory import speed_up, tokens_a_step
from specviz.views.comparison import COLUMNS
from specviz.views.study import headings, meanings

K = ("K", "Tokens drafted ahead in each step (γ in the papers).")
EXACT = [
    COLUMNS["acceptance_rate"],
    COLUMNS["block_efficiency"],
    ("passes of the target", "Passes it would have taken to write this output."),
    COLUMNS["drafted_share"],
]
ESTIMATED = [
    ("α, taken", "Accepted ÷ tested of this run, taken for every place of every draft, whatever K."),
    ("tokens a pass τ, estimate", "What the formula of independent tests gives for that α and this K."),
    ("passes of the target, estimate", "Tokens of this output ÷ the estimate of τ."),
]
EXPECTED = (
    "speed-up to expect",
    "Theory: tokens a pass ÷ (drafted a pass · c + v); nothing of it was measured at this K.",
)
OWN = ("this run", "The K that this run drafted with, wherever there was room for it.")
BEST = ("best to expect", "The K with the greatest speed-up to expect, where any is above 1.")


def exact(found: Mapping[int, Counts], own: int | None, known: Pace, notes: str) -> str:
    """A row a K. `own`: the K of the run itself, which is marked. `known`: c and v of greedy drafting, where they are.
    `notes`: what these numbers are, and are not."""
    gains = {k: gain for k, counts in found.items() if (gain := _gain(counts, known)) is not None}
    tested = max((counts.acceptance_rate.whole for counts in found.values()), default=0)
    best = _best(gains) if tested >= TESTED else None
    rows = []
    for k, counts in found.items():
        efficiency, drafted = counts.block_efficiency, counts.drafted_share
        cells = [
            _rate(counts.acceptance_rate.value, f"{counts.acceptance_rate.part} of {counts.acceptance_rate.whole}"),
            _rate(efficiency.value, f"{efficiency.part} in {efficiency.whole}"),
            str(counts.steps),
            _rate(drafted.value, f"of {drafted.whole}"),
            *([f"{gains[k]:.2f}×"] if gains else []),
        ]
        rows.append(_row(k, cells, k == own, k == best))
    return _table(EXACT, rows, bool(gains), notes)


def estimate(known: Pace, ks: Iterable[int], own: int | None, length: int, notes: str, badge: str = "") -> str:
    """The same after the formula of independent tests, with `known.alpha`. `length` of the output in tokens; `badge`: a piece
    of page about a rule that changes it."""
    alpha, c, v = known.alpha.value, known.cost_ratio, known.v
    assert alpha is not None
    ks = list(ks)
    gains = {} if c is None or v is None else {k: speed_up(alpha, k, c, v, known.short) for k in ks}
    best = _best(gains) if known.alpha.whole >= TESTED else None
    rows = []
    for k in ks:
        expected = tokens_a_step(alpha, k, known.short)
        cells = [
            f"{alpha:.2f}",
            f"≈ {expected:.2f}",
            f"≈ {length / expected:.0f}",
            *([f"{gains[k]:.2f}×"] if gains else []),
        ]
        rows.append(_row(k, cells, k == own, k == best))
    return _table(ESTIMATED, rows, bool(gains), notes, badge)


def _gain(counts: Counts, known: Pace) -> float | None:
    """None where c or v is not known."""
    if known.cost_ratio is None or known.v is None:
        return None
    tokens, drafted = counts.block_efficiency.value, counts.mean_draft_length.value
    return expected_speed_up(tokens or 1.0, drafted or 0.0, known.cost_ratio, known.v)


def _best(gains: Mapping[int, float]) -> int | None:
    """The K with the greatest speed-up to expect, where any is above 1."""
    best = max(gains, key=lambda k: gains[k], default=None)
    return best if best is not None and gains[best] > 1 else None


def _rate(value: float | None, over: str) -> str:
    return "–" if value is None else f"{value:.2f} <small>({over})</small>"


def _row(k: int, cells: list[str], own: bool, best: bool) -> str:
    marks = "".join(f" <b>{name}</b>" for (name, _), there in ((OWN, own), (BEST, best)) if there)
    body = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr{" class=sv-fastest" if best else ""}><th scope="row">{k}{marks}</th>{body}</tr>'


def _table(figures: Sequence[tuple[str, str]], rows: list[str], gains: bool, notes: str, badge: str = "") -> str:
    columns = [K, *figures, *([EXPECTED] if gains else [])]
    marks = [mark for mark in (OWN, BEST) if any(f"<b>{mark[0]}</b>" in row for row in rows)]
    return (
        f'<div class="sv-comparison">{badge}<p class="sv-compare-says">{escape(notes)}</p>'
        '<div class="sv-compare-scroll" tabindex="0" role="region" aria-label="Every K from this one run">'
        f'<table class="sv-compare"><thead><tr>{headings(columns)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{meanings([*columns, *marks])}</div>"
    )
