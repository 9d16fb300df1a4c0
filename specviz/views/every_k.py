"""Every K from one run as a table: recomputed counts, or an estimate that says so. Pure: counts → HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specviz.metrics.counterfactual import expected_speed_up
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace
from specviz.metrics.rates import Counts
from specviz.metrics.theory import speed_up, tokens_a_step
from specviz.views import study
from specviz.views.comparison import COLUMNS
from specviz.views.markup import GAP, NOTHING, Html, joined, tag
from specviz.views.study import headings, meanings, scrolled

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


def exact(found: Mapping[int, Counts], own: int | None, known: Pace, notes: str) -> Html:
    """A row a K. `own`: the K of the run itself, which is marked. `known`: c and v of greedy drafting, where they are.
    `notes`: what these numbers are, and are not."""
    gains = {k: gain for k, counts in found.items() if (gain := _gain(counts, known)) is not None}
    tested = max((counts.acceptance_rate.whole for counts in found.values()), default=0)
    best = _best(gains) if tested >= TESTED else None
    rows = []
    for k, counts in found.items():
        efficiency, drafted = counts.block_efficiency, counts.drafted_share
        cells: list[object] = [
            _rate(counts.acceptance_rate.value, f"{counts.acceptance_rate.part} of {counts.acceptance_rate.whole}"),
            _rate(efficiency.value, f"{efficiency.part} in {efficiency.whole}"),
            str(counts.steps),
            _rate(drafted.value, f"of {drafted.whole}"),
            *([f"{gains[k]:.2f}×"] if gains else []),
        ]
        rows.append(_row(k, cells, k == own, k == best))
    return _table([*EXACT, *([EXPECTED] if gains else [])], rows, _marks(found, own, best), notes)


def estimate(known: Pace, ks: Iterable[int], own: int | None, length: int, notes: str, badge: Html = NOTHING) -> Html:
    """The same after the formula of independent tests, with `known.alpha`. `length` of the output in tokens; `badge`: a piece of
    page about a rule that changes it."""
    alpha, c, v = known.alpha.value, known.cost_ratio, known.v
    assert alpha is not None
    ks = list(ks)
    gains = {} if c is None or v is None else {k: speed_up(alpha, k, c, v, known.short) for k in ks}
    best = _best(gains) if known.alpha.whole >= TESTED else None
    rows = []
    for k in ks:
        expected = tokens_a_step(alpha, k, known.short)
        cells: list[object] = [
            f"{alpha:.2f}",
            f"≈ {expected:.2f}",
            f"≈ {length / expected:.0f}",
            *([f"{gains[k]:.2f}×"] if gains else []),
        ]
        rows.append(_row(k, cells, k == own, k == best))
    return _table([*ESTIMATED, *([EXPECTED] if gains else [])], rows, _marks(ks, own, best), notes, badge)


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


def _rate(value: float | None, over: str) -> Html | str:
    return GAP if value is None else joined([f"{value:.2f} ", tag("small", f"({over})")])


def _row(k: int, cells: list[object], own: bool, best: bool) -> Html:
    marks = [piece for (name, _), there in ((OWN, own), (BEST, best)) if there for piece in (" ", tag("b", name))]
    return study.row(joined([k, *marks]), cells, best)


def _marks(ks: Iterable[int], own: int | None, best: int | None) -> list[tuple[str, str]]:
    """What stands beside some K of the table."""
    ks = list(ks)
    return [mark for mark, k in ((OWN, own), (BEST, best)) if k in ks]


def _table(
    figures: Sequence[tuple[str, str]],
    rows: list[Html],
    marks: list[tuple[str, str]],
    notes: str,
    badge: Html = NOTHING,
) -> Html:
    columns = [K, *figures]
    return tag(
        "div",
        badge,
        tag("p", notes, cls="sv-compare-says"),
        scrolled("Every K from this one run", headings(columns), rows),
        meanings([*columns, *marks]),
        cls="sv-comparison",
    )
