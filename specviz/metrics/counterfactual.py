"""Every K from one run: what greedy drafting would have counted at another K, without decoding again. Standard library.

At temperature 0 with a lossless rule the output is the target's own, whatever drafted it. So where a step of K tokens
begins, the drafter sees a prefix of that output, and goes on seeing one until its first wrong guess, which is rejected.
What it would guess at each position of the output (`experiments.draft_predictions`: one pass) therefore decides every run
of greedy chains over this text. Example, output [5, 6, 7, 8], guesses [5, 9, 7, 8], K = 2: one token accepted and one rejected,
then (room for one more) one accepted and a bonus: 2 passes.

Exact as far as the arithmetic is (float32; in bfloat16 near-ties may fall otherwise in another pass, which is why guesses
that the run made itself are taken as it made them), with one exception: after a wrong guess the drafter goes on from a
text that nobody has, and could end its draft early there by an end token. `drafted` and `untested` count K tokens in
such a step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from specviz.core.costs import VerifyCost
from specviz.core.records import Fate
from specviz.metrics.pace import FIXED
from specviz.metrics.rates import Counts
from specviz.traces.trace import Trace

Guess = int | None
"""None: the drafter cannot read so far."""


def counterfactual(
    trace: Trace, guesses: Sequence[Guess], ks: Iterable[int], end_ids: Collection[int] = ()
) -> dict[int, Counts]:
    """Counts of the runs that greedy drafting at each of `ks` makes of this trace's output.

    `guesses[i]`: the drafter's likeliest token after prompt and `i` tokens of the output. `end_ids`: tokens after which it
    drafts no further. Of a trace that has not ended, the steps that are known whole are counted.
    """
    return {k: _replayed(trace, guesses, k, end_ids) for k in ks}


def recorded(trace: Trace) -> dict[int, int]:
    """The guesses that the run's own greedy steps made of its output, by position: those that were tested."""
    found: dict[int, int] = {}
    for step in trace.steps:
        if step.strategy != "greedy":
            continue
        for position, token in enumerate(step.tokens, start=step.start):
            found[position] = token.token_id
            if token.fate is not Fate.ACCEPTED:
                break
    return {position: guess for position, guess in found.items() if position < len(trace.output_ids)}


def _replayed(trace: Trace, guesses: Sequence[Guess], k: int, end_ids: Collection[int]) -> Counts:
    output, length = trace.output_ids, len(trace.output_ids)
    limit = length if trace.stop in ("length", "context") else trace.steps[-1].settings.max_new_tokens
    steps = drafted = accepted = resampled = bonus = drafting = at = 0
    accepted_by_position, tested_by_position = [0] * k, [0] * k
    while at < length:
        wish = _draft_length(guesses[at:], min(k, limit - at - 1), output[at:], end_ids)
        kept = 0
        while kept < wish and at + kept < length and guesses[at + kept] == output[at + kept]:
            kept += 1
        if at + kept == length and trace.stop is None:
            break  # what comes next nobody knows yet
        cut = at + kept == length  # the run ended by an accepted token, so the target adds none
        resamples = kept < wish and not cut
        steps += 1
        drafted, accepted, drafting = drafted + wish, accepted + kept, drafting + bool(wish)
        resampled, bonus = resampled + resamples, bonus + (not resamples and not cut)
        for position in range(kept):
            accepted_by_position[position] += 1
        for position in range(kept + resamples):
            tested_by_position[position] += 1
        at += kept + (not cut)
    reached = max((position + 1 for position in range(k) if tested_by_position[position]), default=0)
    return Counts(
        steps=steps,
        emitted=at,
        drafted=drafted,
        tested=accepted + resampled,
        accepted=accepted,
        rejected=resampled,
        untested=drafted - accepted - resampled,
        resampled=resampled,
        bonus=bonus,
        drafting_steps=drafting,
        accepted_by_position=tuple(accepted_by_position[:reached]),
        tested_by_position=tuple(tested_by_position[:reached]),
    )


def _draft_length(guesses: Sequence[Guess], most: int, output: Sequence[int], end_ids: Collection[int]) -> int:
    """How many tokens are drafted from here: `most`, or fewer after an end token or where the drafter cannot read on."""
    here = guesses[: max(0, most)]
    readable = here.index(None) if None in here else max(0, most)
    for position, guess in enumerate(here[:readable]):
        if guess in end_ids:
            return position + 1
        if guess != output[position]:
            break  # from here on it drafts from a text of its own
    return readable


def fixed_k(trace: Trace) -> int | None:
    """The K of a run whose every step was to draft the same fixed K; None for any other."""
    chosen = {(s.settings.draft_length, s.settings.k) for s in trace.steps}
    policy, k = chosen.pop() if len(chosen) == 1 else ("", 0)
    return k or None if policy == FIXED else None


def own_k(trace: Trace) -> int | None:
    """The same for a run that drafted greedy chains throughout."""
    return fixed_k(trace) if all(s.strategy == "greedy" for s in trace.steps) else None


def expected_speed_up(tokens_a_pass: float, drafted_a_pass: float, c: float, v: VerifyCost) -> float:
    """τ ÷ (drafted · c + v(drafted)): what theory expects of a run with these averages, never a measurement."""
    return tokens_a_pass / (drafted_a_pass * c + v(round(drafted_a_pass)))
