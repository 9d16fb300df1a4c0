"""The study "Every K from this one run": what greedy drafting would have counted at other K, without decoding again."""

from __future__ import annotations

import gradio as gr

from specviz.guessing import Guessing, obstacle
from specviz.metrics.counterfactual import counterfactual, fixed_k, own_k
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace
from specviz.metrics.rates import Counts, count
from specviz.metrics.theory import ended_early
from specviz.models.describe import describe
from specviz.models.pair import Pair
from specviz.settings import SpecvizError
from specviz.trace import Trace
from specviz.ui.measuring import Measuring
from specviz.ui.shelf import Shelf
from specviz.ui.studies.desk import Desk
from specviz.views import every_k as view

KS = range(1, 17)


def add(desk: Desk) -> None:
    """Put it on the page."""
    with gr.Accordion("Every K from this one run", open=False, elem_id="sv-every-k") as unfolded:
        with gr.Row(elem_classes="sv-study-row"):
            again = gr.Button("Look again", elem_id="sv-every-k-again", scale=0)
        drawn = gr.HTML("", elem_id="sv-every-k-table", padding=False)
    desk.looks(unfolded, again, lambda trace: look(trace, desk.measuring), drawn)


def look(trace: Trace, measuring: Measuring) -> str:
    """The table for one run. Raises SpecvizError where nothing can be said of it."""
    if not trace.steps:
        raise SpecvizError("This run has made no step yet; press Play or Step.")
    if trace.steps[-1].settings.temperature > 0:
        return _estimate(trace, measuring.known(trace))
    if reason := obstacle(trace):
        raise SpecvizError(f"Other K do not follow from this run: {reason}.")
    pair = loaded(trace, measuring.shelf)
    guessing = Guessing(pair, trace)
    while measuring.turns.submit(guessing.step).result():
        pass
    found = counterfactual(trace, guessing.guesses, KS, guessing.end_ids)
    known = measuring.known(trace, strategy="greedy")
    return view.exact(
        found, own_k(trace), known, " ".join([_what(trace, pair), _check(trace, found, pair), _costs(known)])
    )


def loaded(trace: Trace, shelf: Shelf) -> Pair:
    """The pair that made this run, of those in memory; one in the same number format where there are several."""
    names = [
        pair
        for pair in shelf.here()
        if all(describe(pair)[part] == trace.pair.get(part) for part in ("target", "target_source", "draft"))
    ]
    if not names:
        target, draft = trace.pair.get("target"), trace.pair.get("draft")
        raise SpecvizError(
            f"Load the pair of this run under Models to see every K of it: {target} with {draft or 'no draft model'}."
        )
    return max(names, key=lambda pair: describe(pair)["dtype"] == trace.pair.get("dtype"))


def _what(trace: Trace, pair: Pair) -> str:
    name = pair.draft.name if pair.draft else ""
    others = sorted({step.strategy for step in trace.steps} - {"greedy"})
    words = (
        f"This run drafted with {' and '.join(others)}; the table is what greedy drafting by {name} would have done "
        "instead, not what this run did. "
        if others
        else ""
    ) + (
        f"Recomputed from the {len(trace.output_ids)} tokens of this run and what {name} guesses at each place of them, "
        "in one pass: greedy drafting of a fixed K at temperature 0, no run made again."
    )
    dtype = describe(pair)["dtype"]
    if dtype in ("float32", "float64") and dtype == trace.pair.get("dtype"):
        return f"{words} Exact in {dtype}."
    return f"{words} Exact but for near-ties, which {dtype} may round otherwise in another pass."


def _check(trace: Trace, found: dict[int, Counts], pair: Pair) -> str:
    """The run's own K, made and recomputed."""
    own = own_k(trace)
    if own is None or own not in found:
        return ""
    made, again = count(trace.steps), found[own]
    if (made.steps, made.acceptance_rate) == (again.steps, again.acceptance_rate):
        return f"✓ At its own K = {own} the run made {made.steps} passes and accepted {made.acceptance_rate}; so says this table."
    return (
        f"✗ At its own K = {own} the run made {made.steps} passes and accepted {made.acceptance_rate}, the table says "
        f"{again.steps} and {again.acceptance_rate}."
    )


def _estimate(trace: Trace, known: Pace) -> str:
    if known.alpha.value is None:
        raise SpecvizError(
            "Nothing was drafted in this run, so other K cannot be estimated; press Play with K above 0."
        )
    words = (
        "An estimate, not a count: above temperature 0 another K meets other coins and writes another text. Taken: the "
        f"formula of independent tests with one α, accepted of tested: {known.alpha} with {known.strategy}."
    )
    if known.alpha.whole < TESTED:
        words += f" That is too few to go by: fewer than {TESTED} tested tokens."
    if known.short:
        words += (
            f" {ended_early(known.short):.0%} of the steps ended their draft early (nothing found, an end, no room), and so "
            "they do here."
        )
    return view.estimate(known, KS, fixed_k(trace), len(trace.output_ids), f"{words} {_costs(known)}")


def _costs(known: Pace) -> str:
    if not known.strategy:
        return "What greedy drafting costs is not known from a run that drafted otherwise, so no speed-up is told."
    if not known.known:
        return "Press “Measure target alone”, and the speed-up to expect is shown too."
    v = ", ".join(f"v({places - 1}) = {ratio:.2f}" for places, ratio in known.verify_cost[1:])
    return (
        f"The speed-up is what theory expects with c = {known.cost_ratio:.2f}, {v} (in straight lines between and beyond; "
        f"from {known.source}, as in “Why this speed?”); it is not measured."
    )
