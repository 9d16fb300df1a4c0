"""The losslessness meter: one position of the run on screen replayed, or whole runs of a toy pair counted.

No Gradio here but what it is pulled by: generators of pieces of page. A replay needs no model and takes no turn; whole
runs do, in turns shorter than a step of any real model. Stop ends either within one slice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from specviz.core.records import Fate, PositionRecord, StepRecord
from specviz.core.settings import Knob, RunSettings, SettingsError, SpecvizError
from specviz.core.words import say, sentence, spoken
from specviz.experiments.distribution_check import SETTINGS, STRATEGIES, WholeRuns, texts
from specviz.experiments.position_replay import WRONG, Replay, replay_of
from specviz.metrics.lossless import Chance, Reading, Stand, chance, stand, total_variation
from specviz.models.toy import toy_pair
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.job import Claim
from specviz.traces.trace import Trace
from specviz.verification import RULES, is_lossless
from specviz.views import lossless as view
from specviz.views.glyphs import shown
from specviz.views.lossless import Panel

FRAMES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
"""Numbers of replays after which the picture is drawn."""
PACE_S = 0.25
"""Between two of them, so that one can see them fall; nothing is held meanwhile."""
TURN_S = 0.06
NAMES = [*RULES, *WRONG]
USUAL = ["speculative sampling", "token matching", "correction drawn from p"]
SEED = Knob(sentence("settings.seed_label"), 1, 0, 2**31 - 1, 1, sentence("lossless.seed_help"), whole=True)
RUNS = Knob(sentence("lossless.runs_label"), 600, 300, 2000, 100, sentence("lossless.runs_help"), whole=True)


def kind(name: str) -> str:
    """What a rule claims: as in `views.elements.badge`."""
    return "wrong" if name in WRONG else "lossless" if is_lossless(name) else "lossy"


def _panels(names: Sequence[str], settings: RunSettings) -> dict[str, Panel]:
    """Empty ones in the order of `NAMES`, whatever was ticked first. Raises SettingsError."""
    if not names:
        raise SettingsError(sentence("sessions.check_no_rule"))
    if unknown := [name for name in names if name not in NAMES]:
        raise SettingsError(sentence("sessions.check_unknown_rule", name=repr(unknown[0]), known=", ".join(NAMES)))
    return {name: Panel(name, kind(name), _says(name, settings)) for name in NAMES if name in names}


def _says(name: str, settings: RunSettings) -> str:
    if name in WRONG:
        return spoken(WRONG[name])
    knobs = RULES[name].knobs
    stand = ", ".join(f"{spoken(knob.label)} = {settings.options.get(n, knob.default):g}" for n, knob in knobs.items())
    return " ".join([spoken(RULES[name].help), *([say("lossless.here", knobs=stand)] if stand else [])])


# ------------------------------------------------------------------------------------------------------------ one position


def telling(trace: Trace) -> tuple[int, int]:
    """Step and position, from 1, where the classic mistake would show most: a correction drawn from p is off there by
    ½ Σ |min(p, q) − β·p|, β = Σ min(p, q).

    Raises SpecvizError where no step drafted anything.
    """
    found = [
        (_off(position), -step.index, -number)
        for step in trace.steps
        for number, position in enumerate(step.positions, start=1)
        if position.overlap is not None
    ]
    if not found:
        raise SpecvizError(sentence("sessions.check_nothing_drafted"))
    _, index, number = max(found)
    return 1 - index, -number


def _off(position: PositionRecord) -> float:
    both = [min(c.target_prob, c.draft_prob or 0.0) for c in position.candidates]
    overlap = sum(both)
    return sum(abs(m - overlap * c.target_prob) for m, c in zip(both, position.candidates, strict=True)) / 2


def at(trace: Trace, step: float | None, position: float | None) -> tuple[StepRecord, PositionRecord]:
    """The record of that step and position, counted from 1. Raises SpecvizError, a sentence with what there is."""
    steps = len(trace.steps)
    if not steps:
        raise SpecvizError(sentence("sessions.check_no_step"))
    number = int(Knob(say("lossless.step"), 1, 1, steps, 1, "", whole=True).check(step))
    record = trace.steps[number - 1]
    if not record.positions:
        raise SpecvizError(sentence("sessions.check_no_position", step=number))
    name = say("sessions.check_position_of", step=number)
    which = int(Knob(name, 1, 1, len(record.positions), 1, "", whole=True).check(position))
    return record, record.positions[which - 1]


def about(trace: Trace, step: float | None, position: float | None) -> str:
    """One sentence on the position: what was drafted after which words, and what both models gave it."""
    record, where = at(trace, step, position)
    before = "".join(shown(text) for text in _before(trace, record, where)[-6:])
    tokens = [token for token in record.tokens if token.parent == where.node]
    head = say("sessions.check_after", heading=_at(record, where), before=before)
    if not tokens:
        return f"{head} {say('sessions.check_alone')}"
    made = stand(record, where)
    drafted = ", ".join(
        say(
            "sessions.check_token",
            text=shown(t.text),
            q=f"{t.draft_prob or 0:.3f}",
            p=f"{made.target[s]:.3f}",
            fate=say(f"fates.{t.fate}"),
        )
        for t, s in zip(tokens, made.siblings, strict=True)
    )
    how = "sampled" if made.drawn != "chosen" and len(tokens) == 1 else _DRAWN[made.drawn]
    words = say("sessions.check_drafted", tokens=drafted, how=say(f"sessions.check_{how}"), rule=record.settings.rule)
    tails = say("sessions.check_tails", target=f"{made.tails[0]:.3f}", draft=f"{made.tails[1]:.3f}")
    return f"{head} {words} {tails}"


_DRAWN = {"chosen": "chosen", "independently": "independent", "without replacement": "distinct"}


def _at(record: StepRecord, where: PositionRecord) -> str:
    return say("sessions.check_heading", step=record.index + 1, position=record.positions.index(where) + 1)


def _before(trace: Trace, record: StepRecord, position: PositionRecord) -> list[str]:
    """Texts of the prompt's and the output's tokens before a position."""
    words = list(trace.prompt_texts)
    for step in trace.steps[: record.index]:
        words += [t.text for t in step.tokens if t.fate is Fate.ACCEPTED]
        words += [step.extra.text] if step.extra else []
    way, node = [], position.node
    while node >= 0:
        way.append(record.tokens[node].text)
        node = record.tokens[node].parent
    return words + way[::-1]


def replayed(
    claim: Claim,
    trace: Trace,
    step: float | None,
    position: float | None,
    names: Sequence[str],
    seed: float | None,
    frames: Sequence[int] = FRAMES,
    pace_s: float = PACE_S,
) -> Iterator[tuple[str, str]]:
    """(what is going on, the picture so far) after each of `frames` replays, while `claim` is current. Raises SpecvizError."""
    record, where = at(trace, step, position)
    panels, made = _panels(names, record.settings), stand(record, where)
    heading = _at(record, where)
    number = int(SEED.check(seed))
    if made.certain is not None:
        why = "sessions.check_certain_greedy" if record.settings.temperature == 0 else "sessions.check_certain"
        yield "", view.words(say(why, heading=heading, word=shown(made.texts[made.certain])))
        return
    running = {}
    for name in panels:
        try:
            running[name] = replay_of(name, made, record.settings)
        except SpecvizError as error:
            panels[name] = replace(panels[name], note=str(error))
    sources = {name: np.random.default_rng([number, NAMES.index(name)]) for name in running}
    counts = {name: np.zeros(len(made.texts), dtype=np.int64) for name in running}
    exact = {name: _apart(replay, made) for name, replay in running.items()}
    done = 0
    for frame in frames:
        expected = chance(made.target, frame)
        for name, replay in running.items():
            if not claim.is_current:
                return
            counts[name] = counts[name] + replay.draws(frame - done, sources[name])
            panels[name] = _read(panels[name], counts[name], made.target, expected, exact[name])
        done = frame
        words = say("sessions.check_replayed", done=f"{done:,}", wanted=f"{frames[-1]:,}", seed=number)
        unit = say("sessions.check_replays")
        yield words, view.html(list(panels.values()), made.texts, heading, unit, frames[-1])
        if frame != frames[-1]:
            time.sleep(pace_s)


def _apart(replay: Replay, made: Stand) -> float | None:
    outcome = replay.outcome()
    return None if outcome is None else total_variation(outcome, made.target)


def _read(panel: Panel, counts: np.ndarray, probs: np.ndarray, expected: Chance, exact: float | None = None) -> Panel:
    return replace(panel, readings=(*panel.readings, Reading(counts, probs, expected)), exact=exact)


# ----------------------------------------------------------------------------------------------------------- whole runs


def counted(
    claim: Claim,
    queue: DecodeQueue,
    strategy: str,
    names: Sequence[str],
    runs: float | None,
    settings: RunSettings = SETTINGS,
) -> Iterator[tuple[str, str]]:
    """(what is going on, the picture so far) while whole runs are made, the rules taking turns, and `claim` is current.

    Raises SpecvizError.
    """
    rows = _panels(names, settings)
    wanted = int(RUNS.check(runs))
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise SettingsError(sentence("sessions.check_unknown_strategy", name=repr(strategy), known=known))
    yield say("sessions.check_making"), ""
    toy_pair()  # before any turn: the library's files are read when a model is first made
    settings = replace(settings, strategy=strategy)
    checks = [queue.submit(partial(WholeRuns, name, settings)).result() for name in rows]
    panels = list(rows.values())
    outcomes, heading = texts(), _heading(strategy, len(checks[0].probs))
    frames = [n for n in (100, 200, 300, 400, 600, 800, 1000, 1300, 1600) if n < wanted] + [wanted]
    for frame in frames:
        while slow := [check for check in checks if check.runs < frame]:
            if not claim.is_current:
                return
            check = min(slow, key=lambda check: check.runs)
            queue.submit(partial(_turn, check, frame)).result()
        expected = chance(checks[0].probs, frame)
        panels = [
            _read(panel, check.counts.copy(), check.probs, expected)
            for panel, check in zip(panels, checks, strict=True)
        ]
        words = say("sessions.check_counted", done=f"{frame:,}", wanted=f"{wanted:,}")
        yield words, view.html(panels, outcomes, heading, say("sessions.check_runs"), wanted)


def _turn(check: WholeRuns, frame: int) -> None:
    until = time.monotonic() + TURN_S
    while check.runs < frame and time.monotonic() < until:
        check.more(1)


def _heading(strategy: str, outcomes: int) -> str:
    return say(
        "sessions.check_whole",
        strategy=strategy,
        k=SETTINGS.k,
        temperature=f"{SETTINGS.temperature:g}",
        outcomes=outcomes,
        argmax=say("lossless.argmax_as_sample"),
    )
