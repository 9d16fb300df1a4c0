"""How good a draft is, and what it may save: measured on answers that it has not seen.

Example: an acceptance rate of 0.5 at a cost ratio of 0.04 and verify-cost ratios near 1.1 gives about 1.5 times the
target's speed at K = 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from specviz.core.costs import interpolated
from specviz.core.runtime import synchronize
from specviz.distill.batches import collate, plan
from specviz.distill.shards import Corpus
from specviz.distill.students import Student
from specviz.metrics import theory
from specviz.models.cached import CachedModel
from specviz.models.pair import LoadedModel

KS = (1, 2, 3, 4, 6, 8)
EVALUATION_TOKENS = 8192
"""Read of the held-out answers while training; all of them at the end."""


def held_out(
    student: Student, corpus: Corpus, device: torch.device, tokens: int | None = EVALUATION_TOKENS
) -> dict[str, Any]:
    """Mean "agreement" and "overlap" (temperature 1) over held-out answer positions, and how many "positions" those are.

    "by_temperature": of the answers drawn at each, the "acceptance_rate" to expect at it (the mean overlap of both
    distributions there; at 0 the agreement), the "agreement" and the "positions".
    """
    sums = _sums(student, corpus, device, tokens)
    positions = sum(count for count, _ in sums.values())
    mean = {n: sum(values[n] for _, values in sums.values()) / max(1, positions) for n in ("agreement", "overlap")}
    by_temperature = {
        temperature: {
            "acceptance_rate": values["overlap_at_own"] / count,
            "agreement": values["agreement"] / count,
            "places": count,
        }
        for temperature, (count, values) in sorted(sums.items())
    }
    return mean | {"places": positions, "by_temperature": by_temperature}


def _sums(
    student: Student, corpus: Corpus, device: torch.device, tokens: int | None
) -> dict[float, tuple[int, dict[str, float]]]:
    found: dict[float, tuple[int, dict[str, float]]] = {}
    training, read = student.module.training, 0
    student.module.eval()
    for texts in plan(corpus, 4096, 0, 0, held_out=True):
        if tokens is not None and read >= tokens:
            break
        batch = collate(corpus, texts, device)
        read += len(batch.positions)
        values = student.measure(batch)
        for temperature in batch.temperature.unique().tolist():
            rows = batch.temperature == temperature
            named = round(temperature, 3)  # 0.8 was kept in float16
            count, sums = found.get(named, (0, dict.fromkeys(values, 0.0)))
            sums = {name: sums[name] + float(value[rows].sum()) for name, value in values.items()}
            found[named] = (count + int(rows.sum()), sums)
    student.module.train(training)
    return found


def costs(
    target: LoadedModel, draft: Callable[[Sequence[int]], Any], rounds: int = 7, length: int = 64
) -> dict[str, Any]:
    """Cost ratio c and verify-cost ratios v(K), of passes in turns in this process after a warm-up.

    Of each the quickest pass counts: whatever else the machine does only adds.
    """
    ks = [k for k in KS if k + 2 < target.context]
    ids = [(7 * i + 3) % target.vocab_size for i in range(min(length, target.context - max(ks) - 1))]
    reader = CachedModel(target)
    contestants: dict[Any, Callable[[list[int]], Any]] = {"target": reader.logits, "draft": draft}
    contestants |= {k: partial(reader.logits, last=k + 1) for k in ks}
    times: dict[Any, list[float]] = {name: [] for name in contestants}
    with torch.inference_mode():
        for round_ in range(rounds + 1):
            for name, contestant in contestants.items():
                # the readers hold the text so far, so each pass reads one new position, or K + 1
                new = name + 1 if isinstance(name, int) else 1
                contestant(ids)
                synchronize(target.device)
                began = time.perf_counter()
                contestant([*ids, *((i + round_) % target.vocab_size for i in range(new))])
                synchronize(target.device)
                if round_:  # the first warms up
                    times[name].append(time.perf_counter() - began)
    one = min(times["target"])
    return {
        "c": min(times["draft"]) / one,
        "v": {k: min(times[k]) / one for k in ks},
        "target_pass_ms": 1e3 * one,
    }


def expected(acceptance_rate: float, c: float, v: Mapping[int, float]) -> tuple[int, float]:
    """The K with the largest speed-up to expect (`metrics.theory`), no larger than the largest of `v`, and that
    speed-up; 0 and 1 where no K helps."""
    alpha = min(1.0, acceptance_rate)  # the target's probabilities are kept in float16
    cost = interpolated([(1, 1.0), *((k + 1, ratio) for k, ratio in v.items())])
    k = theory.best_k(alpha, c, cost, max(v))
    return k, theory.speed_up(alpha, k, c, cost)
