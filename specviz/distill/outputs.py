"""Stage 2: the target answers, many prompts side by side, and its likeliest tokens are kept.

Nothing is done row by row: a step draws for all texts at once, and rows that are finished leave the cache together.

Example: 48 answers of up to 160 tokens are one batch; a file ("shard") holds some hundred answers, and a call that finds
the first files whole goes on with the next.
"""

from __future__ import annotations

import inspect
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm
from transformers import DynamicCache

from specviz.core.runtime import free_memory
from specviz.core.settings import SpecvizError
from specviz.distill.prompts import read_prompts
from specviz.distill.recipe import Recipe
from specviz.distill.shards import BadShard, Corpus, read, save
from specviz.models.cached import CachedModel
from specviz.models.pair import LoadedModel

DRAWN_FROM = 128
"""Answers are drawn from this many likeliest tokens: rare slips of the target's tail teach a draft nothing."""

CPU_LOOKS, GPU_LOOKS = 1, 8
"""Steps between two looks at which rows are finished."""


def shard_files(folder: Path, recipe: Recipe, prompts: int) -> list[Path]:
    """Names of all files of answers, whether they are there or not."""
    return [folder / f"{number:05d}.npz" for number in range(-(-prompts // recipe.shard))]


def write_outputs(target: LoadedModel, recipe: Recipe, prompts_file: Path, folder: Path) -> list[Path]:
    """Write every shard that is missing or damaged; return all. Raises SpecvizError where the target cannot be asked in
    batches, or where disk or memory are too small for it."""
    check_target(target)
    prompts = read_prompts(prompts_file)
    lengths = prompts["prompt_lengths"].astype(np.int64)
    texts = np.split(prompts["prompt_ids"], np.cumsum(lengths)[:-1])
    files = shard_files(folder, recipe, len(texts))
    folder.mkdir(parents=True, exist_ok=True)
    missing = [here for here, file in enumerate(files) if not _whole(file, target.vocab_size)]
    positions = min(len(texts), len(missing) * recipe.shard) * recipe.new_tokens
    _check_room(target, recipe, folder, positions, int(lengths.max()))
    with tqdm(total=len(files), initial=len(files) - len(missing), desc="outputs", unit="file") as bar:
        for here in missing:
            rows = range(here * recipe.shard, min(len(texts), (here + 1) * recipe.shard))
            part = answers(target, [texts[r] for r in rows], prompts["temperature"][rows], recipe, recipe.seed + here)
            save(files[here], part | {"held_out": prompts["held_out"][rows]})
            bar.update()
    return files


def check_target(target: LoadedModel) -> None:
    """Raise SpecvizError for a target that cannot write many answers at once with a cache."""
    known = inspect.signature(target.model.forward).parameters
    if target.cache_mode != "rollback" or "attention_mask" not in known:
        raise SpecvizError(
            f"{target.name} cannot write many answers at once with an ordinary cache; choose a transformer as target."
        )
    if target.model.get_input_embeddings() is None or not hasattr(target.model.config.get_text_config(), "hidden_size"):
        raise SpecvizError(
            f"{target.name} has no hidden states that a draft could be made from; choose another target."
        )


def check_author(target: LoadedModel, corpus: Corpus, file: Path) -> None:
    """Raise SpecvizError where `target` does not find likeliest what the corpus says it did: another model wrote it, or
    another tokenizer numbered its ids."""
    same = positions = 0
    for text in np.linspace(0, corpus.texts - 1, min(4, corpus.texts)).astype(int):
        length = int(min(corpus.answer_lengths[text], 48, target.context - corpus.prompt_lengths[text]))
        begin = int(corpus.starts[text])
        ids = corpus.ids[begin : begin + int(corpus.prompt_lengths[text]) + length - 1].tolist()
        if length < 1:
            continue
        likeliest = CachedModel(target).logits(ids, last=length).argmax(-1).cpu().numpy()
        same += int((likeliest == corpus.top_ids[corpus.first[text] :][:length, 0]).sum())
        positions += length
    # two roundings of one model agree on nine of ten positions
    if same < 0.7 * positions:
        raise SpecvizError(
            f"{file.name} was not written by {target.name}: its most likely tokens differ ({same} of {positions} agree); "
            "leave out --outputs."
        )


def _whole(file: Path, vocab_size: int) -> bool:
    if not file.exists():
        return False
    try:
        read(file, vocab_size)
    except BadShard as error:
        print(f"{error} It is made again now.", file=sys.stderr)
        return False
    return True


def _check_room(target: LoadedModel, recipe: Recipe, folder: Path, positions: int, longest: int) -> None:
    wide = 2 if target.vocab_size <= 65_536 else 4
    size, free = positions * (recipe.top * (wide + 2) + 4), shutil.disk_usage(folder).free
    if size > free:
        raise SpecvizError(
            f"The answers may take {size / 1e9:.1f} GB of disk, but only {free / 1e9:.1f} GB are free; make room or ask for "
            "fewer --answers."
        )
    config = target.model.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    kept = 2 * config.num_hidden_layers * heads * head * target.dtype.itemsize
    # a cache that grows is copied once; logits are held in float32 and in the target's own format
    need = min(recipe.rows, recipe.shard) * (kept * (longest + recipe.new_tokens) * 1.1 + 8 * target.vocab_size)
    room = free_memory(target.device)
    if need > room:
        raise SpecvizError(
            f"{recipe.rows} answers side by side need about {need / 1e9:.1f} GB of memory, but only {room / 1e9:.1f} GB are "
            "free; ask for fewer --rows."
        )


def answers(
    target: LoadedModel, prompts: Sequence[NDArray[Any]], temperature: NDArray[Any], recipe: Recipe, seed: int
) -> dict[str, NDArray[Any]]:
    """The arrays of a shard, without held_out, for these prompts at these temperatures; the same for the same seed."""
    # alike in length go together, so that little is filled up
    order = np.argsort([len(prompt) for prompt in prompts], kind="stable")
    chance = torch.Generator(target.device).manual_seed(seed)
    found: dict[int, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = {}
    for begin in range(0, len(order), recipe.rows):
        rows = order[begin : begin + recipe.rows]
        try:
            ids, top_ids, logprobs, lengths = _batch(
                target, [prompts[r] for r in rows], temperature[rows], recipe, chance
            )
        except torch.OutOfMemoryError as error:
            raise SpecvizError(
                "The memory is too small for so many answers side by side; ask for fewer --rows."
            ) from error
        if not np.isfinite(logprobs[..., 0]).all():
            raise SpecvizError(f"{target.name} answered with NaN or infinite logits; use --dtype float32.")
        for here, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            found[int(row)] = (ids[here, :length], top_ids[here, :length], logprobs[here, :length])
    small = np.uint16 if target.vocab_size <= 65_536 else np.int32
    texts = [found[row] for row in range(len(prompts))]
    return {
        "prompt_ids": np.concatenate(prompts).astype(small),
        "prompt_lengths": np.array([len(prompt) for prompt in prompts], np.int32),
        "answer_ids": np.concatenate([ids for ids, _, _ in texts]).astype(small),
        "answer_lengths": np.array([len(ids) for ids, _, _ in texts], np.int32),
        "top_ids": np.concatenate([top for _, top, _ in texts]).astype(small),
        "top_logprobs": np.concatenate([logprobs for _, _, logprobs in texts]).astype(np.float16),
        "temperature": np.asarray(temperature, np.float32),
    }


@torch.inference_mode()
def _batch(
    target: LoadedModel,
    prompts: Sequence[NDArray[Any]],
    temperature: NDArray[Any],
    recipe: Recipe,
    chance: torch.Generator,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """ids [rows, positions], top ids and log-probabilities [rows, positions, top], lengths [rows]."""
    device, rows = target.device, len(prompts)
    widest = max(map(len, prompts))
    positions = min(recipe.new_tokens, target.context - widest)
    top = min(recipe.top, target.vocab_size)
    fed = torch.zeros(rows, widest, dtype=torch.long)
    mask = torch.zeros(rows, widest, dtype=torch.long)
    for row, prompt in enumerate(prompts):  # filled up on the left, so that all go on at one position
        fed[row, widest - len(prompt) :] = torch.from_numpy(prompt.astype(np.int64))
        mask[row, widest - len(prompt) :] = 1
    fed, mask = fed.to(device), mask.to(device)
    warm = torch.from_numpy(np.asarray(temperature, np.float32)).to(device)[:, None]
    ends = torch.tensor(sorted(target.eos_ids), device=device, dtype=torch.long)
    ids = torch.zeros(rows, positions, dtype=torch.long, device=device)
    top_ids = torch.zeros(rows, positions, top, dtype=torch.int32, device=device)
    logprobs = torch.zeros(rows, positions, top, dtype=torch.float16, device=device)
    lengths = torch.full((rows,), positions, device=device)
    here = torch.arange(rows, device=device)  # rows still in the cache
    ended = torch.zeros(rows, dtype=torch.bool, device=device)
    known = inspect.signature(target.model.forward).parameters
    cache = DynamicCache()
    cache_name = "cache" if "cache" in known else "past_key_values"
    more: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in known else {}
    # looking at how many are finished waits for a GPU, so it is not done at every step there
    looks = CPU_LOOKS if device.type == "cpu" else GPU_LOOKS
    for position in range(positions):
        if "position_ids" in known:
            more["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)[:, -fed.shape[1] :]
        inputs = {"input_ids": fed, "attention_mask": mask, cache_name: cache, "use_cache": True}
        logits = target.model(**inputs, **more).logits[:, -1].float()
        likeliest, named = logits.topk(min(max(DRAWN_FROM, top), target.vocab_size), dim=-1)
        drawn = named.gather(1, _draw(likeliest, warm[here], chance))
        ids[here, position] = drawn[:, 0]
        top_ids[here, position] = named[:, :top].int()
        logprobs[here, position] = (likeliest[:, :top] - torch.logsumexp(logits, -1, keepdim=True)).half()
        ends_now = torch.isin(drawn[:, 0], ends) & ~ended[here]
        lengths[here[ends_now]] = position + 1
        ended[here[ends_now]] = True
        fed, mask = drawn, torch.nn.functional.pad(mask, (0, 1), value=1)
        if position % looks == looks - 1:
            left = int((~ended[here]).sum())
            if left == 0:
                break
            if left <= 0.875 * len(here):
                keep = (~ended[here]).nonzero()[:, 0]
                cache.batch_select_indices(keep)
                here, fed, mask = here[keep], fed[keep], mask[keep]
    return ids.cpu().numpy(), top_ids.cpu().numpy(), logprobs.cpu().numpy(), lengths.cpu().numpy()


def _draw(likeliest: Tensor, warm: Tensor, chance: torch.Generator) -> Tensor:
    """A column of `likeliest` [rows, tokens] for each row, [rows, 1], at temperatures `warm` [rows, 1]; 0 is the first."""
    waits = torch.empty_like(likeliest).exponential_(generator=chance).clamp(min=1e-30)
    # the largest of log p - log(exponential draw) is a draw from p (the Gumbel trick); no softmax is needed
    column = (likeliest / warm.clamp(min=1e-3) - waits.log()).argmax(-1, keepdim=True)
    return torch.where(warm == 0, 0, column)
