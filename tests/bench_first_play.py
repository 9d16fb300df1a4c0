"""The first live run of a visitor, on every example, in turns with the target alone: is it faster on each of them?

A script that prints, not a test: ``python -m tests.bench_first_play``. Uses the default pair and the settings at which
the controls start. Other drafts may be measured beside them, as STRATEGY,K,DRAFT_LENGTH::

    python -m tests.bench_first_play --rounds 3 --beside sampling,4,fixed --beside "n-gram table,8,cost-aware"
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import psutil

from specviz.core.prompts import PRESETS, Preset
from specviz.core.settings import RunSettings
from specviz.drafting import make_ready
from specviz.experiments.compare import Comparison
from specviz.experiments.compared import ALONE
from specviz.metrics import count
from specviz.metrics.comparison import rate
from specviz.models.describe import describe
from specviz.models.loading import load_pair
from specviz.models.pair import Pair
from specviz.recordings.gallery import FIRST_SETTINGS


def main() -> None:
    """Print one line an example, then the median and the worst speed-up of each lane."""
    parser = argparse.ArgumentParser(description="Measure the first live run on all examples.")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each example; their median counts")
    parser.add_argument("--examples", type=int, default=len(PRESETS), help="only the first so many")
    parser.add_argument("--tokens", type=int, default=FIRST_SETTINGS.max_new_tokens)
    parser.add_argument("--temperature", type=float, default=FIRST_SETTINGS.temperature)
    parser.add_argument("--beside", action="append", default=[], metavar="STRATEGY,K,DRAFT_LENGTH")
    args = parser.parse_args()
    base = replace(FIRST_SETTINGS, max_new_tokens=args.tokens, temperature=args.temperature)
    lanes = {named(base): base} | {lane: other(base, lane) for lane in args.beside}
    pair = prepared(lanes)
    gains: dict[str, list[float]] = {name: [] for name in lanes}
    for example, preset in list(PRESETS.items())[: args.examples]:
        rounds = [measured(pair, preset, lanes, seed) for seed in range(1, args.rounds + 1)]
        parts = []
        for name in lanes:
            speed_up = statistics.median(one[name][0] for one in rounds)
            accepted, tested = (sum(one[name][at] for one in rounds) for at in (1, 2))
            gains[name].append(speed_up)
            share = f"{accepted / tested:.2f}" if tested else "–"
            parts.append(f"{name} {speed_up:.2f}×, α {share} ({accepted:.0f} of {tested:.0f} tested)")
        print(f"{example:12} " + "; ".join(parts), flush=True)
    for name, found in gains.items():
        says = "faster than the target alone on all" if min(found) > 1 else "NOT faster on all"
        print(f"{name}: median {statistics.median(found):.2f}×, worst {min(found):.2f}×: {says} {len(found)} examples")


def named(settings: RunSettings) -> str:
    """For example "4-bit copy,4,fixed"."""
    return f"{settings.strategy},{settings.k},{settings.draft_length}"


def other(base: RunSettings, lane: str) -> RunSettings:
    """`base` with the strategy, K and draft length of `lane`."""
    strategy, k, length = lane.split(",")
    return replace(base, strategy=strategy, k=int(k), draft_length=length)


def prepared(lanes: dict[str, RunSettings]) -> Pair:
    """The default pair, and what all lanes draft with; prints how long each took, what ran where, and how busy it was."""
    began = time.perf_counter()
    pair = load_pair("default")
    print(f"the pair was loaded in {time.perf_counter() - began:.1f} s")
    for settings in lanes.values():
        began = time.perf_counter()
        make_ready(pair, settings.strategy)
        print(f"{settings.strategy!r} was made ready in {time.perf_counter() - began:.1f} s")
    where = describe(pair)
    shown = ", ".join(
        f"{key} {where[key]}" for key in ("target", "draft", "dtype", "device", "threads", "torch", "machine")
    )
    print(f"{shown}; other programs use {psutil.cpu_percent(interval=1):.0f} % of the processors")
    return pair


def measured(pair: Pair, preset: Preset, lanes: dict[str, RunSettings], seed: int) -> dict[str, tuple[float, int, int]]:
    """Speed-up, accepted and tested tokens of each lane, all lanes and the target alone taking turns."""
    settings = {name: replace(one, seed=seed, chat=preset.chat) for name, one in lanes.items()}
    alone = replace(next(iter(settings.values())), strategy="none", k=0, draft_length="fixed")
    both = Comparison(pair, preset.prompt, {ALONE: alone} | settings)
    for _ in both.steps():
        pass
    traces = both.traces()
    base, found = rate([traces[ALONE]]), {}
    for name in lanes:
        own, tested = rate([traces[name]]), count(traces[name].steps).acceptance_rate
        assert own and base, "a lane wrote nothing"
        found[name] = own / base, tested.part, tested.whole
    return found


if __name__ == "__main__":
    main()
