"""Stage 5: the draft as an ordinary model folder, with a card that says how it was made and how good it is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.distill.recipe import Recipe, write
from specviz.distill.students import Student
from specviz.models.catalogue import MODELS
from specviz.models.pair import LoadedModel


def export(student: Student, target: LoadedModel, recipe: Recipe, facts: Mapping[str, Any], folder: Path) -> None:
    """Write weights, configuration, tokenizer and README.md into `folder`, all or nothing; one that is there goes."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    about = student.export(partial)
    write(partial / "README.md", card(folder.name, target, recipe, dict(facts) | about).encode())
    if folder.exists():
        shutil.rmtree(folder)
    partial.rename(folder)


def folder_name(target: LoadedModel, recipe: Recipe) -> str:
    """Name of the exported folder, which is the draft's name on the screen: smollm2-135m-instruct-draft-tiny."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", target.name.rpartition("/")[2]).strip("-").lower()
    return f"{name}-draft-{recipe.student}"


def card(name: str, target: LoadedModel, recipe: Recipe, facts: Mapping[str, Any]) -> str:
    """The model card in Markdown. `facts`: of the stages before, by name."""
    source = MODELS.get(target.name)
    licence = recipe.licence or (source.licence if source else "other")
    base = recipe.base_model or (source.where if source and source.kind == "hub" else target.name)
    per = facts["by_temperature"]
    temperatures = "\n".join(
        f"| {float(t):g} | {row['acceptance_rate']:.3f} | {row['agreement']:.3f} | {row['best_k']} | "
        f"{row['speed_up']:.2f} | {row['places']} |"
        for t, row in per.items()
    )
    costs = ", ".join(f"v({k}) {v:.2f}" for k, v in facts["v"].items())
    begun = f", going on from {Path(recipe.start).name}," if recipe.start else " from scratch"
    finish = (
        f"; the last {recipe.overlap_share:.0%} of the training on the overlap itself" if recipe.overlap_share else ""
    )
    return f"""---
license: {licence.lower()}
base_model: {base}
library_name: transformers
tags:
- speculative-decoding
---
# {name}

A draft model for speculative decoding of {target.name}: {facts["what"]}; {facts["parameters"] / 1e6:.1f} M parameters.
Not made to be talked to.

## How it was made

Distilled{begun} with `python -m specviz distill` from {facts["texts"]} answers of the target ({facts["tokens"]} answer
tokens, drawn at temperatures {", ".join(f"{t:g}" for t in facts["temperatures"])}), against the target's
{facts["top"]} likeliest next tokens at each place: {facts["steps"]} steps, {facts["minutes"]:.0f} minutes on
{facts["machine"]}{finish}.

## How good it is

On {facts["held_out_texts"]} held-out answers: greedy agreement {facts["agreement"]:.3f}, overlap Σ min(target, draft) at
temperature 1 {facts["overlap"]:.3f}. In the table, α is the acceptance rate to expect of speculative sampling at that
temperature (at 0: of the greedy draft), and speed-up the formula of Leviathan et al. 2023 with measured costs: cost ratio
c {facts["c"]:.3f}, {costs} (measured on {facts["measured_on"]}).

| temperature | α | greedy agreement | best K | speed-up to expect | places |
|---|---|---|---|---|---|
{temperatures}
"""
