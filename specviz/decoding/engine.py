"""The loop: draft, one target pass, verify, emit. One call of `step` is one step, whoever calls it.

`decoding.algorithm` states the same method in the papers' letters, in fifteen lines; a test holds the two equal.

A Step button, Play and "run to the end" are the same call. Settings are read at every step, so K, strategy, rule and
temperature may change in mid-run, and each record says what it was made under. The state between steps is plain data
(ids, seed, steps so far); the caches only make it fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torch import Tensor

from specviz.core.coins import coins_of
from specviz.core.draft import Draft
from specviz.core.records import Costs, DraftEnd, StepRecord, StopReason
from specviz.core.runtime import Clock
from specviz.core.sampling import BadLogits, shape
from specviz.core.settings import NO_DRAFT, Knob, RunSettings, SettingsError, SpecvizError
from specviz.core.stopping import first_stop
from specviz.core.words import sentence
from specviz.decoding import calibration
from specviz.decoding.recording import StepOutcome, Times, record
from specviz.decoding.state import Run
from specviz.drafting import LENGTHS, STRATEGIES, Readers
from specviz.models.cached import CachedModel
from specviz.traces.trace import Trace
from specviz.verification import RULES, Walk, rule_of, verify

if TYPE_CHECKING:
    from specviz.models.pair import Pair


MAX_PROMPT_CHARS = 200_000
CHUNK = 512
"""Positions of a prompt read at once: between two chunks of a long one others can take a turn."""


def start(
    pair: Pair, prompt: str | Sequence[int], settings: RunSettings, costs: Mapping[str, Costs] | None = None
) -> Run:
    """A run whose prompt has been read. Takes and raises what `begin` does."""
    run = begin(pair, prompt, settings, costs)
    while read(run):
        pass
    return run


def read(run: Run) -> bool:
    """Read the next `CHUNK` positions of the prompt, timed as prefill; whether there is more of it to read."""
    clock = Clock({run.pair.target.device})
    run.read = not run.readers.target.catch_up(run.prompt_ids, CHUNK)
    run.prefill_s += clock.lap()
    return not run.read


def begin(
    pair: Pair, prompt: str | Sequence[int], settings: RunSettings, costs: Mapping[str, Costs] | None = None
) -> Run:
    """A run whose prompt is still to be `read`.

    `prompt`: a text, or token ids. `costs`: those of another run (`Trace.costs`), else measured when first needed.
    Raises SpecvizError for a prompt that is empty or too long and SettingsError for settings that do not fit.
    """
    codec, context = pair.target.codec, pair.target.context
    if isinstance(prompt, str):
        if len(prompt) > MAX_PROMPT_CHARS:  # told before a tokenizer is kept busy with it
            raise SpecvizError(
                sentence("errors.prompt_characters", given=f"{len(prompt):,}", most=f"{MAX_PROMPT_CHARS:,}")
            )
        ids = codec.encode(prompt, settings.chat)
    else:
        if not isinstance(prompt, Sequence):
            raise SpecvizError(sentence("errors.prompt_kind"))
        ids = [_token_id(i, pair.target.vocab_size) for i in prompt]
        if not ids:
            raise SpecvizError(sentence("errors.prompt_empty"))
        prompt = codec.decode(ids)
    if len(ids) >= context:
        raise SpecvizError(sentence("errors.prompt_long", given=len(ids), name=pair.target.name, most=context))
    check(pair, settings)
    target = CachedModel(pair.target)
    readers = Readers(target, CachedModel(pair.draft, target.columns) if pair.draft else None)
    run = Run(pair, prompt, ids, settings.seed, readers, costs=dict(costs or {}))
    if STRATEGIES[settings.strategy].ready(pair):
        run.drafter(settings.strategy)  # before the prompt is read: it may want what the target's pass leaves behind
    return run


def check_names(settings: RunSettings) -> None:
    """Raise SettingsError where strategy, draft length or rule is not in its table."""
    tables = (("strategy", STRATEGIES), ("draft_length", LENGTHS), ("rule", RULES))
    for field_name, table in tables:
        name = getattr(settings, field_name)
        if name not in table:
            raise SettingsError(sentence(f"errors.unknown_{field_name}", name=repr(name), known=", ".join(table)))


def check(pair: Pair, settings: RunSettings) -> None:
    """Raise SettingsError where a name is not in its table, a knob is unknown, or the strategy does not fit the pair."""
    check_names(settings)
    strategy = STRATEGIES[settings.strategy]
    chosen = (strategy.knobs, LENGTHS[settings.draft_length].knobs, RULES[settings.rule].knobs)
    for name, value in settings.options.items():
        # knobs of other strategies are carried along, so that switching back finds them as they were
        own = [knobs[name] for knobs in chosen if name in knobs]
        tables = [entry.knobs for table in (STRATEGIES, LENGTHS, RULES) for entry in table.values()]
        if not (known := own or [knobs[name] for knobs in tables if name in knobs]):
            raise SettingsError(sentence("errors.knob_unknown", name=repr(name)))
        _check_by_any(known, value)
    if reason := strategy.fits(pair) or strategy.objection(pair, settings):
        raise SettingsError(sentence("errors.strategy_unfit", name=repr(settings.strategy), reason=reason))


def _check_by_any(knobs: Sequence[Knob], value: float) -> None:
    """Strategies may share a knob's name but not its range: one that allows the value is enough."""
    *others, last = knobs
    for knob in others:
        with suppress(SettingsError):
            knob.check(value)
            return
    last.check(value)


