"""One run, every convention: what each engine would print about it, as codes with numerator and denominator.

"Acceptance rate" has at least six definitions; figures of two engines often differ by definition, not by model. Standard
library only; titles and formulas are made in `views.numbers`. Names are those of the engines' sources: of
TensorRT-LLM `RequestPerfMetrics` and `SpecDecodingStats` in `executor/types.h` (each iteration's, summed up here).

Example: a run with 87 steps, 259 drafted and 167 accepted has "drafted_share" = 167 ÷ 259 = 0.645, which vLLM prints as
the draft acceptance rate and llama.cpp as draft acceptance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any, Literal, NamedTuple

from specviz.core.records import StepRecord
from specviz.core.settings import NO_DRAFT
from specviz.metrics.rates import Counts, Rate, count
from specviz.traces.trace import Trace

Lack = Literal["", "no_denominator", "no_drafts", "no_values"]
"""Why an entry has no value: nothing to divide by, nothing was drafted, nothing to average."""


class Called(NamedTuple):
    """What an engine or a paper calls a figure. `note`: code of a remark, "tree_longest" or "formula"."""

    engine: str
    name: str
    note: Literal["", "tree_longest", "formula"] = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One convention: `value` = `part` ÷ `whole`, None where there is nothing to divide by, and why (`lack`).

    `code`: its name in the catalogue. Of "mean_acceptance_length" 1 is added to the quotient; of the means `whole` is how
    many were averaged; of "draft_overhead" both are seconds. `position`: position in the draft, 0 for all of them.
    """

    code: str
    part: float
    whole: float
    value: float | None
    called: tuple[Called, ...] = ()
    position: int = 0
    lack: Lack = ""


def dictionary(traces: Sequence[Trace]) -> list[Entry]:
    """Every convention over these runs (one, or one a prompt)."""
    steps = [step for trace in traces for step in trace.steps]
    counts = count(steps)
    drafting = [step for step in steps if step.tokens]
    own = [count(trace.steps) for trace in traces]
    return [
        _rate("acceptance_rate", counts.acceptance_rate, ("specviz", "acceptance rate"), ("Leviathan et al.", "α")),
        _rate(
            "drafted_share",
            counts.drafted_share,
            ("vLLM", "draft_acceptance_rate"),
            ("llama.cpp", "draft acceptance", "formula"),
            ("SGLang", "spec_accept_rate"),
            ("TensorRT-LLM", "acceptanceRate", "tree_longest"),
        ),
        _rate(
            "block_efficiency",
            counts.block_efficiency,
            ("SGLang", "spec_accept_length"),
            ("EAGLE", "compression ratio"),
            ("Leviathan et al.", "block efficiency"),
        ),
        _rate(
            "accepted_per_pass",
            Rate(counts.accepted, counts.steps if counts.drafted else 0),
            lack="no_drafts" if steps else "no_denominator",
        ),
        _drafts(counts),
        _mean("mean_of_steps", [step_rate(step) for step in drafting]),
        _mean("mean_of_prompts", [rate for c in own if (rate := c.acceptance_rate.value) is not None]),
        _overhead(steps),
        *_by_position(counts),
    ]


def _by_position(counts: Counts) -> Iterator[Entry]:
    pairs = zip(counts.conditional_by_position, counts.marginal_by_position, strict=True)
    for position, (given, reached) in enumerate(pairs, start=1):
        yield _rate(
            "position_of_drafts",
            reached,
            ("vLLM", f"per-position acceptance rate, position {position - 1}"),
            ("llama.cpp", "acceptance rate per position"),
            position=position,
        )
        yield _rate("position_of_tested", given, position=position)


def histogram(steps: Sequence[StepRecord]) -> list[int]:
    """Steps that drafted, by how many of their tokens were accepted, from 0 (vLLM: acceptance_histogram)."""
    kept = [_accepted(step) for step in steps if step.tokens]
    return [kept.count(n) for n in range(max(kept, default=-1) + 1)]


def counters(counts: Counts) -> dict[str, int]:
    """The run as the counters that engines export."""
    return {
        "vllm:spec_decode_num_drafts": counts.drafting_steps,
        "vllm:spec_decode_num_draft_tokens": counts.drafted,
        "vllm:spec_decode_num_accepted_tokens": counts.accepted,
        **{
            f'vllm:spec_decode_num_accepted_tokens_per_pos{{position="{i}"}}': n
            for i, n in enumerate(counts.accepted_by_position)
        },
        "SGLang spec_verify_ct": counts.steps,
        "llama.cpp draft_n": counts.drafted,
        "llama.cpp draft_n_accepted": counts.accepted,
        "TensorRT-LLM specDecodingStats.numDraftTokens": counts.drafted,
        "TensorRT-LLM specDecodingStats.numAcceptedTokens": counts.accepted,
        "LM Studio total_draft_tokens_count": counts.accepted + counts.rejected + counts.untested,
    }


def step_rate(step: StepRecord) -> float:
    """Accepted ÷ drafted of a step that drafted."""
    return _accepted(step) / len(step.tokens)


def _accepted(step: StepRecord) -> int:
    return count([step]).accepted


def _rate(code: str, rate: Rate, *called: tuple[Any, ...], position: int = 0, lack: Lack = "no_denominator") -> Entry:
    names = tuple(Called(*name) for name in called)
    return Entry(code, rate.part, rate.whole, rate.value, names, position, "" if rate.whole else lack)


def _drafts(counts: Counts) -> Entry:
    """τ of the steps that drafted. All of a step's own token is counted, even where a stop cut it off."""
    found = _rate(
        "mean_acceptance_length",
        Rate(counts.accepted, counts.drafting_steps),
        ("vLLM", "mean_acceptance_length"),
        ("llama.cpp", "mean acceptance length"),
        ("TensorRT-LLM", "specDecodingStats.acceptanceLength"),
    )
    return replace(found, value=None if found.value is None else 1 + found.value)


def _overhead(steps: Sequence[StepRecord]) -> Entry:
    draft_s, whole = sum(step.draft_s for step in steps), sum(step.step_s for step in steps)
    # to look for a draft in vain is to draft; where nothing was to be drafted, no more than the clock was read
    drafted = whole > 0 and any(step.tokens or _looked(step) for step in steps)
    name = (Called("TensorRT-LLM", "specDecodingStats.draftOverhead"),)
    if not drafted:
        return Entry("draft_overhead", draft_s, whole, None, name, lack="no_drafts")
    return Entry("draft_overhead", draft_s, whole, draft_s / whole, name)


def _looked(step: StepRecord) -> bool:
    """Whether a draft was asked for."""
    return step.settings.k > 0 and step.settings.strategy != NO_DRAFT


def _mean(code: str, values: Sequence[float]) -> Entry:
    if not values:
        return Entry(code, 0.0, 0, None, lack="no_values")
    return Entry(code, sum(values), len(values), mean(values))
