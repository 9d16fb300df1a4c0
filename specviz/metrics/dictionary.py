"""One run, every convention: what each engine would print about it, with the formula filled in.

"Acceptance" is said of at least six different quotients; a figure from one engine held against a figure from another
is mostly two definitions, not two models. Standard library only. Names and formulas are those of the engines' sources: of
TensorRT-LLM `RequestPerfMetrics` and `SpecDecodingStats` in `executor/types.h` (each iteration's, summed up here).

Example: a run with 87 steps, 259 drafted and 167 accepted has "accepted ÷ drafted" = 167 ÷ 259 = 0.645, which vLLM
prints as the draft acceptance rate and llama.cpp as draft acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from specviz.core.records import StepRecord
from specviz.core.settings import NO_DRAFT
from specviz.metrics.rates import Counts, Rate, count
from specviz.traces.trace import Trace

NOTHING, NO_DRAFTS = "nothing to divide by", "nothing was drafted"


@dataclass(frozen=True, slots=True)
class Entry:
    """One convention. `title`: what people call it; `formula`: in words; `numbers`: the same with this run's; `value`
    None where there is no denominator. `called`: engine and the name it prints, for each that uses this one. `place`:
    the position in the draft that it is about, 0 for all of them."""

    name: str
    title: str
    formula: str
    numbers: str
    value: float | None
    called: tuple[str, ...]
    says: str
    place: int = 0


def dictionary(traces: Sequence[Trace]) -> list[Entry]:
    """Every convention over these runs (one, or one a prompt)."""
    steps = [step for trace in traces for step in trace.steps]
    counts = count(steps)
    drafting = [step for step in steps if step.tokens]
    own = [count(trace.steps) for trace in traces]
    entries = [
        _rate(
            "accepted ÷ tested (α)",
            "acceptance rate α",
            counts.acceptance_rate,
            ("specviz: acceptance rate", "Leviathan et al.: α"),
            "Of the places the target looked at. Does not change with K while the models agree as often.",
        ),
        _rate(
            "accepted ÷ drafted",
            "share of drafted",
            counts.drafted_share,
            (
                "vLLM: draft_acceptance_rate",
                "llama.cpp: draft acceptance (draft_n_accepted ÷ draft_n)",
                "SGLang: spec_accept_rate",
                "TensorRT-LLM: acceptanceRate (of a tree it counts the longest branch only)",
            ),
            "Untested drafts count as failures, so it falls with K although the models are unchanged.",
        ),
        _rate(
            "tokens ÷ target passes (τ)",
            "block efficiency τ",
            counts.block_efficiency,
            ("SGLang: spec_accept_length", "EAGLE: compression ratio", "Leviathan et al.: block efficiency"),
            "The target's own token of each step is counted. In a run cut short by a stop it is a little less.",
        ),
        _rate(
            "accepted ÷ target passes",
            "accepted a pass",
            Rate(counts.accepted, counts.steps if counts.drafted else 0),
            ("τ without the target's own token",),
            "One less than τ, where no step was cut short.",
            nothing=NO_DRAFTS if steps else NOTHING,
        ),
        _drafts(counts),
        _mean(
            "mean over steps of accepted ÷ drafted",
            "mean of steps",
            [step_rate(step) for step in drafting],
            "A step with one drafted token weighs as much as one with eight: not the same as pooling.",
        ),
        _mean(
            "mean over prompts of accepted ÷ tested",
            "mean of prompts",
            [rate for c in own if (rate := c.acceptance_rate.value) is not None],
            "Each prompt weighs the same, however long its answer: what benchmark tables often print.",
        ),
        _overhead(steps),
    ]
    for place, (given, reached) in enumerate(
        zip(counts.conditional_by_position, counts.marginal_by_position, strict=True), start=1
    ):
        entries.append(
            _rate(
                f"accepted at position {place} ÷ steps that drafted",
                f"position {place}, of drafts",
                reached,
                (
                    f"vLLM: per-position acceptance rate, position {place - 1}",
                    "llama.cpp: acceptance rate per position",
                ),
                "Never rises with the position, since all before it must have been accepted.",
                place,
            )
        )
        entries.append(
            _rate(
                f"accepted at position {place} ÷ tested there",
                f"position {place}, of tested",
                given,
                ("conditional acceptance",),
                "Given that all before it were accepted: flat if tests were independent.",
                place,
            )
        )
    return entries


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
            for i, n in enumerate(counts.place_accepted)
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


def _rate(
    name: str, title: str, rate: Rate, called: tuple[str, ...], says: str, place: int = 0, nothing: str = NOTHING
) -> Entry:
    numbers = f"{rate.part} ÷ {rate.whole}" if rate.whole else nothing
    return Entry(name, title, name.split(" (")[0], numbers, rate.value, called, says, place)


def _drafts(counts: Counts) -> Entry:
    """τ of the steps that drafted. All of a step's own token is counted, even where a stop cut it off."""
    rate = Rate(counts.accepted, counts.drafting_steps)
    return Entry(
        "1 + accepted ÷ steps that drafted",
        "mean acceptance length",
        "1 + accepted ÷ steps that drafted",
        f"1 + {rate.part} ÷ {rate.whole}" if rate.whole else NOTHING,
        None if rate.value is None else 1 + rate.value,
        (
            "vLLM: mean_acceptance_length",
            "llama.cpp: mean acceptance length",
            "TensorRT-LLM: specDecodingStats.acceptanceLength",
        ),
        "Steps without a draft (no match, no room) are left out: above τ wherever there are some.",
    )


def _overhead(steps: Sequence[StepRecord]) -> Entry:
    draft_s, whole = sum(step.draft_s for step in steps), sum(step.step_s for step in steps)
    # to look for a draft in vain is to draft; where nothing was to be drafted, no more than the clock was read
    drafted = whole > 0 and any(step.tokens or _looked(step) for step in steps)
    return Entry(
        "time of drafting ÷ time of all steps",
        "draft overhead",
        "time of drafting ÷ time of all steps",
        f"{1000 * draft_s:,.1f} ms ÷ {1000 * whole:,.1f} ms" if drafted else NO_DRAFTS,
        draft_s / whole if drafted else None,
        ("TensorRT-LLM: specDecodingStats.draftOverhead",),
        "What drafting takes of the time, whether its tokens were kept or not, and whether it found any.",
    )


def _looked(step: StepRecord) -> bool:
    """Whether a draft was asked for."""
    return step.settings.k > 0 and step.settings.strategy != NO_DRAFT


def _mean(name: str, title: str, values: Sequence[float], says: str) -> Entry:
    numbers = f"mean of {len(values)}" if values else "nothing to average"
    return Entry(name, title, name, numbers, mean(values) if values else None, (), says)
