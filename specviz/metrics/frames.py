"""A trace as tidy tables: one row a step, one row a token. pandas only; no drawing, no torch."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from specviz.core.records import Fate, StepRecord
from specviz.metrics.rates import count


def steps_frame(steps: Iterable[StepRecord]) -> pd.DataFrame:
    """One row a step: settings, counts, times in milliseconds, running α. Missing values are NA, never 0."""
    rows = []
    accepted = tested = 0
    for step in steps:
        here = count([step])
        accepted += here.acceptance_rate.part
        tested += here.acceptance_rate.whole
        rows.append(
            {
                "step": step.index,
                "strategy": step.strategy,
                "rule": step.settings.rule,
                "draft_length": step.settings.draft_length,
                "k": step.k,
                "temperature": step.settings.temperature,
                "drafted": here.drafted,
                "draft_stop": step.draft_stop,
                "tested": here.tested,
                "accepted": here.accepted,
                "rejected": here.rejected,
                "untested": here.untested,
                "emitted": here.emitted,
                "acceptance": here.acceptance_rate.value,
                "running_acceptance": accepted / tested if tested else None,
                "draft_ms": step.draft_s * 1e3,
                "verify_ms": step.verify_s * 1e3,
                "other_ms": step.other_s * 1e3,
                "catch_up_ms": step.catch_up_s * 1e3,
                "stop": step.stop,
            }
        )
    return pd.DataFrame(rows).convert_dtypes() if rows else pd.DataFrame()


def tokens_frame(steps: Iterable[StepRecord]) -> pd.DataFrame:
    """One row a token, the target's own included (`drafted` False)."""
    rows = []
    for step in steps:
        for drafted, token in [*((True, t) for t in step.tokens), *([(False, step.extra)] if step.extra else [])]:
            rows.append(
                {
                    "step": step.index,
                    "drafted": drafted,
                    "token_id": token.token_id,
                    "text": token.text,
                    "fate": str(token.fate),
                    "draft_prob": token.draft_prob,
                    "target_prob": token.target_prob,
                    "accept_prob": token.accept_prob,
                    "coin": token.coin,
                    "emitted": token.fate in (Fate.ACCEPTED, Fate.RESAMPLED, Fate.BONUS),
                }
            )
    return pd.DataFrame(rows).convert_dtypes() if rows else pd.DataFrame()
