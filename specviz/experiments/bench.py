"""Speed on this machine, as ratios within one run: machines differ and are noisy, quotients travel better.

First against transformers: for each prompt the contestants take turns (target alone, specviz, transformers' assisted
generation), so that a machine that slows down slows all of them; the median over prompts and rounds is printed, with
the spread. Then every strategy in one table (`lineup`). Nothing is drawn while a clock runs. ``python -m specviz bench``

The result is one object of plain values whose `rows` are objects of plain values: `FIELDS` says what each means.
"""

from __future__ import annotations

import json
import math
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from specviz.core.plural import counted
from specviz.core.prompts import PRESETS
from specviz.core.settings import NO_DRAFT, RunSettings
from specviz.decoding import engine
from specviz.experiments.assisted import NotComparable, assisted, how_compared
from specviz.experiments.compare import fitting
from specviz.experiments.strategy_table import lineup, written
from specviz.metrics import count
from specviz.models.describe import describe

if TYPE_CHECKING:
    from specviz.models.pair import Pair

ASSISTED = "transformers, assisted"
COMPARED = ("transformers_tokens_per_s", "over_transformers")
"""Columns that the comparison with transformers fills, in the row of the strategy it compares with."""
SCHEMA = "specviz bench 3"
FIELDS: Mapping[str, str] = {
    "lane": 'a strategy, "target alone", or "transformers, assisted": transformers\' own speculative decoding',
    "k": "tokens drafted a step; 0 for the target alone",
    "tokens": "tokens of all outputs",
    "target_passes": "passes of the target",
    "drafted": "drafted tokens",
    "accepted": "accepted positions",
    "tested": "tested positions",
    "acceptance_rate": "accepted / tested",
    "drafted_share": "accepted tokens / drafted tokens",
    "mean_draft_length": "drafted tokens / target passes",
    "block_efficiency": "tokens / target passes",
    "cost_ratio": "c: median seconds of a draft pass / of a target pass over one position",
    "verify_ratio": "v: median seconds of a pass over a draft, of whatever length / of a target pass over one position",
    "tokens_per_s": "tokens / seconds of decoding, prefill left out; of transformers the median over prompts and rounds",
    "speed_up": "tokens per second / those of the target alone beside it",
    "median_speed_up": "the same, median over prompts",
    "worst_speed_up": "the same, worst prompt",
    "same": "whether all outputs were the target's own, token by token; null where that is not compared",
    "transformers_tokens_per_s": "of transformers' assisted generation at the same K, for the strategy it compares with",
    "over_transformers": "specviz' tokens per second / those of transformers, median over prompts and rounds",
}
"""Columns of a row; null where there is no denominator or nothing was measured. No prompt and no output is saved."""


def bench(
    pair: Pair,
    ks: Sequence[int] = (4,),
    tokens: int = 128,
    strategies: Sequence[str] | None = None,
    temperature: float = 0,
    rounds: int = 1,
    draft_length: str = "fixed",
    prompts: int | None = None,
) -> dict[str, Any]:
    """Print and return the figures. tokens/s everywhere: new tokens / decoding seconds, prefill left out.

    `rounds` of the comparison with transformers at each K (0: leave it out), at temperature 0. `strategies`: for the
    table, all that fit the pair where None. `draft_length`: how each step of the table chooses how far to draft, up to K.
    `prompts`: only so many of the examples, from the first on.
    """
    chosen_strategies = fitting(pair) if strategies is None else strategies
    settings = RunSettings(k=ks[0], temperature=temperature, max_new_tokens=tokens, draft_length=draft_length)
    for name in chosen_strategies:  # said now, not after the comparison with transformers
        engine.check(pair, replace(settings, strategy=name))
    codec = pair.target.codec
    chosen = list(PRESETS.items())[:prompts]
    texts = {name: codec.encode(p.prompt, p.chat and bool(codec.has_chat_template)) for name, p in chosen}
    machine = _machine(pair)
    print(", ".join(f"{key} {value}" for key, value in machine.items() if value not in (None, "")))
    strategy = "greedy" if pair.draft else "prompt lookup"
    rivals = {k: _against_transformers(pair, texts, strategy, k, tokens, rounds) for k in ks if rounds}
    note = next((rival["note"] for rival in rivals.values()), "not measured: --rounds is 0.")
    about: dict[str, Any] = {"temperature": temperature, "new_tokens": tokens, "draft_length": draft_length}
    about |= {"rounds": rounds, "prompts": len(texts)}
    print(f"\nStrategies at {conditions(about)}, taking turns")
    found = lineup(pair, texts, settings, chosen_strategies, ks)
    for name in COMPARED if rivals else ():
        found[name] = math.nan  # an empty column has its reason below the table
        for k, rival in rivals.items():
            found.loc[(found["lane"] == strategy) & (found["k"] == k), name] = rival.get(name, math.nan)
    print(f"\n{written(found)}\n\ntransformers: {note}")
    rows = json.loads(found.to_json(orient="records"))
    for k, rival in rivals.items():
        if (speed := rival.get("transformers_tokens_per_s")) is not None:
            rows.append({"lane": ASSISTED, "k": k, "tokens_per_s": speed, "speed_up": rival["speed_up"]})
    rows = [{name: row.get(name) for name in FIELDS} for row in rows]
    return {"schema": SCHEMA, **machine, **about, "transformers_note": note, "rows": rows}


def conditions(result: Mapping[str, Any]) -> str:
    """What the table of a result was measured at, for a heading."""
    prompts = counted(result["prompts"], "prompt")
    return (
        f"temperature {result['temperature']:g}, {result['new_tokens']} tokens, {prompts}, "
        f"draft length {result['draft_length']}"
    )


