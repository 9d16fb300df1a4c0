"""How far to draft: what decides the K of each step, and whether drafting goes on after a token. Standard library only.

To add a policy: one function and one entry in `LENGTHS`; its menu entry and knobs come along. A policy keeps no state: it
is a function of the run's own records, so nothing leaks into another run, and setting K or the policy anew starts anew.

Two rules keep every policy lossless. A token is never dropped because of what it is, which would change q: drafting may
stop after a token that was kept, or before one is drawn. And a policy looks at tested tokens only: the coins of untested
ones are used again in the next step, and a K that had been chosen by them would make those coins loaded.

Example: with K = 4 on screen "heuristic" asks for 4, then 6 after four acceptances, then 5 after a rejection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from specviz.core.records import Fate, StepRecord
from specviz.core.settings import MAX_K, Knob, RunSettings, knob
from specviz.core.words import sentence

Price = Callable[[int], float]
"""``price(k)``: seconds of a step that drafts k, in target passes over one position: K·c + v(K)."""


def never(drafter_prob: Callable[[], float], settings: RunSettings) -> bool:
    """A draft that has begun goes on to its K."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """An entry of the menu "how far to draft". Only `help` and `how_far` have no default.

    `how_far(steps, settings, price)`: K of the next step, after `steps`. It calls `price` only where needed: the first call
    measures.
    `ends_after(drafter_prob, settings)`: whether drafting stops after a token, kept either way, to which the drafter's own
    softmax gave ``drafter_prob()``.
    `knobs`: by the names that they have in `RunSettings.options`.
    `measures`: whether it asks for the price of a step.
    """

    help: str
    how_far: Callable[[Sequence[StepRecord], RunSettings, Price], int]
    ends_after: Callable[[Callable[[], float], RunSettings], bool] = never
    knobs: Mapping[str, Knob] = field(default_factory=dict)
    measures: bool = False


def k_on_screen(steps: Sequence[StepRecord], settings: RunSettings, price: Price) -> int:
    """K, whatever happened before."""
    return settings.k


def heuristic(steps: Sequence[StepRecord], settings: RunSettings, price: Price) -> int:
    """The schedule "heuristic" of transformers' assisted generation: two more after a draft that was accepted whole,
    else one less. Begins at K, also when K is set anew; at least 1, at most `MAX_K`. K = 0 stays the target alone.

    A step that drafted nothing (no match, no room) changes nothing.
    """
    last = steps[-1] if steps else None
    if last is None or settings.k == 0 or _choice(last.settings) != _choice(settings):
        return settings.k
    if not last.tokens:
        return last.k
    return min(last.k + 2, MAX_K) if accepted_whole(last) else max(last.k - 1, 1)


CONFIDENCE = knob("confidence_threshold", 0.4, 0, 1, 0.05)


def unsure(drafter_prob: Callable[[], float], settings: RunSettings) -> bool:
    """Whether the draft model gave the token less than the threshold. The token itself is kept.

    transformers' `assistant_confidence_threshold` (0.4) looks at the token drawn, too; stopping before the draw by the
    largest probability of the distribution would be as lossless, but would cost a draft pass that proposes nothing. The
    probability is the model's own (temperature 1, no filter), as the screen shows it.
    """
    return drafter_prob() < settings.options.get("confidence_threshold", CONFIDENCE.default)


WINDOW = 64
"""Steps that "cost-aware" looks back: texts change, and what was found out long ago is forgotten and tried again."""
PROBE_EVERY = 8
POSITION_WEIGHT = 4


def cost_aware(steps: Sequence[StepRecord], settings: RunSettings, price: Price) -> int:
    """The K from 0 to that on screen with most tokens per second: expected tokens of a step ÷ its price.

    Leviathan et al. (arXiv 2211.17192, section 3.3) with acceptance by position instead of one α, and with a measured v(K)
    instead of 1. c and v are measured once, before the run needs them, and frozen and recorded, so that a run depends on
    no clock. Acceptance is counted over the last `WINDOW` steps made under the same settings. All positions together are
    estimated by Laplace's rule, (accepted + 1) ÷ (tested + 2); a single position starts from that estimate as if it had
    been tested `POSITION_WEIGHT` times, so a depth never tried counts as good as the others and is tried where that pays.
    At K = 0 nothing could be learnt: after `PROBE_EVERY` − 1 such steps in a row the next one drafts one token.
    """
    if settings.k == 0:
        return 0
    best = best_k(acceptance_by_position(steps, settings), price)
    idle = steps[-(PROBE_EVERY - 1) :]
    probe = len(idle) == PROBE_EVERY - 1 and all(s.k == 0 and _choice(s.settings) == _choice(settings) for s in idle)
    return 1 if best == 0 and probe else best


LENGTHS: dict[str, Length] = {
    "fixed": Length(help=sentence("help.fixed"), how_far=k_on_screen),
    "heuristic": Length(
        help=sentence("help.heuristic"),
        how_far=heuristic,
    ),
    "confidence": Length(
        help=sentence("help.confidence"),
        how_far=k_on_screen,
        ends_after=unsure,
        knobs={"confidence_threshold": CONFIDENCE},
    ),
    "cost-aware": Length(
        help=sentence("help.cost_aware", probe=PROBE_EVERY),
        how_far=cost_aware,
        measures=True,
    ),
}


def best_k(acceptance: Sequence[float], price: Price) -> int:
    """The K from 0 to len(acceptance) that maximises expected tokens ÷ price; of equals the smallest.

    `acceptance[i]`: chance that position i + 1 is accepted if all before it were. Expected tokens: 1 + Σ_i Π_{j ≤ i} a_j.
    Example: ``best_k([0.7] * 32, lambda k: 0.1 * k + 1)`` is 4.
    """
    best, tokens, reached = 0, 1.0, 1.0
    speed = tokens / price(0)
    for k, chance in enumerate(acceptance, start=1):
        reached *= chance
        tokens += reached
        if (here := tokens / price(k)) > speed * (1 + 1e-12):
            best, speed = k, here
    return best


def acceptance_by_position(steps: Sequence[StepRecord], settings: RunSettings) -> list[float]:
    """Estimates for positions 1 … K on screen, see `cost_aware`."""
    accepted, tested = [0] * settings.k, [0] * settings.k
    now = _circumstances(settings)
    for step in steps[-WINDOW:]:
        if step.tokens and _circumstances(step.settings) == now:
            kept = step.count(Fate.ACCEPTED)
            rejected = step.extra is not None and step.extra.fate is Fate.RESAMPLED
            for position in range(min(kept + rejected, settings.k)):
                tested[position] += 1
                accepted[position] += position < kept
    overall = (sum(accepted) + 1) / (sum(tested) + 2)
    return [(a + POSITION_WEIGHT * overall) / (t + POSITION_WEIGHT) for a, t in zip(accepted, tested, strict=True)]


def accepted_whole(step: StepRecord) -> bool:
    """Whether the walk went down to the deepest drafted position; of a tree one branch is enough."""
    return step.count(Fate.ACCEPTED) == step.depth > 0


def _choice(settings: RunSettings) -> tuple[str, int]:
    """What a person chose; once it changes a policy starts anew."""
    return settings.draft_length, settings.k


def _circumstances(settings: RunSettings) -> tuple[object, ...]:
    """What acceptance depends on beside the text."""
    filters = (settings.temperature, settings.top_k, settings.top_p, settings.repetition_penalty)
    return settings.strategy, settings.rule, dict(settings.options), *filters
