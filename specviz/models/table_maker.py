"""Count a table of n-grams (see `tables`) in outputs of a target.

    python -m specviz.models.table_maker outputs.npz TARGET --about "answers of TARGET to …" --out assets/tables/NAME.safetensors

`outputs.npz` holds answer_ids (all answers, one after another) and answer_lengths, and if there are any prompt_ids and
prompt_lengths: the ends of prompts are contexts, but nothing of them is counted. Probabilities are Witten and Bell's:
of C occurrences of a context with T different successors, one seen c times has c / (C + T), and T / (C + T) is left to the
shorter context. Entries seen most often stay, as many as fit into the size.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from specviz.core.output_files import check_file, check_folder
from specviz.core.settings import SpecvizError
from specviz.models.fitness import reason
from specviz.models.loading import load_model
from specviz.models.tables import fingerprint, folders

Ids = NDArray[np.int64]
MAX_BYTES = 950_000


@dataclass(frozen=True, slots=True)
class Grams:
    """n-grams of one size, sorted: `contexts` [entries, size − 1], next `ids`, `counts`, `weights` c / (C + T)."""

    contexts: Ids
    ids: Ids
    counts: Ids
    weights: NDArray[np.float64]

    def only(self, kept: NDArray[np.bool_]) -> Grams:
        """Some of the entries."""
        return Grams(self.contexts[kept], self.ids[kept], self.counts[kept], self.weights[kept])

    def bytes(self) -> int:
        """On disk, with two bytes for an id, a weight and a count."""
        different = len(np.unique(self.contexts, axis=0)) if len(self.ids) else 0
        return 4 * len(self.ids) + 2 * different * (self.contexts.shape[1] + 1)


def make(texts: Sequence[tuple[Ids, Ids]], vocab_size: int, order: int = 3, most: int = MAX_BYTES) -> dict[str, Tensor]:
    """Tensors of a table from (prompt, answer) pairs of ids, at most about `most` bytes."""
    sizes = [counted(texts, size) for size in range(1, order + 1)]
    # what was seen once is mostly chance; single tokens stay, all else falls back on them
    ranked = np.sort(np.concatenate([g.counts[g.counts > 1] for g in sizes[1:]] or [np.zeros(0, np.int64)]))
    low, high = 0, len(ranked)
    while low < high:  # the smallest number of entries to leave out so that the rest fits
        middle = (low + high) // 2
        fits = sum(g.bytes() for g in _often(sizes, ranked, middle)) <= most
        low, high = (low, middle) if fits else (middle + 1, high)
    tensors: dict[str, Tensor] = {}
    kind = torch.uint16 if vocab_size <= 1 << 16 else torch.int32
    for size, grams in enumerate(_often(sizes, ranked, low), start=1):
        tensors[f"ids{size}"] = torch.from_numpy(grams.ids).to(kind)
        tensors[f"weights{size}"] = torch.from_numpy(grams.weights).bfloat16()
        if size > 1:
            contexts, entries = np.unique(grams.contexts, axis=0, return_counts=True)
            tensors[f"contexts{size}"] = torch.from_numpy(contexts).to(kind)
            tensors[f"counts{size}"] = torch.from_numpy(entries).to(kind)
    return tensors


def _often(sizes: Sequence[Grams], ranked: Ids, left_out: int) -> list[Grams]:
    least = ranked[left_out] if left_out < len(ranked) else np.iinfo(np.int64).max
    return [sizes[0], *(g.only(g.counts >= least) for g in sizes[1:])]


def counted(texts: Sequence[tuple[Ids, Ids]], size: int) -> Grams:
    """All n-grams of `size` that end inside an answer."""
    rows = []
    for prompt, answer in texts:
        text = np.concatenate([prompt[max(0, len(prompt) - size + 1) :], answer])
        if len(text) >= size:
            rows.append(np.lib.stride_tricks.sliding_window_view(text, size))
    grams, counts = np.unique(np.concatenate(rows), axis=0, return_counts=True)
    contexts, ids = grams[:, :-1], grams[:, -1]
    first = np.ones(len(grams), dtype=bool)
    first[1:] = (contexts[1:] != contexts[:-1]).any(axis=1)
    group = first.cumsum() - 1
    occurrences, successors = np.bincount(group, weights=counts), np.bincount(group)
    return Grams(contexts, ids, counts, counts / (occurrences + successors)[group])


def texts_of(arrays: Mapping[str, Any]) -> list[tuple[Ids, Ids]]:
    """(prompt, answer) pairs out of the arrays of an .npz; empty prompts where it has none."""
    answers = _split(arrays, "answer")
    prompts = _split(arrays, "prompt") if "prompt_ids" in arrays else [np.zeros(0, np.int64)] * len(answers)
    return list(zip(prompts, answers, strict=True))


def _split(arrays: Mapping[str, Any], name: str) -> list[Ids]:
    lengths = np.asarray(arrays[f"{name}_lengths"], dtype=np.int64)
    return np.split(np.asarray(arrays[f"{name}_ids"], dtype=np.int64), lengths.cumsum()[:-1])


def write(path: Path, tensors: dict[str, Tensor], tokens: Mapping[int, str], order: int, seen: int, about: str) -> None:
    """Save a table. `tokens`: the vocabulary, id → spelling; `seen`: tokens counted; `about`: the corpus in words."""
    head = {"about": about, "tokens": seen, "order": order, "vocabulary": fingerprint(tokens)}
    head |= {"vocab_size": max(tokens) + 1}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, {name: str(value) for name, value in head.items()})


def main() -> None:
    """Command line: see the module. Exits with one sentence on an error."""
    parser = argparse.ArgumentParser(description="Count a table of n-grams in outputs of a target.")
    parser.add_argument("outputs", type=Path, help="an .npz with the arrays answer_ids and answer_lengths")
    parser.add_argument("target", help="catalogue name, hub id or folder; default is the default pair's")
    parser.add_argument("--about", required=True, help="the corpus in words, shown in traces")
    parser.add_argument("--out", type=Path, help="a file; else one in the cache folder, named like the target")
    parser.add_argument("--order", type=int, default=3, choices=(2, 3, 4))
    given = parser.parse_args()
    try:
        if given.out:
            check_folder(given.out.parent, "the table")
            check_file(given.out, "the table")
        with np.load(given.outputs) as arrays:
            texts = texts_of(arrays)
        target = load_model(given.target)
    except SpecvizError as error:
        raise SystemExit(f"{error}") from error
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise SystemExit(f"{given.outputs} holds no answers that can be read ({reason(error)}); see --help.") from error
    tokens = target.codec.tokens
    out = given.out or folders()[-1] / f"{target.name}.safetensors"
    tensors = make(texts, max(tokens) + 1, given.order)
    try:
        write(out, tensors, tokens, given.order, sum(len(answer) for _, answer in texts), given.about)
    except (OSError, SafetensorError) as error:
        raise SystemExit(f"The table could not be saved in {out} ({reason(error)}); choose another --out.") from error
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
