"""What a run says about its own speed: α, c and v as they were measured in it, and its speed-up at each K it used.

Held against one target pass over a single position: the run's own steps without a draft where there are many (the machine
was as quick in them as in all others), else those of the target alone beside the run, else the few. Only the strategy of
the last drafting step counts, since c and v are of a strategy. Of a tree, v is the cost by its depth: a pass over all
tokens of a tree K deep. Standard library only.

Example: a draft of 4 tokens in 28 ms beside a target pass of 57 ms makes c = 28 ÷ 4 ÷ 57 = 0.12.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import Literal

from specviz.core.costs import VerifyCost, interpolated
from specviz.core.records import Costs, DraftEnd, StepRecord
from specviz.metrics.rates import Rate, count
from specviz.metrics.theory import Breakdown, Short, Theory, breakdown
from specviz.metrics.trust import ENOUGH, Doubt, beyond, disturbed, too_good, uneven
from specviz.traces.trace import Trace

FEWEST = 3
"""Steps at one depth that make a median worth calling measured."""
FIXED = "fixed"
AS_ASKED = (DraftEnd.K, DraftEnd.CONFIDENCE, DraftEnd.NONE)
"""Why drafting ends where nothing stood in its way: as many as asked, a policy that had enough, or none asked."""


SingleOf = Literal["", "own_steps", "target_alone"]
"""What a target pass over one position was taken from: the run's steps without a draft, or the target alone."""
Source = Literal["", "run", "here", "frozen"]
"""Where c and v come from: the run's own steps, a measurement on this machine, or one kept with the run."""


@dataclass(frozen=True, slots=True)
class Point:
    """A speed-up that was measured. `k`: as set, or the mean depth where the draft length was chosen step by step."""

    k: float
    speed_up: float
    steps: int
    tokens: int
    adaptive: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """What is known of a run; None, or no points, where it was not measured.

    `alpha` of tested positions, `by_position`: conditional acceptance of positions 1, 2, … `verify_cost`: pairs of (depth + 1,
    ratio) from (1, 1.0) on, never falling. `single_s`: a target pass over one position, in seconds, and `single_of` what it
    was taken from, `single_n` passes of it. `source`: where c and v come from. `k`: the K that most steps were set
    to, or their mean depth where it was chosen step by step. `reach`: v is measured up to this K. `tree`: whether drafts
    were trees. `idle`: steps that were asked to draft and found nothing, of the `steps` that had room for a draft. `short`:
    drafts that ended before their K for another reason than being told to, the idle ones and those without room among
    them, as shares of all steps. `noisy`: (depth, ratio) where v came out below 1 or above that of more positions: noise,
    and so stands otherwise in `verify_cost`. `alone_s`: a pass of the target alone, where that was timed; `uneven` and
    `others`: doubts about the times. `whole`: speed-up of the whole run, other settings included. `mixed`:
    names of the settings that were changed between the steps that α is of.
    """

    strategy: str
    alpha: Rate
    by_position: tuple[float, ...]
    cost_ratio: float | None
    verify_cost: tuple[tuple[int, float], ...]
    single_s: float | None
    single_of: SingleOf
    source: Source
    k: int
    reach: int
    tree: bool
    idle: int
    steps: int
    points: tuple[Point, ...]
    short: Short = ()
    noisy: tuple[tuple[int, float], ...] = ()
    alone_s: float | None = None
    uneven: Doubt | None = None
    others: Doubt | None = None
    whole: float | None = None
    mixed: tuple[str, ...] = ()
    single_n: int = 0

    @property
    def v(self) -> VerifyCost | None:
        """v(K) as a function; None where it was not measured."""
        return interpolated(self.verify_cost) if len(self.verify_cost) > 1 else None

    @property
    def known(self) -> bool:
        """Whether α, c and v are all there."""
        return self.alpha.value is not None and self.cost_ratio is not None and self.v is not None

    def theory(self) -> Theory:
        """The formula with the values of a run that is `known`."""
        alpha, c, v = self.alpha.value, self.cost_ratio, self.v
        assert alpha is not None and c is not None and v is not None
        return Theory(alpha, c, v, self.short)

    def main(self) -> Point | None:
        """The measured speed-up with most steps behind it."""
        return max(self.points, key=lambda point: point.steps, default=None)

    def explained(self) -> Breakdown | None:
        """From the textbook to what was measured at the K with most steps, cause by cause; None where not measured."""
        point, v, alpha = self.main(), self.v, self.alpha.value
        if point is None or v is None or alpha is None or self.cost_ratio is None or (k := round(point.k)) < 1:
            return None
        # positions that were never tested go on as the last one that was
        positions = list(self.by_position[:k]) or [alpha]
        return breakdown(
            alpha, positions + [positions[-1]] * (k - len(positions)), k, self.cost_ratio, v, point.speed_up, self.short
        )

    def doubt(self) -> Doubt | None:
        """Why the measured speed-up cannot be trusted; None where it can."""
        point, parts = self.main(), self.explained()
        if point is None:
            return self.uneven
        unlikely = too_good(parts.measured, parts.measured / parts.overhead) if parts else None
        return beyond(point.speed_up, point.tokens / point.steps) or self.uneven or self.others or unlikely


