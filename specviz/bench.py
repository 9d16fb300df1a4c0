"""Speed on this machine, as ratios within one run: machines differ and are noisy, quotients travel better.

First against transformers: for each prompt the contestants take turns (target alone, specviz, transformers' assisted
generation), so that a machine that slows down slows all of them; the median over prompts and rounds is printed, with
the spread. Then every strategy in one table (`lineup`). Nothing is drawn while a clock runs. ``python -m specviz bench``

``--json`` saves one object of plain values whose `rows` are objects of plain values: `FIELDS` says what each means.
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import transformers

from specviz import engine
from specviz.compare import fitting
from specviz.lineup import lineup, written
from specviz.metrics import count
from specviz.models.describe import describe
from specviz.settings import RunSettings
from specviz.ui.presets import PRESETS
from specviz.views.lineup import svg
from specviz.views.study import counted

if TYPE_CHECKING:
    from specviz.models.pair import Pair

ASSISTED = "transformers, assisted"
SCHEMA = "specviz bench 3"
FIELDS: Mapping[str, str] = {
    "lane": 'a strategy, "target alone", or "transformers, assisted": transformers\' own speculative decoding',
    "k": "tokens drafted a step; 0 for the target alone",
    "tokens": "tokens of all outputs",
    "target_passes": "passes of the target",
    "drafted": "drafted tokens",
    "accepted": "accepted places",
    "tested": "tested places",
    "acceptance_rate": "accepted / tested",
    "drafted_share": "accepted tokens / drafted tokens",
    "mean_draft_length": "drafted tokens / target passes",
    "block_efficiency": "tokens / target passes",
    "cost_ratio": "c: median seconds of a draft pass / of a target pass over one place",
    "verify_ratio": "v: median seconds of a pass over a draft, of whatever length / of a target pass over one place",
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
    save: Path | None = None,
    draft_length: str = "fixed",
    chart: Path | None = None,
    prompts: int | None = None,
) -> dict[str, Any]:
    """Print and return the figures. tokens/s everywhere: new tokens / decoding seconds, prefill left out.

    `rounds` of the comparison with transformers at each K (0: leave it out), at temperature 0. `strategies`: for the
    table, all that fit the pair where None. `draft_length`: how each step of the table chooses how far to draft, up to K.
    `chart`: where to draw the table (SVG). `prompts`: only so many of the examples, from the first on.
    """
    codec = pair.target.codec
    chosen = list(PRESETS.items())[:prompts]
    texts = {name: codec.encode(p.prompt, p.chat and bool(codec.has_chat_template)) for name, p in chosen}
    machine = _machine(pair)
    print(", ".join(f"{key} {value}" for key, value in machine.items() if value not in (None, "")))
    strategy = "greedy" if pair.draft else "prompt lookup"
    rivals = {k: _against_transformers(pair, texts, strategy, k, tokens, rounds) for k in ks if rounds}
    settings = RunSettings(k=ks[0], temperature=temperature, max_new_tokens=tokens, draft_length=draft_length)
    how = f"temperature {temperature:g}, {tokens} tokens, {counted(len(texts), 'prompt')}, draft length {draft_length}"
    print(f"\nStrategies at {how}, taking turns")
    found = lineup(pair, texts, settings, fitting(pair) if strategies is None else strategies, ks)
    for k, rival in rivals.items():
        at = (found["lane"] == strategy) & (found["k"] == k)
        for name in ("transformers_tokens_per_s", "over_transformers"):
            if (value := rival.get(name)) is not None:
                found.loc[at, name] = value
    print(f"\n{written(found)}")
    rows = json.loads(found.to_json(orient="records"))
    if chart:
        chart.write_text(svg(rows, f"{pair.target.name}, {how}"), encoding="utf-8")
    for k, rival in rivals.items():
        if (speed := rival.get("transformers_tokens_per_s")) is not None:
            rows.append({"lane": ASSISTED, "k": k, "tokens_per_s": speed, "speed_up": rival["speed_up"]})
    rows = [{name: row.get(name) for name in FIELDS} for row in rows]
    about = {"temperature": temperature, "new_tokens": tokens, "draft_length": draft_length, "rounds": rounds}
    result = {"schema": SCHEMA, **machine, **about, "prompts": len(texts), "rows": rows}
    if save:
        save.write_text(json.dumps(result, indent=1, allow_nan=False), encoding="utf-8")
    return result


def _against_transformers(
    pair: Pair, prompts: dict[str, list[int]], strategy: str, k: int, tokens: int, rounds: int
) -> dict[str, Any]:
    settings = RunSettings(strategy=strategy, k=k, temperature=0, max_new_tokens=tokens)
    contestants: dict[str, Callable[[list[int]], dict[str, float]]] = {
        "target alone": lambda ids: _specviz(pair, ids, replace(settings, strategy="none", k=0)),
        f"specviz, {strategy}, K = {k}": lambda ids: _specviz(pair, ids, settings),
    }
    if pair.draft:
        contestants[ASSISTED] = lambda ids: _assisted(pair, ids, k, tokens)
    measured: dict[str, list[dict[str, Any]]] = {name: [] for name in contestants}
    for ids in list(prompts.values())[:1]:  # the first run of each pays for warming up; not counted
        for contestant in contestants.values():
            contestant(ids)
    for name, ids in prompts.items():
        for round_ in range(rounds):
            for label, contestant in contestants.items():
                measured[label].append(contestant(ids) | {"prompt": name, "round": round_})
    return _report(measured)


def _specviz(pair: Pair, ids: list[int], settings: RunSettings) -> dict[str, float]:
    run = engine.start(pair, ids, settings)
    began = time.perf_counter()
    while not run.finished(settings):
        engine.step(run, settings)
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


def _assisted(pair: Pair, ids: list[int], k: int, tokens: int) -> dict[str, float]:
    """transformers' own speculative decoding with the same models, and its prefill taken off by a run of one token."""
    assert pair.draft is not None
    assistant: Any = pair.draft.model
    stored = assistant.generation_config
    config = {
        "num_assistant_tokens": k,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }
    assistant.generation_config = transformers.GenerationConfig.from_dict({**stored.to_dict(), **config})
    inputs = torch.tensor([ids], device=pair.target.device)
    mask = torch.ones_like(inputs)

    def generate(count: int, **more: Any) -> tuple[float, int]:
        began = time.perf_counter()
        out = pair.target.model.generate(inputs, attention_mask=mask, max_new_tokens=count, do_sample=False, **more)
        return time.perf_counter() - began, out.shape[1] - inputs.shape[1]

    try:
        prefill, _ = generate(1)
        wall, made = generate(tokens, assistant_model=assistant)
    finally:
        assistant.generation_config = stored
    return {"tokens_per_s": (made - 1) / max(1e-9, wall - prefill), "tokens": made}


def _report(measured: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    labels = list(measured)
    first = {label: [m["tokens_per_s"] for m in rows] for label, rows in measured.items()}
    print(f"\n{'':28}tokens/s  (min … max)     ÷ target alone")
    result: dict[str, Any] = {}
    for label in labels:
        ratios = [a / b for a, b in zip(first[label], first[labels[0]], strict=True)]
        rate = statistics.median(first[label])
        print(
            f"{label:28}{rate:8.1f}  ({min(first[label]):.1f} … {max(first[label]):.1f})  {statistics.median(ratios):12.2f}"
        )
        if label == ASSISTED:
            result |= {"transformers_tokens_per_s": rate, "speed_up": statistics.median(ratios)}
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
        ratios = [a / b for a, b in zip(first[labels[1]], first[labels[2]], strict=True)]
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


def _machine(pair: Pair) -> dict[str, Any]:
    """What ran where, one plain value each."""
    plain = {key: value for key, value in describe(pair).items() if isinstance(value, (str, int, type(None)))}
    device = pair.target.device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {"processor": name, "system": platform.system(), **plain, "notes": " ".join(pair.notes) or None}
