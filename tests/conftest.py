"""Pairs of tiny models through the product's own loader, and the pair of tables for tests that need thousands of runs."""

from __future__ import annotations

import os
from functools import cache
from types import SimpleNamespace

# nothing may be asked of a network, in any test but the one that says so
os.environ.setdefault("SPECVIZ_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import numpy as np
import pytest
import torch

from specviz.core.runtime import cpu_quota
from specviz.models import table_maker
from specviz.models import tables as table_files
from specviz.models.head_store import HEADS
from specviz.models.loading import LoadedModel, Pair, load_pair
from tests import tiny
from tests.nightly import waits

# tensors of a dozen numbers: a second thread only waits for the first (1.3 ms a run instead of 5.6)
torch.set_num_threads(1)


LONG = ("tests/test_readme_commands.py", "tests/ui/", "tests/test_real_pair.py")
"""Where a test takes seconds."""


def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: one process more than cores, since a test of the page waits for a third of its time."""
    return cpu_quota() + 1


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that take long, so that in the end no process waits for another one's last file."""
    for item in items:
        if waits(item.nodeid):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: next((at for at, start in enumerate(LONG) if item.nodeid.startswith(start)), len(LONG)))


def texts(count: int = 40, length: int = 40) -> list[tuple[np.ndarray, np.ndarray]]:
    """Seeded walks through target12's own distribution, as (prompt, answer): a corpus of twelve words."""
    made, generator = [], torch.Generator().manual_seed(3)
    for first in range(count):
        walk = [first % tiny.WORDS]
        for _ in range(length):
            walk.append(int(torch.multinomial(tiny.probs(tiny.target_table())[walk[-1]], 1, generator=generator)))
        made.append((np.array(walk[:1]), np.array(walk[1:])))
    return made


WORDS = {i: f"w{i}" for i in range(tiny.WORDS)}


def _table_of_words() -> None:
    """A table of n-grams for the vocabulary of twelve words, where all tests find it."""
    table_files.FOLDERS.append(tiny.room() / "tables")
    made = table_maker.make(texts(), tiny.WORDS)
    table_maker.write(table_files.FOLDERS[-1] / "words.safetensors", made, WORDS, 3, 1600, "walks of target12")


_table_of_words()


@cache
def tiny_pair(target: str, draft: str | None = None, dtype: str = "float32") -> Pair:
    """Tiny models by name, loaded once for all tests."""
    return load_pair(tiny.folder(target), draft and tiny.folder(draft), dtype=dtype)


@pytest.fixture
def pair():
    """``pair("target12", "draft12")``"""
    return tiny_pair


@pytest.fixture(scope="session", autouse=True)
def tiny_heads(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Random feature heads for the tiny targets of the contract tests, found as any head is."""
    room = tmp_path_factory.mktemp("heads")
    for name in ("ctx_t", "target12", "padtarget16"):
        tiny.write_head(room / f"head of {name}", tiny.folder(name))
    tiny.write_table_head(room / "head of tables")
    HEADS.update({path.name: path for path in sorted(room.iterdir())})


class Layer(torch.nn.Module):
    """Adds half of a table's row: exact, so that two of them add the row itself."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.proj = torch.nn.Linear(32, len(table), bias=False)
        self.proj.weight = torch.nn.Parameter(torch.nn.functional.pad(table / 2, (0, 0, 0, 32 - len(table))).T, False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """A look-up; what was put in the matrix's position multiplies."""
        if isinstance(self.proj, torch.nn.Linear):
            return self.proj.weight.T[ids]
        return self.proj(torch.nn.functional.one_hot(ids, 32).float())


class Table(torch.nn.Module):
    """logits(next | current) = a table; a forward pass costs microseconds. Built like Llama: two layers and a norm."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.config = SimpleNamespace(num_hidden_layers=2)
        self.config.get_text_config = lambda: self.config
        self.one_hot = SimpleNamespace(weight=torch.eye(len(table)))
        self.model = torch.nn.Module()
        self.model.layers = torch.nn.ModuleList([Layer(table), Layer(table)])
        self.model.norm = torch.nn.Identity()

    def forward(
        self, input_ids: torch.Tensor, logits_to_keep: int = 0, output_hidden_states: object = None
    ) -> SimpleNamespace:
        """As transformers answers, without a cache."""
        states, ids = self.one_hot.weight[input_ids], input_ids[:, -logits_to_keep:]
        logits = sum(layer(ids) for layer in self.model.layers)
        return SimpleNamespace(logits=logits, hidden_states=(states, states))

    def get_input_embeddings(self) -> SimpleNamespace:
        """One-hot rows."""
        return self.one_hot

    def get_output_embeddings(self) -> SimpleNamespace:
        """The same rows."""
        return self.one_hot


def table_model(name: str, table: torch.Tensor) -> LoadedModel:
    """A loaded model whose answers are rows of `table`; its tokenizer is target12's."""
    like = tiny_pair("target12").target
    return LoadedModel(
        name=name,
        source="table",
        model=Table(table),
        codec=like.codec,
        device=torch.device("cpu"),
        dtype=torch.float32,
        context=128,
        vocab_size=table.shape[1],
        eos_ids=frozenset(),
        cache_mode="recompute",
        parameters=table.numel(),
        bytes=table.numel() * 4,
    )


@pytest.fixture(scope="session")
def tables() -> Pair:
    """target12 and draft12 as bare tables."""
    return Pair(table_model("target12", tiny.target_table()), table_model("draft12", tiny.draft_table()))
