"""The study "Every K from this one run": what greedy drafting would have counted at other K, without decoding again."""

from __future__ import annotations

import gradio as gr

from specviz.core.settings import NO_DRAFT, SpecvizError
from specviz.core.words import say
from specviz.experiments.draft_predictions import Guessing, obstacle
from specviz.metrics.counterfactual import counterfactual, fixed_k, own_k, recorded
from specviz.metrics.diagnosis import TESTED
from specviz.metrics.pace import Pace
from specviz.metrics.rates import Counts, count
from specviz.metrics.theory import ended_early
from specviz.models.describe import describe
from specviz.models.pair import Pair
from specviz.sessions.cost_measurement import CostMeasurement
from specviz.sessions.model_cache import ModelCache
from specviz.traces.trace import Trace
from specviz.ui.piece import Piece
from specviz.ui.studies.context import StudyContext
from specviz.views import every_k as view
from specviz.views.amounts import amount, of, rate
from specviz.views.elements import changed
from specviz.views.theory import mixed, sourced

KS = range(1, 17)


def add(context: StudyContext) -> None:
    """Put it on the page."""
    with gr.Accordion(say("every_k.title"), open=False, elem_id="sv-every-k") as unfolded:
        with gr.Row(elem_classes="sv-study-row"):
            again = gr.Button(say("studies.look_again"), elem_id="sv-every-k-again", size="sm", scale=0, min_width=90)
        drawn = Piece("", elem_id="sv-every-k-table", padding=False)
    context.looks(unfolded, again, lambda trace: look(trace, context.services.cost_measurement), drawn)


def look(trace: Trace, cost_measurement: CostMeasurement) -> str:
    """The table for one run. Raises SpecvizError where nothing can be said of it."""
    if not trace.steps:
        raise SpecvizError(say("studies.no_step"))
    if trace.steps[-1].settings.temperature > 0:
        return _estimate(trace, cost_measurement.known(trace))
    if reason := obstacle(trace):
        raise SpecvizError(say("every_k.obstacle", reason=reason))
    pair = loaded(trace, cost_measurement.model_cache)
    guessing = Guessing(pair, trace)
    while cost_measurement.queue.submit(guessing.step).result():
        pass
    own = recorded(trace)
    guesses = [own.get(position, guess) for position, guess in enumerate(guessing.guesses)]
    found = counterfactual(trace, guesses, KS, guessing.end_ids)
    known = cost_measurement.known(trace, strategy="greedy")
    same = cost_measurement.known(trace).strategy == known.strategy
    beside = say("every_k.beside_same" if same else "every_k.beside_other")
    notes = " ".join(filter(None, [_what(trace, pair, len(own)), _check(trace, found), _costs(known, beside)]))
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
        which = say("every_k.pair", target=target, draft=draft) if draft else say("every_k.no_draft", target=target)
        raise SpecvizError(say("every_k.load", pair=which))
    return max(names, key=lambda pair: describe(pair)["dtype"] == trace.pair.get("dtype"))


def _what(trace: Trace, pair: Pair, guessed: int) -> str:
    """What the table is; `guessed`: positions whose draft token the run recorded itself."""
    name, dtype = pair.draft.name if pair.draft else "", describe(pair)["dtype"]
    used = [strategy for strategy in dict.fromkeys(step.strategy for step in trace.steps) if strategy != NO_DRAFT]
    words = [say("every_k.other_strategy", used=", ".join(used), name=name)] if set(used) - {"greedy"} else []
    words += [say("every_k.drafted_nothing", name=name)] if not used else []
    words += [
        say(
            "every_k.recomputed",
            tokens=amount("tokens", len(trace.output_ids)),
            name=name,
            guesses=amount("draft_tokens", guessed),
        )
    ]
    exact = dtype in ("float32", "float64") and dtype == trace.pair.get("dtype")
    return " ".join([*words, say("every_k.exact" if exact else "every_k.near_ties", dtype=dtype)])


def _check(trace: Trace, found: dict[int, Counts]) -> str:
    """The run's own K, as it was run and recomputed; nothing for a run that had no K of its own."""
    own = own_k(trace)
    if own is None or own not in found:
        return ""
    run, again = count(trace.steps), found[own]
    if (run.steps, run.acceptance_rate) == (again.steps, again.acceptance_rate):
        return "✓ " + say("every_k.matches", k=own, **_passes(run))
    table = {f"table_{name}": value for name, value in _passes(again).items()}
    return "✗ " + say("every_k.differs", k=own, **_passes(run), **table)


def _passes(counts: Counts) -> dict[str, str]:
    found = counts.acceptance_rate
    return {"passes": amount("target_passes", counts.steps), "accepted": of(found.part, found.whole)}


def _estimate(trace: Trace, known: Pace) -> str:
    if known.alpha.value is None:
        raise SpecvizError(f"{say('every_k.nothing_drafted')} {say('findings.draft_first')}")
    words = [say("every_k.estimate", alpha=rate(known.alpha), strategy=known.strategy)]
    if known.alpha.whole < TESTED:
        words.append(say("every_k.too_few", least=TESTED))
    if known.short:
        words.append(say("every_k.short", share=f"{ended_early(known.short):.0%}"))
    if known.mixed:
        words.append(say("every_k.mixed", settings=mixed(known)))
    notes = " ".join([*words, _costs(known, say("every_k.beside_estimate"))])
    return view.estimate(known, KS, fixed_k(trace), len(trace.output_ids), notes, changed(trace))


def _costs(known: Pace, beside: str) -> str:
    """Where the speed-ups come from. `beside`: how they compare with those of "Why this speed?"."""
    if not known.strategy:
        return say("every_k.no_greedy")
    if not known.known:
        return say("every_k.no_costs")
    assert known.v
    measured = {positions - 1 for positions, _ in known.verify_cost[1:] if positions - 1 <= known.reach}
    # costs that were measured separately are known for every K: a few are enough to read the line
    some = sorted(measured) if len(measured) <= 4 else [k for k in (1, 2, 4, 8, 16, 32) if k in measured]
    v = ", ".join(f"v({k}) = {known.v(k):.2f}" for k in some)
    return say("every_k.costs", c=f"{known.cost_ratio:.2f}", v=v, source=sourced(known), beside=beside)
