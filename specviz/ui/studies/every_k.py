"""The study "Every K from this one run": what greedy drafting would have counted at other K, without decoding again."""

from __future__ import annotations

import gradio as gr

from specviz.core.plural import counted
from specviz.core.settings import SpecvizError
from specviz.experiments.draft_predictions import Guessing, obstacle
from specviz.metrics.counterfactual import counterfactual, fixed_k, own_k, recorded
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace
from specviz.metrics.rates import Counts, count
from specviz.metrics.theory import DRAFT_FIRST, ended_early
from specviz.models.describe import describe
from specviz.models.pair import Pair
from specviz.sessions.cost_measurement import CostMeasurement
from specviz.sessions.model_cache import ModelCache
from specviz.traces.trace import Trace
from specviz.ui.piece import Piece
from specviz.ui.studies.context import StudyContext
from specviz.views import every_k as view
from specviz.views.study import changed

KS = range(1, 17)


def add(context: StudyContext) -> None:
    """Put it on the page."""
    with gr.Accordion("Every K from this one run", open=False, elem_id="sv-every-k") as unfolded:
        with gr.Row(elem_classes="sv-study-row"):
            again = gr.Button("Look again", elem_id="sv-every-k-again", size="sm", scale=0, min_width=90)
        drawn = Piece("", elem_id="sv-every-k-table", padding=False)
    context.looks(unfolded, again, lambda trace: look(trace, context.services.cost_measurement), drawn)


def look(trace: Trace, cost_measurement: CostMeasurement) -> str:
    """The table for one run. Raises SpecvizError where nothing can be said of it."""
    if not trace.steps:
        raise SpecvizError("This run has made no step yet; press Play or Step.")
    if trace.steps[-1].settings.temperature > 0:
        return _estimate(trace, cost_measurement.known(trace))
    if reason := obstacle(trace):
        raise SpecvizError(f"Other K do not follow from this run: {reason}.")
    pair = loaded(trace, cost_measurement.model_cache)
    guessing = Guessing(pair, trace)
    while cost_measurement.queue.submit(guessing.step).result():
        pass
    own = recorded(trace)
    guesses = [own.get(place, guess) for place, guess in enumerate(guessing.guesses)]
    found = counterfactual(trace, guesses, KS, guessing.end_ids)
    known = cost_measurement.known(trace, strategy="greedy")
    same = cost_measurement.known(trace).strategy == known.strategy
    beside = (
        "as in “Why this speed?”, which takes one α for all places where this table has the counts of each K, so that its "
        "best K may differ"
        if same
        else "“Why this speed?” tells those of the strategy used last"
    )
    notes = " ".join([_what(trace, pair, len(own)), _check(trace, found, pair), _costs(known, beside)])
    return view.exact(found, own_k(trace), known, notes)


def loaded(trace: Trace, model_cache: ModelCache) -> Pair:
    """The pair that made this run, of those in memory; one in the same number format where there are several."""
    names = [
        pair
        for pair in model_cache.here()
        if all(describe(pair)[part] == trace.pair.get(part) for part in ("target", "target_source", "draft"))
    ]
    if not names:
        target, draft = trace.pair.get("target"), trace.pair.get("draft")
        raise SpecvizError(
            f"Load the pair of this run under Models to see every K of it: {target} with {draft or 'no draft model'}."
        )
    return max(names, key=lambda pair: describe(pair)["dtype"] == trace.pair.get("dtype"))


def _what(trace: Trace, pair: Pair, guessed: int) -> str:
    """What the table is; `guessed`: places whose guess the run made itself."""
    name = pair.draft.name if pair.draft else ""
    used = list(dict.fromkeys(step.strategy for step in trace.steps))
    words = (
        f"This run drafted {'nothing' if used == ['none'] else 'with ' + ' and '.join(used)}; the table is what greedy "
        f"drafting by {name} alone would have done, "
        "not what this run did. "
        if set(used) != {"greedy"}
        else ""
    ) + (
        f"Recomputed from the {counted(len(trace.output_ids), 'token')} of this run and what {name} guesses at each place of "
        f"them ({counted(guessed, 'guess', 'guesses')} as the run made them, the rest in one pass): greedy "
        "drafting of a fixed K at temperature 0, no run made again."
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
    here = (
        f"At its own K = {own} the run made {counted(made.steps, 'pass', 'passes')} and accepted {made.acceptance_rate}"
    )
    if (made.steps, made.acceptance_rate) == (again.steps, again.acceptance_rate):
        return f"✓ {here}; so says this table."
    return f"✗ {here}, the table says {again.steps} and {again.acceptance_rate}."


def _estimate(trace: Trace, known: Pace) -> str:
    if known.alpha.value is None:
        raise SpecvizError(f"Nothing was drafted in this run, so other K cannot be estimated. {DRAFT_FIRST}")
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
    if known.mixed:
        words += f" Changed in the middle of the run: {', '.join(known.mixed)}; α is of all its steps together."
    notes = f"{words} {_costs(known, 'as in “Why this speed?”')}"
    return view.estimate(known, KS, fixed_k(trace), len(trace.output_ids), notes, changed(trace))


def _costs(known: Pace, beside: str) -> str:
    """Where the speed-ups come from. `beside`: how they stand to those of "Why this speed?"."""
    if not known.strategy:
        return "What greedy drafting costs is not known from a run that never drafted greedily, so no speed-up is told."
    if not known.known:
        return "Press “Measure target alone”, and the speed-up to expect is shown too."
    assert known.v
    measured = {places - 1 for places, _ in known.verify_cost[1:] if places - 1 <= known.reach}
    # costs that were measured apart are known for every K: a few tell the line
    some = sorted(measured) if len(measured) <= 4 else [k for k in (1, 2, 4, 8, 16, 32) if k in measured]
    v = ", ".join(f"v({k}) = {known.v(k):.2f}" for k in some)
    return (
        f"The speed-up is what theory expects with c = {known.cost_ratio:.2f}, {v}, in straight lines between and beyond "
        f"(c and v: {known.source}; {beside}); it is not measured."
    )
