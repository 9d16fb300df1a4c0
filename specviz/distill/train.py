"""Teach a student from answers on disk; stop at any time and go on exactly there.

Example: ``train(student, corpus, recipe, folder)`` leaves checkpoint.pt and log.jsonl in `folder`; called again it goes
on after the last step written, with the same batches and the same chance.
"""

from __future__ import annotations

import io
import json
import math
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from specviz.core.runtime import cpu_has_bfloat16
from specviz.core.settings import SpecvizError
from specviz.distill.batches import Batch, collate, plan
from specviz.distill.evaluate import held_out
from specviz.distill.recipe import Recipe, write
from specviz.distill.shards import Corpus
from specviz.distill.students import Student

WARM_UP = 0.02
"""First share of training, in which the learning rate rises."""
SAVE_SECONDS = 30.0
"""What an interruption can lose. Nothing is saved at the interruption itself: it may fall into the middle of a step."""
LONGEST_STEP = 60.0
"""A step that took longer was not a step but a machine asleep; the budget is not charged for it."""
LOOKS = 30
MIN_STEPS = 50
"""How often the held-out answers are read in a training."""


def train(student: Student, corpus: Corpus, recipe: Recipe, folder: Path, device: torch.device) -> dict[str, Any]:
    """Run all steps that are left; return the last line of the log. Raises SpecvizError when the loss is not a number."""
    steps = max(1, round(recipe.epochs * len(plan(corpus, recipe.batch_tokens, recipe.seed, 0))))
    optimiser = _optimiser(student.module, recipe.learning_rate)
    state = _load(folder / "checkpoint.pt", student, optimiser)
    step, spent, last = state["step"], state["spent"], state["last"]
    if state["done"]:
        return last
    if not step:
        student.begin(collate(corpus, texts, device) for texts in plan(corpus, recipe.batch_tokens, recipe.seed, 0))
    student.module.train()
    every = max(MIN_STEPS, steps // LOOKS)
    tick = saved = time.monotonic()
    losses: list[float] = []
    on_overlap = done = False
    share = _share(step, steps, spent, recipe.budget_minutes)
    # in percent and not in steps, so that the time left is right under a budget too
    bar = tqdm(
        total=100.0, initial=100 * share, desc="train", bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}"
    )
    try:
        for texts in _batches(corpus, recipe, step, steps):
            if (now_on_overlap := share >= 1 - recipe.overlap_share) != on_overlap:
                on_overlap, losses = now_on_overlap, []  # another loss from here on
            losses.append(_step(student, optimiser, collate(corpus, texts, device), recipe, step, share, on_overlap))
            step += 1
            now = time.monotonic()
            spent, tick = spent + min(now - tick, LONGEST_STEP), now
            share = _share(step, steps, spent, recipe.budget_minutes)
            done = share >= 1
            if done or step % every == 0:
                seen = {"step": step, "steps": steps, "loss": sum(losses) / len(losses), "minutes": spent / 60}
                last = seen | {"of": "refusal" if on_overlap else "cross-entropy"} | held_out(student, corpus, device)
                losses = []
                _log(folder / "log.jsonl", last)
                bar.set_postfix(step=step, loss=f"{last['loss']:.3f}", agreement=f"{last['agreement']:.3f}")
            bar.update(100 * share - bar.n)
            if done or now - saved > SAVE_SECONDS:
                saved = now
                _save(folder / "checkpoint.pt", student, optimiser, step, spent, last, done)
            if done:
                break
    finally:
        bar.close()
        student.module.eval()
    return last


def _step(
    student: Student,
    optimiser: torch.optim.Optimizer,
    batch: Batch,
    recipe: Recipe,
    step: int,
    share: float,
    on_overlap: bool,
) -> float:
    for group in optimiser.param_groups:
        group["lr"] = rate(share, recipe.learning_rate)
    # of the step's own, so that a training that goes on draws what it would have drawn
    chance = torch.Generator().manual_seed(recipe.seed * 1_000_003 + step)
    device = batch.input_ids.device
    with torch.autocast(device.type, torch.bfloat16, enabled=_bfloat16(device)):
        loss = student.loss(batch, chance, on_overlap)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(student.module.parameters(), 1.0)
    value = float(loss.detach())
    if not math.isfinite(value) or not math.isfinite(float(norm)):
        raise SpecvizError(
            f"The loss is not a number at step {step}; choose a smaller --learning-rate and remove the checkpoint."
        )
    optimiser.step()
    return value


def rate(share: float, peak: float) -> float:
    """The learning rate when `share` of the training is over: a straight rise, then half a cosine down to 2 %."""
    rise = min(1.0, (share + 1e-4) / WARM_UP)
    return peak * rise * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, share))))


def _share(step: int, steps: int, spent: float, budget_minutes: float) -> float:
    by_time = spent / (60 * budget_minutes) if budget_minutes else 0.0
    return min(1.0, max(step / steps, by_time))


def _bfloat16(device: torch.device) -> bool:
    """Whether half of the bits make the device faster at nothing lost but rounding."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(False)
    return device.type == "cpu" and cpu_has_bfloat16()


def _optimiser(module: torch.nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    weights = [p for p in module.parameters() if p.requires_grad]
    kinds = [
        {"params": [p for p in weights if p.ndim >= 2], "weight_decay": 0.01},
        {"params": [p for p in weights if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(kinds, lr=learning_rate, betas=(0.9, 0.95), fused=True)


def _batches(corpus: Corpus, recipe: Recipe, step: int, steps: int) -> Iterator[NDArray[np.int64]]:
    """The texts of step `step`, `step` + 1, …: whole epochs, each in its own order."""
    epoch = 0
    while step < steps:
        order = plan(corpus, recipe.batch_tokens, recipe.seed, epoch)
        if step >= len(order):  # an epoch that was read before an interruption
            step, steps, epoch = step - len(order), steps - len(order), epoch + 1
            continue
        yield from order[step:steps]
        step, steps, epoch = 0, steps - len(order), epoch + 1


def _save(
    file: Path, student: Student, optimiser: Any, step: int, spent: float, last: dict[str, Any], done: bool
) -> None:
    stream = io.BytesIO()
    state = {"step": step, "spent": spent, "last": last, "done": done}
    torch.save(state | {"module": student.module.state_dict(), "optimiser": optimiser.state_dict()}, stream)
    write(file, stream.getvalue())


def _load(file: Path, student: Student, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    if not file.exists():
        return {"step": 0, "spent": 0.0, "last": {}, "done": False}
    state = checkpoint(file)
    try:
        student.module.load_state_dict(state.pop("module"))
        optimiser.load_state_dict(state.pop("optimiser"))
    except (KeyError, RuntimeError, ValueError) as error:
        raise SpecvizError(f"{file} belongs to another student; remove it or choose another --out.") from error
    return state


def checkpoint(file: Path) -> dict[str, Any]:
    """What `train` wrote; raises SpecvizError for a file that is damaged. Code in it is never run."""
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise SpecvizError(f"{file} is damaged; remove it, and the stage train starts again.") from error
    return state


def _log(file: Path, line: dict[str, Any]) -> None:
    with open(file, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
