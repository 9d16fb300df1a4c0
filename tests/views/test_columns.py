"""What the browser counts is what Python counts, for chains and trees, at every length of the run."""

import csv
import io
import random

import pytest

from specviz.core.records import ROOT, BaselineRecord, Fate, StepRecord, TokenRecord
from specviz.core.settings import RunSettings
from specviz.metrics import count
from specviz.metrics.frames import steps_frame
from specviz.views import wire
from specviz.views.figures import FIGURES
from tests.views.js import run

FILES = ["dom.js", "shape.js", "store.js", "tables.js", "csv.js"]
FILL = "const store = makeStore(); store.begin('r', null); for (const s of GIVEN.steps) store.push(s); store.baseline = GIVEN.b;"


def a_step(parents, fates, extra=None, index=0, start=0, **settings):
    tokens = tuple(
        TokenRecord(10 + j, f"t{j}", fate, parent, draft_prob=0.5)
        for j, (parent, fate) in enumerate(zip(parents, fates, strict=True))
    )
    last = None if extra is None else TokenRecord(5, "x", extra)
    emitted = tuple(t.token_id for t in tokens if t.fate is Fate.ACCEPTED) + ((5,) if extra else ())
    times = (0.001 * (1 + index % 3), 0.0123, 0.0004)
    return StepRecord(index, start, RunSettings(**settings), tokens, last, emitted, None, "k", len(tokens) + 1, *times)


def walked(parents, dice, stop=False):
    """Fates that a walk over this tree could give; `stop`: it was cut after its last accepted token."""
    fates, node = [Fate.UNTESTED] * len(parents), ROOT
    while True:
        children = [j for j, parent in enumerate(parents) if parent == node]
        for j in children:
            if dice.random() < 0.55:
                fates[j], node = Fate.ACCEPTED, j
                break
            fates[j] = Fate.REJECTED
        else:
            break
    if stop and any(fate is Fate.ACCEPTED for fate in fates):
        fates = [Fate.UNTESTED if f is Fate.REJECTED and p == node else f for f, p in zip(fates, parents, strict=True)]
        return fates, None
    return fates, Fate.RESAMPLED if children else Fate.BONUS


def a_run(kind, seed=1, length=60):
    """Chains, trees, or both and steps without drafts, in one run."""
    dice, steps, start = random.Random(seed), [], 0
    for index in range(length):
        shape = kind if kind != "mixed" else dice.choice(["chain", "tree", "none"])
        nodes = 0 if shape == "none" else dice.randint(1, 9)
        parents = [j - 1 if shape == "chain" else dice.randint(ROOT, j - 1) for j in range(nodes)]
        fates, extra = walked(parents, dice, stop=dice.random() < 0.1)
        step = a_step(parents, fates, extra, index, start, k=max(nodes, 1), strategy="greedy")
        steps.append(step)
        start += len(step.emitted_ids)
    return steps


@pytest.fixture(params=["chain", "tree", "mixed"])
def steps(request):
    return a_run(request.param)


def in_browser(steps, expression, baseline=None):
    given = {"steps": [wire.step(step) for step in steps], "b": baseline and wire.baseline(baseline)}
    return run(FILES, f"(() => {{ {FILL} return {expression}; }})()", given)


def test_counts_are_those_of_python_after_every_step(steps):
    sums = in_browser(steps, "store.sums")
    for shown, found in enumerate(sums):
        counts = count(steps[:shown])
        assert (found["accepted"], found["tested"]) == (counts.acceptance_rate.part, counts.acceptance_rate.whole)
        assert (found["drafted"], found["rejected"]) == (counts.drafted, counts.rejected)
        assert (found["tokens"], found["drafting"]) == (counts.emitted, counts.drafting_steps)
        # by candidate
        assert found["accepted"] + found["rejected"] == counts.tested