def pace(trace: Trace, strategy: str = "") -> Pace:
    """Read it off a trace, for `strategy` or else the last that drafted."""
    drafting = [step for step in trace.steps if step.tokens and strategy in ("", step.strategy)]
    strategy = drafting[-1].strategy if drafting else ""
    mine = [step for step in drafting if step.strategy == strategy]
    # a policy may have said 0; without one that is the target alone
    asked = [step for step in trace.steps if step.strategy == strategy and step.settings.k > 0] if drafting else []
    # a step near the limit had no room for a draft: that is no drafter that found nothing
    could = [step for step in asked if step.k > 0 and (step.tokens or step.draft_stop != DraftEnd.ROOM)]
    counts = count(mine)
    single, of, single_n = _single(trace)
    verify_cost, noisy = _verify_cost(mine, single)
    alone = trace.baseline.step_s if trace.baseline and any(trace.baseline.step_s) else ()
    tokens_per_s = trace.baseline.tokens_per_s if trace.baseline else None
    return Pace(
        strategy=strategy,
        alpha=counts.acceptance_rate,
        by_position=tuple(rate.value or 0.0 for rate in counts.conditional_by_position),
        cost_ratio=median(step.draft_s / step.depth for step in mine) / single if single and mine else None,
        verify_cost=verify_cost,
        single_s=single,
        single_of=of,
        single_n=single_n,
        source="run" if single and mine else "",
        k=_usual_k(mine),
        reach=verify_cost[-1][0] - 1,
        tree=any(step.depth != len(step.tokens) for step in mine),
        idle=sum(not step.tokens for step in could),
        steps=len(could),
        points=_points(asked, tokens_per_s),
        short=_short(asked),
        noisy=noisy,
        alone_s=median(alone) if alone else None,
        uneven=uneven(alone),
        others=disturbed(trace.others + trace.baseline.others) if trace.baseline else None,
        whole=_speed_up(trace.steps, tokens_per_s),
        mixed=_mixed(mine),
    )


def with_costs(found: Pace, costs: Costs, nodes: Callable[[int], int], source: Source, most: int) -> Pace:
    """The same with costs that were measured apart (`Costs`, by positions); `nodes`: tokens of a draft that is K deep."""
    by_positions = interpolated(costs.verify_cost)
    verify = [(1, 1.0), *((k + 1, by_positions(nodes(k))) for k in range(1, most + 1))]
    reach = max((k for k in range(1, most + 1) if nodes(k) < costs.verify_cost[-1][0]), default=0)
    return replace(found, cost_ratio=costs.cost_ratio, verify_cost=tuple(verify), source=source, reach=reach, noisy=())


