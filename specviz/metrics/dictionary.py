"""One run, every convention: what each engine would print about it, with the formula filled in.

"Acceptance" is said of at least six different quotients; a figure from one engine held against a figure from another
is mostly two definitions, not two models. Standard library only.

Example: a run with 87 steps, 259 drafted and 167 accepted has "accepted ÷ drafted" = 167 ÷ 259 = 0.645, which vLLM
prints as the draft acceptance rate and llama.cpp as draft acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from specviz.metrics.rates import Counts, Rate, count
from specviz.trace import StepRecord, Trace


@dataclass(frozen=True, slots=True)
class Entry:
    """One convention. `formula`: in words; `numbers`: the same with this run's; `value` None where there is no
    denominator. `called`: engine and the name it prints, for each that uses this one."""

    name: str
    formula: str
    numbers: str
    value: float | None
    called: tuple[str, ...]
    says: str


def dictionary(traces: Sequence[Trace]) -> list[Entry]:
    """Every convention over these runs (one, or one a prompt)."""
    steps = [step for trace in traces for step in trace.steps]
    counts = count(steps)
    drafting = [step for step in steps if step.tokens]
    own = [count(trace.steps) for trace in traces]
    entries = [
        _rate(
            "accepted ÷ tested (α)",
            counts.acceptance_rate,
            ("specviz: acceptance rate", "Leviathan et al.: α"),
            "Of the places the target looked at. Does not change with K while the models agree as often.",
        ),
        _rate(
            "accepted ÷ drafted",
            counts.drafted_share,
            (
                "vLLM: draft_acceptance_rate",
                "llama.cpp: draft acceptance (draft_n_accepted ÷ draft_n)",
                "SGLang: spec_accept_rate",
            ),
            "Untested drafts count as failures, so it falls with K although the models are unchanged.",
        ),
        _rate(
            "tokens ÷ target passes (τ)",
            counts.block_efficiency,
            (
                "vLLM: mean_acceptance_length",
                "SGLang: spec_accept_length",
                "EAGLE: compression ratio",
                "Leviathan et al.: block efficiency",
            ),
            "The target's own token of each step is counted. In a run cut short by a stop it is a little less.",
        ),
        _rate(
            "accepted ÷ target passes",
            Rate(counts.accepted, counts.steps),
            ("τ without the target's own token",),
            "One less than τ, where no step was cut short.",
        ),
        _rate(
            "accepted ÷ steps that drafted",
            Rate(counts.accepted, len(drafting)),
            ("mean accepted a draft",),
            "Steps without a draft (no match, no room) are left out.",
        ),
        _mean(
            "mean over steps of accepted ÷ drafted",
            [step_rate(step) for step in drafting],
            "A step with one drafted token weighs as much as one with eight: not the same as pooling.",
        ),
        _mean(
            "mean over prompts of accepted ÷ tested",
            [rate for c in own if (rate := c.acceptance_rate.value) is not None],
            "Each prompt weighs the same, however long its answer: what benchmark tables often print.",
        ),
    ]
    for place, (given, reached) in enumerate(
        zip(counts.conditional_by_position, counts.marginal_by_position, strict=True), start=1
    ):
        entries.append(
            _rate(
                f"accepted at position {place} ÷ steps that drafted",
                reached,
                (
                    f"vLLM: per-position acceptance rate, position {place - 1}",
                    "llama.cpp: acceptance rate per position",
                ),
                "Never rises with the position, since all before it must have been accepted.",
            )
        )
        entries.append(
            _rate(
                f"accepted at position {place} ÷ tested there",
                given,
                ("conditional acceptance",),
                "Given that all before it were accepted: flat if tests were independent.",
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
        "LM Studio total_draft_tokens_count": counts.accepted + counts.rejected + counts.untested,
    }


def step_rate(step: StepRecord) -> float:
    """Accepted ÷ drafted of a step that drafted."""
    return _accepted(step) / len(step.tokens)


def _accepted(step: StepRecord) -> int:
    return count([step]).accepted


def _rate(name: str, rate: Rate, called: tuple[str, ...], says: str) -> Entry:
    numbers = f"{rate.part} ÷ {rate.whole}" if rate.whole else "nothing to divide by"
    return Entry(name, name.split(" (")[0], numbers, rate.value, called, says)


def _mean(name: str, values: Sequence[float], says: str) -> Entry:
    numbers = f"mean of {len(values)}" if values else "nothing to average"
    return Entry(name, name, numbers, mean(values) if values else None, (), says)