def test_columns_of_steps_are_those_of_python(steps):
    alone = BaselineRecord(tuple(range(20)), (0.01,) * 20)
    table = in_browser(steps, "stepTable(store, store.n)", alone)
    emitted = took = 0
    for i, step in enumerate(steps):
        here, so_far = count([step]), count(steps[: i + 1])
        emitted, took = emitted + here.emitted, took + step.step_s
        assert table["alpha"][i] == here.acceptance_rate.value
        assert table["alpha_run"][i] == so_far.acceptance_rate.value
        assert table["tau_run"][i] == pytest.approx(so_far.block_efficiency.value, abs=1e-3)
        assert (table["emitted"][i], table["x_end"][i]) == (here.emitted, emitted)
        assert table["x_mid"][i] == emitted - (here.emitted - 1) / 2
        assert table["rate"][i] == pytest.approx(here.emitted / step.step_s, rel=1e-2)
        assert table["rate_run"][i] == pytest.approx(emitted / took, rel=1e-2)
        assert table["speedup_run"][i] == pytest.approx(emitted / took / alone.tokens_per_s, rel=2e-2)


def test_rows_of_several_steps_are_sums_of_theirs(steps):
    table = in_browser(steps, "stepTable(store, store.n, 7)")
    size = steps.__len__() // 7 + 1
    for row, first in enumerate(range(0, len(steps), size)):
        part = count(steps[first : first + size])
        assert (table["accepted"][row], table["tested"][row]) == (part.acceptance_rate.part, part.acceptance_rate.whole)
        assert table["emitted"][row] == part.emitted


def test_acceptance_by_position_is_that_of_python(steps):
    table = in_browser(steps, "positionTable(store, store.n)")
    rates = count(steps).conditional_by_position
    assert list(zip(table["accepted"], table["tested"], strict=True)) == [(rate.part, rate.whole) for rate in rates]


def test_a_rejected_sibling_before_an_accepted_one_rejects_no_position():
    # ✗ a, ✓ b → the walk went on to a leaf: one position tested, one accepted
    fates = [Fate.REJECTED, Fate.ACCEPTED]
    step = a_step([ROOT, ROOT], fates, Fate.BONUS)
    found = in_browser([step], "store.figures()")
    assert (found["accepted"], found["tested"], found["alpha"]) == (1, 1, 1)
    assert count([step]).acceptance_rate.value == 1


def test_one_token_and_one_pass_are_told_as_one():
    says = FIGURES["tokens per pass"]().layout.meta["says"]
    steps = [a_step([], [], Fate.BONUS, k=0), a_step([ROOT], [Fate.ACCEPTED], Fate.BONUS, 1, 1)]
    columns = "['wrote', 'written', 'passes'].map((name) => stepTable(store, store.n)[name])"
    assert in_browser(steps, columns) == [["1 token", "2 tokens"], ["1 token", "2 tokens"], ["1 pass", "1 pass"]]
    told = [in_browser(steps[:n], f"sentence({says!r}, stepTable(store, store.n))") for n in (1, 2)]
    assert told == ["1 token in 1 target pass, τ 1", "3 tokens in 2 target passes, τ 1.5"]


def test_nothing_drafted_and_nothing_measured_are_gaps():
    table = in_browser([a_step([], [], Fate.BONUS, k=0)], "stepTable(store, store.n)")
    assert table["alpha"] == [None] and table["alone_rate"] == [None] and table["speedup_run"] == [None]
    assert in_browser([], "stepTable(store, 0)")["rate"] == []


def test_the_table_to_save_says_what_python_says(steps):
    text = in_browser(steps, "stepsCsv(store)")
    assert text.endswith("\r\n") and text.isascii()
    rows, frame = list(csv.DictReader(io.StringIO(text))), steps_frame(steps)
    assert len(rows) == len(steps)
    assert {name for name in rows[0] if "[" in name} >= {"draft [ms]", "K [tokens]", "speed so far [tokens/s]"}
    for row, (_, want) in zip(rows, frame.iterrows(), strict=True):
        assert int(row["step"]) == want["step"] + 1
        for name in ("drafted", "accepted", "rejected", "untested", "emitted"):
            assert int(row[f"{name} [tokens]"]) == want[name]
        assert float(row["verify [ms]"]) == pytest.approx(want["verify_ms"], rel=1e-2)
        assert row["speed-up so far [run/alone]"] == ""
    assert [r["shape"] == "none" for r in rows] == [not step.tokens for step in steps]


def test_a_name_with_a_comma_stays_one_cell():
    text = run(FILES, "stepsCsv({steps: [{i: 0, st: 'a, \"b\"', tok: [], ex: null}], figures: () => ({})})")
    assert next(csv.DictReader(io.StringIO(text)))["strategy"] == 'a, "b"'