def _usual_k(steps: Sequence[StepRecord]) -> int:
    """The K that most steps were set to, the smallest of equals; the mean depth where a policy chose; 0 without a step."""
    fixed = Counter(step.settings.k for step in steps if step.settings.draft_length == FIXED)
    if 2 * sum(fixed.values()) >= len(steps):
        return max(fixed, key=lambda k: (fixed[k], -k), default=0)
    return max(1, round(mean(step.depth for step in steps)))


def _single(trace: Trace) -> tuple[float | None, SingleOf, int]:
    """`Pace.single_s`, `Pace.single_of` and `Pace.single_n`."""
    alone = trace.baseline.step_s if trace.baseline else ()
    bare = [step.verify_s for step in trace.steps if not step.tokens]
    if len(bare) >= (ENOUGH if any(alone) else FEWEST) and median(bare) > 0:
        return median(bare), "own_steps", len(bare)
    return (median(alone), "target_alone", len(alone)) if any(alone) else (None, "", 0)


def _short(steps: Sequence[StepRecord]) -> Short:
    early = Counter(s.depth for s in steps if s.depth < s.k and s.draft_stop not in AS_ASKED)
    return tuple((depth, n / len(steps)) for depth, n in sorted(early.items()))


def _verify_cost(
    steps: Sequence[StepRecord], single: float | None
) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]]:
    """`Pace.verify_cost` and `Pace.noisy`."""
    by_depth: defaultdict[int, list[float]] = defaultdict(list)
    for step in steps:
        by_depth[step.depth].append(step.verify_s)
    # a few short drafts near the end say little beside many long ones
    enough = {depth: times for depth, times in by_depth.items() if len(times) >= FEWEST} or by_depth
    if single is None or not enough:
        return ((1, 1.0),), ()
    ratios = {depth: median(times) / single for depth, times in sorted(enough.items())}
    # noise only adds time, and more positions never take less: so the least of as many or more, and at least 1
    known = {d: max(1.0, min(r for other, r in ratios.items() if other >= d)) for d in ratios}
    noisy = tuple((d, r) for d, r in ratios.items() if r != known[d])
    return ((1, 1.0), *((d + 1, r) for d, r in known.items())), noisy


def _points(steps: Sequence[StepRecord], alone: float | None) -> tuple[Point, ...]:
    groups: defaultdict[tuple[int, bool], list[StepRecord]] = defaultdict(list)
    for step in steps:
        adaptive = step.settings.draft_length != FIXED
        groups[0 if adaptive else step.k, adaptive].append(step)
    found = []
    for (k, adaptive), group in sorted(groups.items()):
        if (gain := _speed_up(group, alone)) is not None:
            # where a draft found no room or no match, the policy's own choice is not to be seen
            chosen = [step.depth for step in group if step.draft_stop in AS_ASKED] or [step.depth for step in group]
            depth = mean(chosen) if adaptive else float(k)
            tokens = sum(len(step.emitted_ids) for step in group)
            found.append(Point(depth, gain, len(group), tokens, adaptive))
    return tuple(found)


def _speed_up(steps: Sequence[StepRecord], alone: float | None) -> float | None:
    """Tokens a second of these steps ÷ `alone`, those of the target alone."""
    seconds, tokens = sum(step.step_s for step in steps), sum(len(step.emitted_ids) for step in steps)
    return tokens / seconds / alone if alone and seconds > 0 else None


def _mixed(steps: Sequence[StepRecord]) -> tuple[str, ...]:
    """Which settings were changed between these steps, of those that move α or the speed-up."""
    names = ("k", "draft_length", "rule", "temperature", "top_k", "top_p", "repetition_penalty")
    return tuple(name for name in names if len({getattr(step.settings, name) for step in steps}) > 1)
