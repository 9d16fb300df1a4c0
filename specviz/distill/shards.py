"""Answers of a target as files: written whole, checked when read.

A shard is an .npz of plain arrays (README of the recipe's folder: `LAYOUT`). The zip format carries a CRC of every
array, so a shard that was cut off or altered is found by reading it.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specviz.core.settings import SpecvizError
from specviz.distill.recipe import write

LAYOUT = """prompt_ids, answer_ids: token ids, one text after another; prompt_lengths, answer_lengths: (texts,)
top_ids, top_logprobs: (answer tokens, top): the likeliest next tokens at each position of the answers, and their natural
log-probabilities at temperature 1; temperature: (texts,); held_out: (texts,), optional: kept apart for measuring"""
_NEEDED = (
    "prompt_ids",
    "prompt_lengths",
    "answer_ids",
    "answer_lengths",
    "top_ids",
    "top_logprobs",
    "temperature",
)


class BadShard(SpecvizError):
    """A file of answers that cannot be used."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts of prompt and answer. `ids`: all texts one after another, the prompt of each before its answer.

    `starts`, `prompt_lengths`, `answer_lengths`, `temperature`, `held_out`: [texts]; `first`: [texts], row of the
    answer's first token in `top_ids` and `top_logprobs` [answer tokens, top].
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    prompt_lengths: NDArray[np.int64]
    answer_lengths: NDArray[np.int64]
    temperature: NDArray[np.float32]
    held_out: NDArray[np.bool_]
    first: NDArray[np.int64]
    top_ids: NDArray[np.integer]
    top_logprobs: NDArray[np.float16]

    @property
    def texts(self) -> int:
        """How many."""
        return len(self.starts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Prompt and answer together, [texts]."""
        return self.prompt_lengths + self.answer_lengths


def save(file: Path, arrays: dict[str, NDArray[np.generic]]) -> None:
    """Write a shard; a file of that name is there whole or not at all."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    write(file, stream.getvalue())


def load(files: Sequence[Path], vocab_size: int, held_out: float = 0.05) -> Corpus:
    """All shards as one corpus. Where none says what is held out, a share of the prompts is, chosen by their ids.

    Raises BadShard for a file that is damaged, lacks an array, or holds ids that the target does not have.
    """
    parts = [read(file, vocab_size) for file in files]
    if not parts:
        raise BadShard("There are no answers yet; run the stage outputs first.")
    if len({part["top_ids"].shape[1] for part in parts}) > 1:
        raise BadShard("The files of answers keep different numbers of likeliest tokens; make them anew in one folder.")
    joined = {name: np.concatenate([part[name] for part in parts]) for name in _NEEDED}
    prompts, answers = (joined[f"{what}_lengths"].astype(np.int64) for what in ("prompt", "answer"))
    starts = np.cumsum(prompts + answers) - (prompts + answers)
    ids = np.empty(int((prompts + answers).sum()), np.int32)
    answer_position = np.repeat(starts + prompts, answers) + _within(answers)
    ids[answer_position] = joined["answer_ids"]
    ids[np.repeat(starts, prompts) + _within(prompts)] = joined["prompt_ids"]
    apart = (
        np.concatenate([part["held_out"] for part in parts]).astype(bool)
        if all("held_out" in part for part in parts)
        else _by_prompt(ids, starts, prompts, held_out)
    )
    return Corpus(
        ids=ids,
        starts=starts,
        prompt_lengths=prompts,
        answer_lengths=answers,
        temperature=joined["temperature"].astype(np.float32),
        held_out=apart,
        first=np.cumsum(answers) - answers,
        top_ids=joined["top_ids"],
        top_logprobs=joined["top_logprobs"],
    )


def read(file: Path, vocab_size: int) -> dict[str, NDArray[np.generic]]:
    """The arrays of one shard, checked. Raises BadShard."""
    try:
        with np.load(file, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise BadShard(f"{file.name} is damaged or cut off; remove it, and the stage outputs makes it anew.") from error
    if missing := [name for name in _NEEDED if name not in arrays]:
        raise BadShard(f"{file.name} has no array {missing[0]}; give a file in the layout of the stage outputs.")
    texts, tokens = len(arrays["prompt_lengths"]), len(arrays["answer_ids"])
    if (
        texts == 0
        or len(arrays["answer_lengths"]) != texts
        or len(arrays["temperature"]) != texts
        or arrays["prompt_lengths"].min() < 1  # the first token of an answer is predicted from the prompt's last
        or arrays["answer_lengths"].min() < 1
        or int(arrays["prompt_lengths"].sum(dtype=np.int64)) != len(arrays["prompt_ids"])
        or int(arrays["answer_lengths"].sum(dtype=np.int64)) != tokens
        or arrays["top_ids"].ndim != 2
        or arrays["top_ids"].shape != arrays["top_logprobs"].shape
        or len(arrays["top_ids"]) != tokens
    ):
        raise BadShard(
            f"The arrays of {file.name} do not fit together; remove it, and the stage outputs makes it anew."
        )
    if max(int(arrays[name].max()) for name in ("prompt_ids", "answer_ids", "top_ids")) >= vocab_size:
        raise BadShard(f"{file.name} holds token ids that the target does not have; it was written by another model.")
    return arrays


def _within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """[0, 1, 0, 1, 2] for lengths [2, 3]."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _by_prompt(
    ids: NDArray[np.int32], starts: NDArray[np.int64], lengths: NDArray[np.int64], share: float
) -> NDArray[np.bool_]:
    """Answers to one prompt stay on one side; at least one text is on each, where there are two prompts."""
    # not Python's own hash, which differs from process to process
    key = np.array([zlib.crc32(ids[s : s + n].tobytes()) for s, n in zip(starts, lengths, strict=True)])
    apart: NDArray[np.bool_] = key < share * 2**32
    if share and not apart.any():
        apart = key == key.min()
    return apart & (key != key.max()) if apart.all() else apart