def step(run: Run, settings: RunSettings) -> StepRecord:
    """Choose K, draft, verify, emit, record. Appends to `run` and returns the record; on an error `run` is unchanged.

    Must not be called on a finished run. Raises SpecvizError for settings that do not fit and NaN logits of the target.
    """
    if run.finished(settings):
        raise SpecvizError(sentence("errors.run_ended", stop=run.stop))
    check(run.pair, settings)
    settings = replace(settings, seed=run.seed)  # the record states what the random numbers were made of
    asked, k = _choose_k(run, settings)
    clock = Clock(run.pair.devices)
    draft, catch_up_s = _draft(run, settings, k, clock)
    draft_s = clock.lap()
    logits, probs, walk = _verify(run, settings, draft)
    verify_s = clock.lap()
    emitted, ending = _emit(run, settings, draft, walk)
    times = Times(draft_s, verify_s, clock.lap(), catch_up_s)
    target = run.readers.target
    made = record(
        StepOutcome(
            index=len(run.steps),
            start=len(run.output_ids),
            settings=settings,
            asked=asked,
            draft=draft,
            draft_end=_draft_end(draft, k, asked, settings),
            walk=walk,
            logits=logits,
            probs=probs,
            emitted=emitted,
            stop=ending.stop,
            times=times,
            positions=target.positions,
            show=target.loaded.codec.show,
        )
    )
    run.output_ids += emitted
    run.stop, run.cut, run.stops = ending.stop, ending.cut, ending.stops
    run.steps.append(made)
    return made


def advance(run: Run, settings: RunSettings) -> bool:
    """One piece of work: the next `CHUNK` positions of the prompt, or one step. Whether there is more to do.

    Raises what `step` does.
    """
    if not run.read:
        read(run)
    elif not run.finished(settings):
        step(run, settings)
    return not run.read or not run.finished(settings)


def finish(run: Run, settings: RunSettings) -> None:
    """Read what is left of the prompt, then step until the run ends. Raises what `step` does."""
    while advance(run, settings):
        pass


def _choose_k(run: Run, settings: RunSettings) -> tuple[int, int]:
    """K as the draft length chooses it, and how much of it there is room for: all that is drafted could be emitted."""
    run.drafter(settings.strategy).adopt(settings)
    asked = settings.k
    if settings.strategy != NO_DRAFT:
        price = calibration.prices(run.costs, run.pair, settings)
        asked = LENGTHS[settings.draft_length].how_far(run.steps, settings, price)
    return asked, min(asked, run.limit(settings)[0] - 1)


