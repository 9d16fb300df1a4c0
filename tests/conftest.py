"""Pairs of tiny models through the product's own loader, and the pair of tables for tests that need thousands of runs."""

from __future__ import annotations

import os
from functools import cache
from types import SimpleNamespace

# nothing may be asked of a network, in any test but the one that says so
os.environ.setdefault("SPECVIZ_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import pytest
import torch

from specviz.models.head_store import HEADS
from specviz.models.loading import LoadedModel, Pair, load_pair
from tests import tiny

# tensors of a dozen numbers: a second thread only waits for the first (1.3 ms a run instead of 5.6)
torch.set_num_threads(1)


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


class Table(torch.nn.Module):
    """logits(next | current) = a table; a forward pass costs microseconds."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.table = table
        self.one_hot = SimpleNamespace(weight=torch.eye(len(table)))
        shape = SimpleNamespace(num_hidden_layers=1)
        self.config = SimpleNamespace(get_text_config=lambda: shape)

    def forward(
        self, input_ids: torch.Tensor, logits_to_keep: int = 0, output_hidden_states: object = None
    ) -> SimpleNamespace:
        """As transformers answers, without a cache."""
        states = self.one_hot.weight[input_ids]
        return SimpleNamespace(logits=self.table[input_ids[:, -logits_to_keep:]], hidden_states=(states, states))

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
