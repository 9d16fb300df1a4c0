"""The loop: draft, one target pass, verify, emit. One call of `step` is one step, whoever calls it.

`decoding.algorithm` states the same method in the papers' letters, in fifteen lines; a test holds the two equal.

A Step button, Play and "run to the end" are the same call. Settings are read at every step, so K, strategy, rule and
temperature may change in mid-run, and each record says what it was made under. The state between steps is plain data
(ids, seed, steps so far); the caches only make it fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from specviz import calibration
from specviz.coins import coins_of
from specviz.drafting import LENGTHS, STRATEGIES, Readers
from specviz.models.cached import CachedModel
from specviz.recording import Times, record
from specviz.runtime import Clock
from specviz.sampling import BadLogits, shape
from specviz.settings import Knob, RunSettings, SettingsError, SpecvizError
from specviz.state import Run
from specviz.stopping import first_stop
from specviz.trace import Costs, StepRecord, StopReason, Trace
from specviz.verification import RULES, Draft, rule_of, verify

if TYPE_CHECKING:
    from specviz.models.pair import Pair


MAX_PROMPT_CHARS = 200_000
CHUNK = 512
"""Places of a prompt read at once: between two chunks of a long one others can take a turn."""


def start(
    pair: Pair, prompt: str | Sequence[int], settings: RunSettings, costs: Mapping[str, Costs] | None = None
) -> Run:
    """A run whose prompt has been read. Takes and raises what `begin` does."""
    run = begin(pair, prompt, settings, costs)
    while read(run):
        pass
    return run


def read(run: Run) -> bool:
    """Read the next `CHUNK` places of the prompt, timed as prefill; whether there is more of it to read."""
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
                f"The prompt has {len(prompt):,} characters; at most {MAX_PROMPT_CHARS:,} are read. Shorten it."
            )
        ids = codec.encode(prompt, settings.chat)
    else:
        if not isinstance(prompt, Sequence):
            raise SpecvizError("The prompt must be a text or a list of token ids.")
        ids = [_token_id(i, pair.target.vocab_size) for i in prompt]
        if not ids:
            raise SpecvizError("Type a prompt first: a model cannot continue an empty text.")
        prompt = codec.decode(ids)
    if len(ids) >= context:
        raise SpecvizError(
            f"The prompt has {len(ids)} tokens and {pair.target.name} reads at most {context} with its answer; shorten it."
        )
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
        name, kind = getattr(settings, field_name), field_name.replace("_", " ")
        if name not in table:
            raise SettingsError(f"There is no {kind} named {name!r}; choose one of: {', '.join(table)}.")


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
            raise SettingsError(f"No strategy has a knob named {name!r}.")
        _check_by_any(known, value)
    if reason := strategy.fits(pair) or strategy.objection(pair, settings):
        raise SettingsError(f"The strategy {settings.strategy!r} cannot be used: {reason}.")


def _check_by_any(knobs: Sequence[Knob], value: float) -> None:
    """Strategies may share a knob's name but not its range: one that allows the value is enough."""
    *others, last = knobs
    for knob in others:
        with suppress(SettingsError):
            knob.check(value)
            return
    last.check(value)


def step(run: Run, settings: RunSettings) -> StepRecord:
    """Draft, one target pass, verify, emit. Appends to `run` and returns the record; on an error `run` is unchanged.

    Must not be called on a finished run. Raises SpecvizError for settings that do not fit and NaN logits of the target.
    """
    if run.finished(settings):
        raise SpecvizError(f"This run has ended ({run.stop}); press Reset to start another.")
    check(run.pair, settings)
    settings = replace(settings, seed=run.seed)  # what the record says is what the coins were made of
    position, ids, coins = len(run.output_ids), run.ids, coins_of(run.seed)
    end_ids, target = run.pair.target.eos_ids, run.readers.target
    drafter, asked = run.drafter(settings.strategy), settings.k
    drafter.adopt(settings)
    if settings.strategy != "none":
        price = calibration.prices(run.costs, run.pair, settings)
        asked = LENGTHS[settings.draft_length].how_far(run.steps, settings, price)
    k = min(asked, run.limit(settings)[0] - 1)  # near the end only so many that all could be emitted
    clock = Clock(run.pair.devices)
    draft = Draft()
    try:
        if k and drafter.behind(ids):
            drafter.catch_up(ids)
        target.catch_up(ids)
        catch_up_s = clock.lap()
        draft = drafter.propose(ids, k, settings, coins, position)
    except BadLogits:  # where it was the target's, the pass below says so
        catch_up_s, draft = 0.0, Draft(stop="draft failed: its logits are not numbers")
    if (draft.stop == "k" and k < asked) or (k == 0 < asked and draft.stop == "none" and settings.strategy != "none"):
        draft = replace(draft, stop="room")
    draft_s = clock.lap()

    logits = target.tree_logits(ids, draft.token_ids, draft.parents)
    nodes = range(-1, len(draft.token_ids)) if settings.repetition_penalty != 1 else ()
    histories = [ids + [draft.token_ids[n] for n in draft.path(node)] for node in nodes]
    probs = shape(logits, histories, settings).cpu()  # one transfer; the walk itself waits for no device
    walk = verify(draft, probs, run.judge or rule_of(settings), coins, position, end_ids)
    verify_s = clock.lap()

    emitted = [draft.token_ids[n] for n in walk.path] + ([] if walk.extra is None else [walk.extra])
    # a stop string set in mid-run does not reach back: the text of that time is kept with it
    so_far = run.text if set(settings.stop) - run.stops.keys() else ""
    stops = {stop: run.stops.get(stop, so_far) for stop in settings.stop}
    emitted, stop, cut = _end(run, emitted, settings, stops)
    other_s = clock.lap()

    times = Times(draft_s, verify_s, other_s, catch_up_s)
    made = record(len(run.steps), position, settings, draft, walk, logits, probs, emitted, stop, target, times, asked)
    run.output_ids += emitted
    run.stop, run.cut, run.stops = stop, cut, stops
    run.steps.append(made)
    return made


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
    state = start(pair, prompt, settings, costs)
    while not state.finished(settings):
        step(state, settings)
    return state.trace()


def _end(
    run: Run, emitted: list[int], settings: RunSettings, stops: Mapping[str, str]
) -> tuple[list[int], StopReason | None, str | None]:
    """What is emitted after a cut at a stop string, whether and why the run ends, and the text before the stop string."""
    codec, end_ids = run.pair.target.codec, run.pair.target.eos_ids
    if found := first_stop(codec.decode, run.output_ids, emitted, stops, end_ids):
        count, text = found
        return emitted[:count], "stop string", text
    if emitted[-1] in end_ids:
        return emitted, "eos", None
    room, why = run.limit(settings)
    return emitted, why if len(emitted) >= room else None, None


def _token_id(value: object, size: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise SpecvizError(f"Token ids must be whole numbers from 0 to {size - 1}; you gave {str(value)[:40]}.")
    return value


__all__ = ["Run", "begin", "check", "read", "run", "start", "step", "steps"]
