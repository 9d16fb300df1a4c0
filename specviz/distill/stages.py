"""The five stages in order. Each looks at what is in the folder, does what is missing, and leaves it whole.

Example: ``run(recipe)`` after an interruption begins where it was interrupted; ``run(recipe, "train")`` does one stage,
or says which one has to come first.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from specviz.core.output_files import check_folder
from specviz.core.runtime import use_threads
from specviz.core.settings import SettingsError, SpecvizError
from specviz.distill import evaluate, export, outputs, prompts, students
from specviz.distill.recipe import OF_OUTPUTS, OF_TRAINING, Recipe, write
from specviz.distill.shards import Corpus, load
from specviz.distill.train import checkpoint, train
from specviz.models.loading import load_model
from specviz.models.pair import LoadedModel


class Work:
    """One recipe and what its stages share. Models and answers are read when a stage first asks for them."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.prompts_file = recipe.out / "prompts.npz"
        self.shards = recipe.out / "outputs"

    @cached_property
    def target(self) -> LoadedModel:
        """The target, loaded as for a run."""
        return load_model(self.recipe.target, self.recipe.dtype, self.recipe.device)

    @cached_property
    def corpus(self) -> Corpus:
        """All answers, of the stage outputs or of a file made elsewhere."""
        files = [self.recipe.outputs] if self.recipe.outputs else self._shards()
        corpus = load(files, self.target.vocab_size, self.recipe.held_out)
        if self.recipe.outputs:
            outputs.check_author(self.target, corpus, self.recipe.outputs)
        return corpus

    @cached_property
    def student(self) -> students.Student:
        """The student, with the weights of the last checkpoint where there is one."""
        return students.kind(self.recipe.student).build(self.target, self.recipe)

    @property
    def folder(self) -> Path:
        """Where the draft goes."""
        return self.recipe.out / export.folder_name(self.target, self.recipe)

    def _shards(self) -> list[Path]:
        wanted = outputs.shard_files(
            self.shards, self.recipe, len(prompts.read_prompts(self.prompts_file)["prompt_lengths"])
        )
        there = [file for file in wanted if file.exists()]
        if len(there) < len(wanted):
            raise SpecvizError(
                f"{len(there)} of {len(wanted)} files of answers are there; run the stage outputs first."
            )
        return there

    def trained(self) -> dict[str, Any]:
        """The last checkpoint, its weights put into the student."""
        file = self.recipe.work / "checkpoint.pt"
        if not file.exists():
            raise SpecvizError(
                f"No student {self.recipe.student!r} has been trained here yet; run the stage train first."
            )
        state = checkpoint(file)
        self.student.module.load_state_dict(state["module"])
        return state


def _prompts(work: Work) -> str:
    if work.recipe.outputs:
        return "not needed: the answers come from a file"
    work.recipe.claim(work.recipe.out, OF_OUTPUTS)
    if not work.prompts_file.exists():
        outputs.check_target(work.target)
        prompts.make_prompts(work.target.codec, work.target.context, work.recipe, work.prompts_file)
    return f"{len(prompts.read_prompts(work.prompts_file)['prompt_lengths'])} prompts"


def _outputs(work: Work) -> str:
    if not work.recipe.outputs:
        work.recipe.claim(work.recipe.out, OF_OUTPUTS)
        outputs.write_outputs(work.target, work.recipe, work.prompts_file, work.shards)
    corpus = work.corpus
    return f"{corpus.texts} answers, {len(corpus.top_ids)} tokens, {int(corpus.held_out.sum())} answers held out"


def _train(work: Work) -> str:
    work.recipe.claim(work.recipe.work, OF_TRAINING)
    use_threads()
    last = train(work.student, work.corpus, work.recipe, work.recipe.work, work.target.device)
    return f"step {last['step']}, loss {last['loss']:.3f}, held-out agreement {last['agreement']:.3f}"


def _evaluate(work: Work) -> str:
    state = work.trained()
    corpus, device = work.corpus, work.target.device
    found: dict[str, Any] = evaluate.held_out(work.student, corpus, device, tokens=None)
    trial = work.recipe.work / "trial"
    trial.mkdir(exist_ok=True)
    work.student.export(trial)
    found |= evaluate.costs(work.target, work.student.reader(trial))
    for row in found["by_temperature"].values():
        row["best_k"], row["speed_up"] = evaluate.expected(row["acceptance_rate"], found["c"], found["v"])
    machine = f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads"
    found |= {
        "step": state["step"],
        "steps": state["step"],
        "minutes": state["spent"] / 60,
        "texts": corpus.texts,
        "tokens": len(corpus.top_ids),
        "top": corpus.top_ids.shape[1],
        "temperatures": sorted({round(float(t), 3) for t in corpus.temperature}),
        "held_out_texts": int(corpus.held_out.sum()),
        "machine": machine
        if device.type == "cpu"
        else torch.cuda.get_device_name()
        if device.type == "cuda"
        else "a GPU",
        "measured_on": f"{machine}, {device.type}",
    }
    write(work.recipe.work / "evaluation.json", json.dumps(found, indent=1).encode())
    return f"agreement {found['agreement']:.3f}, overlap {found['overlap']:.3f}, c {found['c']:.3f}" + "".join(
        f"\n  temperature {t:g}: α {r['acceptance_rate']:.3f}, best K {r['best_k']}, speed-up {r['speed_up']:.2f}"
        for t, r in found["by_temperature"].items()
    )


def _export(work: Work) -> str:
    state = work.trained()
    file = work.recipe.work / "evaluation.json"
    facts = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if facts.get("step") != state["step"]:
        raise SpecvizError("The student has not been measured since it was trained; run the stage evaluate first.")
    export.export(work.student, work.target, work.recipe, facts, work.folder)
    work.student.reader(work.folder)([1])  # one pass of what was written, read back
    return f"{work.folder}: {work.student.usage(work.recipe.target, work.folder)}"


STAGES: dict[str, Callable[[Work], str]] = {
    "prompts": _prompts,
    "outputs": _outputs,
    "train": _train,
    "evaluate": _evaluate,
    "export": _export,
}
"""Name → what does it and returns a line about what is there now."""


def run(recipe: Recipe, stage: str | None = None) -> None:
    """All stages, or one. Raises SpecvizError, one sentence; what was finished is kept."""
    if stage is not None and stage not in STAGES:
        raise SettingsError(f"There is no stage {stage!r}; choose one of: {', '.join(STAGES)}.")
    students.kind(recipe.student)
    check_folder(recipe.out, "the draft")
    for file, option in ((recipe.prompts, "prompts"), (recipe.outputs, "outputs")):
        if file is not None:
            _readable(file, option)
    work = Work(recipe)
    for name in [stage] if stage else STAGES:
        print(f"{name}: {STAGES[name](work)}", flush=True)


def _readable(file: Path, option: str) -> None:
    """Raise SettingsError where an input file cannot be read: before the target is loaded for it."""
    try:
        with file.open("rb"):
            pass
    except OSError as error:
        raise SettingsError(f"--{option} {file} cannot be read ({error.strerror}); give another file.") from error
