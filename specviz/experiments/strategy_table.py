"""Every way to draft in one table, over several prompts and K: what each accepts, costs and gains on this machine.

For each prompt and K all strategies and the target alone take turns (`compare`), so their quotients hold although the
machine is noisy. Nothing is drawn while a clock runs. ``python -m specviz bench``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from specviz.experiments.compare import Comparison, lanes_of
from specviz.experiments.compared import ALONE
from specviz.metrics.comparison import rate, table
from specviz.traces.trace import Trace

if TYPE_CHECKING:
    from specviz.core.settings import RunSettings
    from specviz.models.pair import Pair

SHOWN: Mapping[str, tuple[str, str]] = {
    "k": ("K", "{:.0f}"),
    "acceptance_rate": ("α", "{:.2f}"),
    "tested": ("of tested", "{:.0f}"),
    "drafted_share": ("of drafted", "{:.2f}"),
    "mean_draft_length": ("drafted a pass", "{:.2f}"),
    "block_efficiency": ("τ", "{:.2f}"),
    "cost_ratio": ("c", "{:.3f}"),
    "verify_ratio": ("v", "{:.2f}"),
    "tokens_per_s": ("tokens/s", "{:.1f}"),
    "speed_up": ("speed-up", "{:.2f}"),
    "median_speed_up": ("median", "{:.2f}"),
    "worst_speed_up": ("worst", "{:.2f}"),
    "same": ("same text", "{}"),
    "transformers_tokens_per_s": ("transformers", "{:.1f}"),
}
"""Columns that are printed where they are there: the field's sign and how it is written."""


def lineup(
    pair: Pair,
    prompts: Mapping[str, Sequence[int]],
    settings: RunSettings,
    strategies: Sequence[str],
    ks: Sequence[int],
    told: Callable[[str], None] = print,
) -> pd.DataFrame:
    """One row for each strategy and K, pooled over `prompts` (name → token ids).

    Columns of `metrics.comparison.table`, and `k`, and `median_speed_up` and `worst_speed_up` over the prompts, each
    against the target alone on the same prompt in the same minute.
    """
    frames = []
    for k in ks:
        lanes: dict[str, list[Trace]] = {}
        for name, ids in prompts.items():
            both = Comparison(pair, ids, lanes_of(replace(settings, k=k), strategies))
            for _ in both.steps():
                pass
            both.hold_against_alone()
            for lane, trace in both.traces().items():
                lanes.setdefault(lane, []).append(trace)
            told(f"  K = {k}, {name}: " + ", ".join(f"{lane} {gain:.2f}×" for lane, gain in _gains(lanes).items()))
        found = table(lanes, ALONE)
        by_prompt = pd.DataFrame([_gains(lanes, at) for at in range(len(prompts))])
        found["k"] = k
        found["median_speed_up"] = found["lane"].map(by_prompt.median())
        found["worst_speed_up"] = found["lane"].map(by_prompt.min())
        frames.append(found if k == ks[0] else found[found["lane"] != ALONE])
    whole = pd.concat(frames, ignore_index=True)
    whole.loc[whole["lane"] == ALONE, "k"] = 0
    return whole


def _gains(lanes: Mapping[str, Sequence[Trace]], at: int = -1) -> dict[str, float]:
    """Speed-up of every lane on prompt number `at`, where both were measured."""
    base = rate([lanes[ALONE][at]])
    return {
        name: own / base
        for name, traces in lanes.items()
        if name != ALONE and base and (own := rate([traces[at]])) is not None
    }


def written(found: pd.DataFrame) -> str:
    """The table as text for a console: gaps as "–"."""
    shown = pd.DataFrame({"": found["lane"]})
    for column, (sign, form) in SHOWN.items():
        if column not in found:
            continue
        shown[sign] = [
            "–" if pd.isna(value) else ("yes" if value else "no") if column == "same" else form.format(value)
            for value in found[column]
        ]
    return shown.to_string(index=False)