# --------------------------------------------------------------------------------------------------- shapes of drafts


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_is_laid_out_without_overlaps_or_crossings(seed):
    dice = random.Random(seed)
    parents = [dice.randint(ROOT, j - 1) for j in range(24)]
    fates, extra = walked(parents, dice)
    step = a_step(parents, fates, extra)
    tok = wire.step(step)["tok"]
    rows, depth, end = run(FILES, "[[...treeRows(GIVEN, true)], depths(GIVEN), pathEnd(GIVEN)]", tok)
    row = dict(rows)
    assert set(row) == {*range(24), -1, "extra"}
    column = {**dict(enumerate(depth)), "extra": 1 if end < 0 else depth[end] + 1}
    spots = [(column[n], row[n]) for n in column]
    assert len(set(spots)) == len(spots)
    assert row[-1] == 0 and max(row.values()) <= 24
    # in each column the nodes stand in the order of their parents, so no two edges cross
    above = {**dict(enumerate(parents)), "extra": end}
    for c in set(column.values()):
        here = sorted((n for n in column if column[n] == c), key=lambda n: row[n])
        assert [row[above[n]] for n in here] == sorted(row[above[n]] for n in here)


def test_a_spine_with_siblings_needs_as_many_rows_as_siblings():
    # ✓ with a rejected sibling below, three times: positions share their rows
    parents = [ROOT, ROOT, 0, 0, 2, 2]
    rows = dict(map(tuple, run(FILES, "[...treeRows(GIVEN, false)]", [[1, "x", "u", p] for p in parents])))
    assert max(rows.values()) == 1


def test_the_walk_is_told_in_the_order_it_was_taken():
    # root: ✗0 ✓1; under 1: ✗3 ✗4; untested elsewhere
    tok = [[1, "a", f, p] for f, p in [("r", -1), ("a", -1), ("u", 0), ("r", 1), ("r", 1), ("u", 3)]]
    assert run(FILES, "[walkOrder(GIVEN), pathEnd(GIVEN), isTree(GIVEN)]", tok) == [[0, 1, 3, 4], 1, True]
    chain = [[1, "a", "a", -1], [1, "b", "r", 0], [1, "c", "u", 1]]
    assert run(FILES, "[walkOrder(GIVEN), pathEnd(GIVEN), isTree(GIVEN)]", chain) == [[0, 1], 0, False]


# ------------------------------------------------------------------------------------------------ a step told slowly

TALE = [*FILES, "words.js", "slow.js"]


@pytest.mark.parametrize("kind", ["chain", "tree", "mixed"])
def test_a_tale_is_in_order_takes_seconds_and_ends_with_all_that_was_recorded(kind):
    steps = [wire.step(step) for step in a_run(kind)]
    tales = run(
        TALE,
        """GIVEN.map((step) => { const tale = taleOf(step), all = [...step.tok.keys(), ...(step.ex ? [-1] : [])];
        return { phases: tale.stages.map((s) => s.phase), ms: tale.stages.reduce((n, s) => n + s.ms, 0),
          seen: tale.stages.map((_, at) => all.map((j) => viewAt(tale, at).of(j))) }; })""",
        steps,
    )
    for step, tale in zip(steps, tales, strict=True):
        assert tale["phases"] == sorted(tale["phases"]) and tale["phases"][-1] == 3
        assert 2000 <= tale["ms"] <= 5000
        assert all(now == "done" for now in tale["seen"][-1])
        order = ["wait", "pending", "done"]
        for one in zip(*tale["seen"], strict=True):
            ranks = [order.index(now) for now in one]
            assert ranks == sorted(ranks)
        if step["tok"]:
            first = tale["seen"][0][: len(step["tok"])]
            assert first[0] == "pending" and (step["ex"] is None or tale["seen"][0][-1] == "wait")


def test_a_longer_draft_takes_no_longer():
    tok = [[1, "x", "a", j - 1, 0.5, 0.5, 1, 0.1] for j in range(32)]
    step = {"i": 0, "k": 32, "tok": tok, "ex": [2, "y", "b"], "st": "greedy"}
    assert run(TALE, "taleOf(GIVEN).stages.reduce((n, s) => n + s.ms, 0)", step) <= 5000