def _against_transformers(
    pair: Pair, prompts: dict[str, list[int]], strategy: str, k: int, tokens: int, rounds: int
) -> dict[str, Any]:
    settings = RunSettings(strategy=strategy, k=k, temperature=0, max_new_tokens=tokens)
    contestants: dict[str, Callable[[list[int]], dict[str, float]]] = {
        "target alone": lambda ids: _specviz(pair, ids, replace(settings, strategy=NO_DRAFT, k=0)),
        f"specviz, {strategy}, K = {k}": lambda ids: _specviz(pair, ids, settings),
    }
    contestants[ASSISTED] = lambda ids: assisted(pair, ids, k, tokens)
    measured: dict[str, list[dict[str, Any]]] = {name: [] for name in contestants}
    note = how_compared(pair)
    warm_up = [(name, ids, -1) for name, ids in list(prompts.items())[:1]]  # the first run of each; not counted
    for name, ids, round_ in warm_up + [(name, ids, r) for name, ids in prompts.items() for r in range(rounds)]:
        for label, contestant in list(contestants.items()):
            try:
                found = contestant(ids)
            except NotComparable as error:
                note = f"not measured: {error}"
                del contestants[label], measured[label]
                continue
            if round_ >= 0:
                measured[label].append(found | {"prompt": name, "round": round_})
    if ASSISTED in measured and all(math.isnan(m["tokens_per_s"]) for m in measured[ASSISTED]):
        note = "not measured: every output was one token long, and the prefill writes that; give more --tokens."
        del measured[ASSISTED]
    return _report(measured) | {"note": note}


def _specviz(pair: Pair, ids: list[int], settings: RunSettings) -> dict[str, float]:
    run = engine.start(pair, ids, settings)
    began = time.perf_counter()
    engine.finish(run, settings)
    wall = time.perf_counter() - began  # recording is in it, as it is when somebody watches
    counts = count(run.steps)
    decoding = sum(step.step_s for step in run.steps)
    passes = [step.verify_s for step in run.steps if step.tokens or not counts.drafted]  # of the target alone all
    return {
        "tokens_per_s": counts.emitted / wall,
        "tokens": counts.emitted,
        "recording": sum(step.record_s for step in run.steps) / decoding,
        "accepted": counts.acceptance_rate.part,
        "tested": counts.acceptance_rate.whole,
        "drafted": counts.drafted,
        "passes": counts.steps,
        "draft_ms": 1e3 * sum(s.draft_s for s in run.steps) / max(1, counts.drafted),
        "verify_ms": 1e3 * statistics.mean(passes),
    }


def _report(measured: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    labels = list(measured)
    first = {label: [m["tokens_per_s"] for m in rows] for label, rows in measured.items()}
    print(f"\n{'':28}tokens/s  (min … max)     ÷ target alone")
    result: dict[str, Any] = {}
    for label in labels:
        gain = statistics.median(_quotients(first[label], first[labels[0]]))
        rates = [rate for rate in first[label] if not math.isnan(rate)]
        rate = statistics.median(rates)
        print(f"{label:28}{rate:8.1f}  ({min(rates):.1f} … {max(rates):.1f})  {gain:12.2f}")
        if label == ASSISTED:
            result |= {"transformers_tokens_per_s": rate, "speed_up": gain}
    ours = measured[labels[1]]
    recording = statistics.median(m["recording"] for m in ours)
    accepted, tested = sum(m["accepted"] for m in ours), sum(m["tested"] for m in ours)
    alone = statistics.median(m["verify_ms"] for m in measured[labels[0]])
    print(f"\nrecording: {recording:.1%} of step time")
    if tested:
        print(
            f"acceptance rate {accepted / tested:.2f} ({accepted:.0f} of {tested:.0f} tested), "
            f"cost ratio c {statistics.median(m['draft_ms'] for m in ours) / alone:.2f}, "
            f"verify-cost ratio v(K) {statistics.median(m['verify_ms'] for m in ours) / alone:.2f}"
        )
    if len(labels) > 2:
        ratios = _quotients(first[labels[1]], first[labels[2]])
        print(f"specviz ÷ transformers: {statistics.median(ratios):.2f} ({min(ratios):.2f} … {max(ratios):.2f})")
        result["over_transformers"] = statistics.median(ratios)
    for name in dict.fromkeys(m["prompt"] for m in ours):
        rows = [i for i, m in enumerate(ours) if m["prompt"] == name]
        ratio = statistics.median(first[labels[1]][i] / first[labels[0]][i] for i in rows)
        here = ours[rows[0]]
        share = (
            f"{here['accepted'] / here['tested']:.2f} of {here['tested']:.0f} tested" if here["tested"] else "no drafts"
        )
        print(
            f"  {name!s:14} {ratio:.2f}× the target alone, α {share}, "
            f"{here['drafted'] / here['passes']:.2f} drafted and {here['tokens'] / here['passes']:.2f} tokens a pass"
        )
    return result


def _quotients(ones: list[float], others: list[float]) -> list[float]:
    """One by one, where both were measured (the other is NaN where it was not)."""
    return [a / b for a, b in zip(ones, others, strict=True) if not math.isnan(a / b)]


def _machine(pair: Pair) -> dict[str, Any]:
    """What ran where, one plain value each."""
    plain = {key: value for key, value in describe(pair).items() if isinstance(value, (str, int, type(None)))}
    device = pair.target.device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {"processor": name, "system": platform.system(), **plain, "notes": " ".join(pair.notes) or None}