def _draft(run: Run, settings: RunSettings, k: int, clock: Clock) -> tuple[Draft, float]:
    """At most `k` tokens deep, and the seconds that caches took to catch up before."""
    drafter, ids, catch_up_s = run.drafter(settings.strategy), run.ids, 0.0
    try:
        if k and drafter.behind(ids):
            drafter.catch_up(ids)
        run.readers.target.catch_up(ids)
        catch_up_s = clock.lap()
        return drafter.propose(ids, k, settings, coins_of(run.seed), len(run.output_ids)), catch_up_s
    except BadLogits:  # where it was the target's, the pass below says so
        return Draft(stop=DraftEnd.FAILED), catch_up_s


def _verify(run: Run, settings: RunSettings, draft: Draft) -> tuple[Tensor, Tensor, Walk]:
    """One target pass over the draft: its logits and probabilities [drafted + 1, vocabulary], and what is accepted."""
    ids = run.ids
    logits = run.readers.target.tree_logits(ids, draft.token_ids, draft.parents)
    nodes = range(-1, len(draft.token_ids)) if settings.repetition_penalty != 1 else ()
    histories = [ids + [draft.token_ids[n] for n in draft.path(node)] for node in nodes]
    probs = shape(logits, histories, settings).cpu()  # one transfer; the walk itself waits for no device
    rule, end_ids = run.judge or rule_of(settings), run.pair.target.eos_ids
    return logits, probs, verify(draft, probs, rule, coins_of(run.seed), len(run.output_ids), end_ids)


@dataclass(frozen=True, slots=True)
class _Ending:
    """Why the run ends with this step, the text before a stop string, and since when each stop string holds."""

    stop: StopReason | None
    cut: str | None
    stops: dict[str, str]


def _emit(run: Run, settings: RunSettings, draft: Draft, walk: Walk) -> tuple[list[int], _Ending]:
    """The accepted tokens and the target's own, up to a stop string, and whether and why the run ends."""
    codec, end_ids = run.pair.target.codec, run.pair.target.eos_ids
    emitted = [draft.token_ids[n] for n in walk.path] + ([] if walk.extra is None else [walk.extra])
    # a stop string set in mid-run does not reach back: the text of that time is kept with it
    so_far = run.text if set(settings.stop) - run.stops.keys() else ""
    stops = {stop: run.stops.get(stop, so_far) for stop in settings.stop}
    if found := first_stop(codec.decode, run.output_ids, emitted, stops, end_ids):
        count, text = found
        return emitted[:count], _Ending(StopReason.STOP_STRING, text, stops)
    if emitted[-1] in end_ids:
        return emitted, _Ending(StopReason.EOS, None, stops)
    room, why = run.limit(settings)
    return emitted, _Ending(why if len(emitted) >= room else None, None, stops)


def _draft_end(draft: Draft, k: int, asked: int, settings: RunSettings) -> DraftEnd:
    """Why the draft has no more tokens: the drafter knows only of `k`, which may be less than was asked for."""
    nothing = draft.stop == DraftEnd.NONE and settings.strategy != NO_DRAFT
    return DraftEnd.ROOM if k < asked and (nothing or draft.stop == DraftEnd.K) else draft.stop


def steps(
    pair: Pair,
    prompt: str | Sequence[int],
    settings: RunSettings | Callable[[], RunSettings],
    costs: Mapping[str, Costs] | None = None,
) -> Iterator[StepRecord]:
    """Run to the end, one record at a time; a callable is asked for the settings before each step (once)."""
    current = settings if callable(settings) else lambda: settings
    now = current()
    run = start(pair, prompt, now, costs)
    while not run.finished(now):
        yield step(run, now)
        now = current()


def run(
    pair: Pair,
    prompt: str | Sequence[int],
    settings: RunSettings | None = None,
    costs: Mapping[str, Costs] | None = None,
) -> Trace:
    """Run to the end and return the trace. `settings.k` = 0 is the target alone. `costs`: see `start`."""
    settings = settings or RunSettings()
    state = begin(pair, prompt, settings, costs)
    finish(state, settings)
    return state.trace()


def _token_id(value: object, size: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise SpecvizError(sentence("errors.token_ids", most=size - 1, given=str(value)[:40]))
    return value


__all__ = ["Run", "advance", "begin", "check", "finish", "read", "run", "start", "step", "steps"]
