"""Every K from one run as a table: recomputed counts, or an estimate that says so. Pure: counts → HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specviz.core.words import say
from specviz.metrics.counterfactual import expected_speed_up
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace
from specviz.metrics.rates import Counts
from specviz.metrics.theory import speed_up, tokens_a_step
from specviz.views.amounts import of
from specviz.views.comparison import columns
from specviz.views.elements import meanings, table
from specviz.views.markup import GAP, NOTHING, Html, joined, tag

EXACT = ("acceptance_rate", "block_efficiency", "passes", "drafted_share")
ESTIMATED = ("alpha_taken", "efficiency_estimate", "passes_estimate")


def exact(found: Mapping[int, Counts], own: int | None, known: Pace, notes: str) -> Html:
    """A row a K. `own`: the K of the run itself, which is marked. `known`: c and v of greedy drafting, where they are.
    `notes`: what these numbers are, and are not."""
    gains = {k: gain for k, counts in found.items() if (gain := _gain(counts, known)) is not None}
    tested = max((counts.acceptance_rate.whole for counts in found.values()), default=0)
    rows: dict[int, list[object]] = {}
    for k, counts in found.items():
        alpha, efficiency, drafted = counts.acceptance_rate, counts.block_efficiency, counts.drafted_share
        rows[k] = [
            _rate(alpha.value, of(alpha.part, alpha.whole)),
            _rate(efficiency.value, say("amounts.in", part=efficiency.part, whole=efficiency.whole)),
            str(counts.steps),
            _rate(drafted.value, say("amounts.of_whole", whole=drafted.whole)),
        ]
    return _table(EXACT, rows, gains, own, _best(gains) if tested >= TESTED else None, notes)


def estimate(known: Pace, ks: Iterable[int], own: int | None, length: int, notes: str, badge: Html = NOTHING) -> Html:
    """The same after the formula of independent tests, with `known.alpha`. `length` of the output in tokens; `badge`: a
    piece of page about a rule that changes it."""
    alpha, c, v = known.alpha.value, known.cost_ratio, known.v
    assert alpha is not None
    ks = list(ks)
    gains = {} if c is None or v is None else {k: speed_up(alpha, k, c, v, known.short) for k in ks}
    rows: dict[int, list[object]] = {}
    for k in ks:
        expected = tokens_a_step(alpha, k, known.short)
        rows[k] = [f"{alpha:.2f}", f"≈ {expected:.2f}", f"≈ {length / expected:.0f}"]
    best = _best(gains) if known.alpha.whole >= TESTED else None
    return _table(ESTIMATED, rows, gains, own, best, notes, badge)


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


def _table(
    figures: Sequence[str],
    rows: Mapping[int, list[object]],
    gains: Mapping[int, float],
    own: int | None,
    best: int | None,
    notes: str,
    badge: Html = NOTHING,
) -> Html:
    """`rows`: cells by K, to which the speed-ups to expect are added; `own` and `best` are marked where they are in it."""
    heads = columns(["k", *figures, *(["expected"] if gains else [])])
    marks = [(name, k) for name, k in (("own_k", own), ("best_k", best)) if k in rows]
    body = [
        [
            joined([k, *(piece for name, at in marks if at == k for piece in (" ", tag("b", say(f"columns.{name}"))))]),
            *cells,
            *([f"{gains[k]:.2f}×"] if gains else []),
        ]
        for k, cells in rows.items()
    ]
    at = None if best is None or best not in rows else list(rows).index(best)
    return tag(
        "div",
        badge,
        tag("p", notes, cls="sv-compare-says"),
        table(say("every_k.title"), heads, body, marked=at, on_hover=True),
        meanings([*heads, *columns(name for name, _ in marks)]),
        cls="sv-comparison",
    )
