"""A run in a dozen numbers, for programs: strict JSON, None where something was not measured or there is no denominator."""

from __future__ import annotations

from typing import Any

from specviz.metrics.rates import count
from specviz.traces.trace import Trace
from specviz.verification import lossy


def summary(trace: Trace) -> dict[str, Any]:
    """Counts, rates and speed of a trace. `speed_up` and `same_as_alone` need the target alone measured beside it.

    `lossless`: whether the output has the target's distribution; False where a drafted token met a rule that changes it.
    """
    counts, seconds = count(trace.steps), sum(step.step_s for step in trace.steps)
    rate = counts.emitted / seconds if seconds > 0 else None
    alone = trace.baseline.tokens_per_s if trace.baseline else None
    return {
        "text": trace.text,
        "stop": trace.stop,
        "lossless": not lossy(trace.steps),
        "tokens": counts.emitted,
        "target_passes": counts.steps,
        "drafted": counts.drafted,
        "tested": counts.acceptance_rate.whole,
        "accepted": counts.accepted,
        "acceptance_rate": counts.acceptance_rate.value,
        "mean_draft_length": counts.mean_draft_length.value,
        "block_efficiency": counts.block_efficiency.value,
        "tokens_per_s": rate,
        "target_alone_tokens_per_s": alone,
        "speed_up": rate / alone if rate and alone else None,
        "same_as_alone": trace.baseline.identical if trace.baseline else None,
        "target": trace.pair.get("target"),
        "draft": trace.pair.get("draft"),
        "dtype": trace.pair.get("dtype"),
    }
