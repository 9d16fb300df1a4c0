"""A table of n-grams as a model: what followed the last one or two tokens in a corpus of a target's outputs.

A file holds, for each context it knows, a few next tokens with their probabilities; what they leave of 1 goes to the next
shorter context, in the end to all tokens alike. So every token has a probability, and a draw from it is a draw from a real
distribution. Example, order 3: ``q(x | a b) = w3(x | a b) + (1 − Σ w3)·(w2(x | b) + (1 − Σ w2)·(w1(x) + rest))``.

A table belongs to a vocabulary, not to a name: it carries a fingerprint of the tokenizer's content. Tables come with the
code (`assets/tables`) or lie in the cache folder; `table_maker` makes one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from specviz.core.assets import ASSETS
from specviz.core.words import sentence
from specviz.models.folders import ModelError
from specviz.models.where import cache_folder

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel

FOLDERS = [ASSETS / "tables"]
"""Where tables are looked for, beside the cache folder."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table on disk. `about`: the corpus, in words; `tokens`: how many it was counted from; `order`: longest n-gram."""

    path: Path
    about: str
    tokens: int
    order: int
    vocabulary: str
    vocab_size: int

    @property
    def sentence(self) -> str:
        """For the trace and the page."""
        return f"n-gram table {self.path.stem}: order {self.order}, {self.tokens:,} tokens of {self.about}"


def fingerprint(tokens: Mapping[int, str]) -> str:
    """Of a vocabulary: id → spelling, whatever the tokenizer is called."""
    return hashlib.sha256(json.dumps(sorted(tokens.items())).encode()).hexdigest()


def folders() -> tuple[Path, ...]:
    """All of them, in the order they are looked through; the last is where new tables go."""
    return *FOLDERS, cache_folder() / "tables"


def find(vocabulary: str) -> TableFile | None:
    """The first table for this vocabulary. Raises ModelError for a file that is none."""
    paths = (path for folder in folders() for path in sorted(folder.glob("*.safetensors")))
    return next((file for file in map(read_head, paths) if file.vocabulary == vocabulary), None)


def read_head(path: Path) -> TableFile:
    """What a file says of itself. Raises ModelError."""
    try:
        with safe_open(path, framework="pt") as file:
            head = file.metadata() or {}
        numbers = {name: int(head[name]) for name in ("tokens", "order", "vocab_size")}
        return TableFile(path, head["about"], vocabulary=head["vocabulary"], **numbers)
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(sentence("errors.table_none", name=path.name)) from error


def load(file: TableFile, target: LoadedModel) -> LoadedModel:
    """The table as a draft model for `target`. Raises ModelError for a file that is damaged."""
    try:
        with safe_open(file.path, framework="pt") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 — not a dictionary
        table = NgramTable(tensors, file.order, file.vocab_size)
    except (OSError, SafetensorError, KeyError, IndexError, RuntimeError) as error:
        raise ModelError(sentence("errors.table_damaged", name=file.path.name)) from error
    entries = sum(len(tensors[f"ids{order}"]) for order in range(1, file.order + 1))
    return type(target)(
        name=file.path.stem,
        source=file.sentence,
        model=table,
        codec=target.codec,
        device=torch.device("cpu"),
        dtype=torch.float32,
        context=target.context,
        vocab_size=file.vocab_size,
        eos_ids=target.eos_ids,
        cache_mode="recompute",
        parameters=entries,
        bytes=sum(t.numel() * t.element_size() for t in tensors.values()),
    )


class NgramTable(nn.Module):
    """Answers like a model of transformers: logits are the logarithms of the table's probabilities."""

    def __init__(self, tensors: Mapping[str, Tensor], order: int, vocab_size: int) -> None:
        """`tensors`: ids1, weights1, and for each longer n-gram contexts, counts (entries a context), ids, weights."""
        super().__init__()
        self.order, self.vocab_size = order, vocab_size
        ids, weights = tensors["ids1"].long(), tensors["weights1"].float()
        self.shortest = torch.full((vocab_size,), float(1 - weights.sum()) / vocab_size)
        self.shortest[ids] += weights
        self.longer: list[tuple[dict[tuple[int, ...], tuple[int, int]], Tensor, Tensor]] = []
        for size in range(2, order + 1):
            contexts = [tuple(row) for row in tensors[f"contexts{size}"].long().tolist()]
            ends = tensors[f"counts{size}"].long().cumsum(0).tolist()
            spans = dict(zip(contexts, zip([0, *ends], ends, strict=False), strict=True))
            self.longer.append((spans, tensors[f"ids{size}"].long(), tensors[f"weights{size}"].float()))

    def forward(self, input_ids: Tensor, logits_to_keep: int = 0) -> SimpleNamespace:
        """`input_ids` [1, length] → logits [1, rows, vocabulary]; `logits_to_keep` 0 keeps all rows."""
        text = input_ids[0].tolist()
        first = len(text) - logits_to_keep if logits_to_keep else 0
        rows = [self.probs(text[max(0, end - self.order + 2) : end + 1]) for end in range(first, len(text))]
        return SimpleNamespace(logits=torch.stack(rows).log()[None])

    def probs(self, text: list[int]) -> Tensor:
        """[vocabulary], after the last tokens of a text."""
        probs = self.shortest.clone()
        for ids, weights in self._found(text):
            probs *= 1 - weights.sum()
            probs[ids] += weights
        return probs

    def _found(self, text: list[int]) -> Iterator[tuple[Tensor, Tensor]]:
        for size, (spans, ids, weights) in enumerate(self.longer, start=1):
            if len(text) >= size and (span := spans.get(tuple(text[-size:]))):
                yield ids[slice(*span)], weights[slice(*span)]
