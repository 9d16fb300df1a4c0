"""Tiny models with known answers, in the ordinary Hugging Face layout, written in milliseconds.

Knows nothing of specviz. `folder("target12")` is the path of a freshly written model folder, kept for the test process.

The exact-bigram Llamas (`target12`, `draft12`, `cycle12`, `padtarget16`) have an identity embedding, attention and MLP
that add nothing, and a head that is a table: logits(next | current) equal ``target_table()[current, next]`` to the last
bit in float32. They ignore context, so they cannot show a cache fault; `ctx_t` and `ctx_d` can.

Example: ``folder("cycle12")`` writes a model that says w0 w1 w2 … w11 w0 …; ``folder("target12", eos=4)`` ends at w4.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

WORDS = 12
MARKER = "SPECVIZ_MARKER"
"""Environment variable naming the file that `remotecode` and `picklebin` write when their code is run."""

_ROOMS: list[str] = []


def folder(name: str, **options: Any) -> Path:
    """Folder of the tiny model `name` (a key of `BUILDERS`), written on first use and shared by the tests of a process.

    `options` go to the builder (most take `eos`, `bos`, `pad`, `chat`, `generation`); treat the folder as read-only.
    """
    return _folder(name, json.dumps(options, sort_keys=True))


def copy(name: str, into: Path, **options: Any) -> Path:
    """A private copy that a test may spoil."""
    return Path(shutil.copytree(folder(name, **options), into / name))


def room() -> Path:
    """A folder that goes with the process."""
    if not _ROOMS:
        _ROOMS.append(tempfile.mkdtemp(prefix="specviz-tiny-"))
        atexit.register(shutil.rmtree, _ROOMS[0], ignore_errors=True)
    return Path(_ROOMS[0])


@cache
def _folder(name: str, options: str) -> Path:
    path = Path(tempfile.mkdtemp(prefix="", dir=room())) / name
    path.mkdir()
    BUILDERS[name](path, **json.loads(options))
    return path


# ----------------------------------------------------------------------------------------------------------- the tables


def target_table() -> torch.Tensor:
    """Logits of target12, shape [current 12, next 12], float32."""
    return _random_table(7) * 1.5


def draft_table() -> torch.Tensor:
    """Logits of draft12: the target's, disturbed, so that the two agree on about 0.6 of the mass."""
    return target_table() + _random_table(8) * 1.3


def cycle_table() -> torch.Tensor:
    """Logits of cycle12: w_i is followed by w_(i+1), modulo 12, all but certainly."""
    return 20.0 * torch.eye(WORDS).roll(1, dims=1)


def padded_table() -> torch.Tensor:
    """Logits of padtarget16, shape [16, 16]: a cycle, but w2 is followed by the nameless id 15, and that by w4."""
    table = torch.zeros(16, 16)
    table[:WORDS, :WORDS] = cycle_table()
    table[2] = 0.0
    table[2, 15] = table[15, 4] = 20.0
    return table


def probs(table: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Rows of a table as distributions, float64."""
    return torch.softmax(table.double() / temperature, dim=-1)


def overlap() -> torch.Tensor:
    """β of target12 and draft12 after each word, shape [12]."""
    return torch.minimum(probs(target_table()), probs(draft_table())).sum(dim=-1)


def _random_table(seed: int) -> torch.Tensor:
    return torch.randn(WORDS, WORDS, generator=torch.Generator().manual_seed(seed))


# ------------------------------------------------------------------------------------------------------- the tokenizers


def write_words_tokenizer(
    path: Path,
    bos: str | None = None,
    eos: str | None = None,
    pad: str | None = None,
    chat: str | None = None,
    add_bos: bool = False,
    words: list[str] | None = None,
) -> None:
    """Words w0 … w11 split at blanks, no special tokens unless asked for: a word named here becomes special.

    `add_bos`: the tokenizer itself puts `bos` in front of every text.
    """
    names = words or [f"w{i}" for i in range(WORDS)]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(names)}, unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if add_bos and bos:
        special = (bos, names.index(bos))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", pair=f"{bos} $A {bos} $B", special_tokens=[special]
        )
    _write_tokenizer(path, tokenizer, bos_token=bos, eos_token=eos, pad_token=pad, chat_template=chat)


BYTES_END = "<|im_end|>"
BYTES_CHAT = (
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)


def write_bytes_tokenizer(path: Path, chat: str | None = BYTES_CHAT) -> None:
    """All 256 bytes in GPT-2's alphabet (ids 0 … 255 in order of their glyphs) and `<|im_end|>` (id 256)."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({glyph: i for i, glyph in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(BYTES_END, special=True)])
    _write_tokenizer(path, tokenizer, eos_token=BYTES_END, chat_template=chat)


PIECES = (
    ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + ["▁", "▁the", "▁cat", "s", "▁sat", "ü", "▁ü", ","]
)
SPM_CHAT = "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}{% endfor %}"


def write_pieces_tokenizer(path: Path, chat: str | None = SPM_CHAT) -> None:
    """SentencePiece manner: ▁ for a leading blank, bytes where no piece fits, `<s>` in front and in the template."""
    ids = {piece: i for i, piece in enumerate(PIECES)}
    singles = sorted({c for piece in PIECES[259:] for c in piece} - set(ids))
    ids |= {c: len(ids) + i for i, c in enumerate(singles)}
    merges = [("▁", "ü")]
    for word in ("▁the", "▁cat", "▁sat"):  # each word grows by one letter at a time
        for end in range(2, len(word) + 1):
            ids.setdefault(word[:end], len(ids))
            if (word[: end - 1], word[end - 1]) not in merges:
                merges.append((word[: end - 1], word[end - 1]))
    tokenizer = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    _write_tokenizer(path, tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", chat_template=chat)


def _write_tokenizer(path: Path, tokenizer: Tokenizer, **config: Any) -> None:
    tokenizer.save(str(path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, **config}
    _write_json(path / "tokenizer_config.json", {k: v for k, v in config.items() if v is not None})


# ---------------------------------------------------------------------------------------------------------- the weights


def _llama_config(vocab: int, hidden: int, layers: int, heads: int, positions: int, **more: Any) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "max_position_embeddings": positions,
        "rms_norm_eps": 0.0,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "dtype": "float32",
        # null, not left out: the class has end tokens of its own for what is left out
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
    } | more


def _layer_shapes(hidden: int) -> dict[str, tuple[int, ...]]:
    square = {f"self_attn.{x}_proj.weight": (hidden, hidden) for x in "qkvo"}
    mlp = {f"mlp.{x}_proj.weight": (2 * hidden, hidden) for x in ("gate", "up")}
    norms = {f"{x}_layernorm.weight": (hidden,) for x in ("input", "post_attention")}
    return square | mlp | {"mlp.down_proj.weight": (hidden, 2 * hidden)} | norms


def write_bigram(
    path: Path,
    table: torch.Tensor,
    dtype: str = "float32",
    positions: int = 4096,
    eos: int | list[int] | None = None,
    bos: int | None = None,
    pad: int | None = None,
    chat: str | None = None,
    add_bos: bool = False,
    generation: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    words: list[str] | None = None,
) -> None:
    """A two-layer Llama whose logits(next | current) are exactly `table` [V, V], V ≤ 16, after either layer.

    `generation`: contents of generation_config.json; `config`: overrides of config.json.
    """
    vocab, hidden = len(table), 16
    shapes = _layer_shapes(hidden).items()
    state = {f"model.layers.{layer}.{k}": torch.zeros(s) for layer in range(2) for k, s in shapes}
    for key in state:
        if key.endswith("layernorm.weight"):
            state[key] = torch.ones(hidden)
        elif "q_proj" in key or "k_proj" in key:
            state[key] = torch.eye(hidden)
    state["model.embed_tokens.weight"] = torch.eye(vocab, hidden)
    # the norm multiplies a unit vector by √16 = 4 and this by a quarter: powers of two, so nothing is rounded
    state["model.norm.weight"] = torch.full((hidden,), 1 / math.sqrt(hidden))
    state["lm_head.weight"] = torch.nn.functional.pad(table.T.float(), (0, hidden - vocab))
    kind = getattr(torch, dtype)
    save_file({k: v.to(kind).contiguous() for k, v in state.items()}, path / "model.safetensors", {"format": "pt"})
    ids: dict[str, Any] = {"eos_token_id": eos, "bos_token_id": bos, "pad_token_id": pad}
    shape = _llama_config(vocab, hidden, 2, 2, positions, dtype=dtype)
    _write_json(path / "config.json", shape | ids | (config or {}))
    if generation is not None:
        _write_json(path / "generation_config.json", generation)
    first = eos[0] if isinstance(eos, list) else eos
    name = words or [f"w{i}" for i in range(WORDS)]
    special = {k: None if v is None else name[v] for k, v in (("bos", bos), ("eos", first), ("pad", pad))}
    write_words_tokenizer(path, **special, chat=chat, add_bos=add_bos, words=words)


CTX_SEED = 181
"""Of 330 seeds tried one of few whose greedy paths of 60 tokens vary and keep both best logits 0.05 apart."""
CTX_HIDDEN = 32


def write_context(path: Path, layers: int, positions: int = 128, dtype: str = "float32") -> None:
    """The first `layers` of one random four-layer Llama that attends, its embedding and head: 1 is ctx_d, 4 ctx_t."""
    generator, hidden = torch.Generator().manual_seed(CTX_SEED), CTX_HIDDEN

    def normal(*shape: int, std: float) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * std

    state = {"model.embed_tokens.weight": normal(WORDS, hidden, std=1.0), "model.norm.weight": torch.ones(hidden)}
    state["lm_head.weight"] = normal(WORDS, hidden, std=0.5)
    for layer in range(4):
        loud = 0.30 if layer == 0 else 0.16  # later layers speak softer, so that the first alone is a fair draft
        for key, shape in _layer_shapes(hidden).items():
            if len(shape) == 1:
                weight = torch.ones(shape)
            else:
                weight = normal(*shape, std=loud if "o_proj" in key or "down" in key else 0.25)
            if layer < layers:
                state[f"model.layers.{layer}.{key}"] = weight
    kind = getattr(torch, dtype)
    save_file({k: v.to(kind).contiguous() for k, v in state.items()}, path / "model.safetensors", {"format": "pt"})
    _write_json(
        path / "config.json", _llama_config(WORDS, hidden, layers, 4, positions, rms_norm_eps=1e-6, dtype=dtype)
    )
    write_words_tokenizer(path)


def _write_random(path: Path, model_class: str, config_class: str, std: float = 0.6, **config: Any) -> None:
    """A seeded random model of any class of transformers; matrices drawn with `std`, the rest as the class makes it."""
    import transformers  # noqa: PLC0415 — slow, and most tests need no more than the plain Llamas

    made = getattr(transformers, config_class)(**config)
    state = torch.random.get_rng_state()
    torch.manual_seed(5)
    model = getattr(transformers, model_class)(made)
    torch.random.set_rng_state(state)
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * std)
    model.save_pretrained(path)


_NO_IDS: dict[str, Any] = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}


def write_bytes_lm(path: Path, chat: str | None = BYTES_CHAT, padded: int = 0) -> None:
    """A random two-layer Llama over 256 bytes and `<|im_end|>`, its end token; `padded` more rows without a name."""
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    ids = _NO_IDS | {"eos_token_id": 256}
    more = {"num_key_value_heads": 4, "max_position_embeddings": 512, "tie_word_embeddings": False}
    _write_random(path, "LlamaForCausalLM", "LlamaConfig", std=0.3, vocab_size=257 + padded, **shape, **ids, **more)
    write_bytes_tokenizer(path, chat)


def write_pieces_lm(path: Path, chat: str | None = SPM_CHAT) -> None:
    """A random Llama with a SentencePiece-like tokenizer that has `<s>` (1) and `</s>` (2)."""
    write_pieces_tokenizer(path, chat)
    vocab = len(json.loads((path / "tokenizer.json").read_text("utf-8"))["model"]["vocab"])
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4}
    ids = {"bos_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 256}
    _write_random(path, "LlamaForCausalLM", "LlamaConfig", std=0.3, vocab_size=vocab, **shape, **ids)


def write_gpt2pos32(path: Path) -> None:
    """Learned positions, 32 of them and no more."""
    shape = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32}
    _write_random(path, "GPT2LMHeadModel", "GPT2Config", std=0.3, vocab_size=WORDS, **shape, **_NO_IDS)
    write_words_tokenizer(path)


def write_fp16inf(path: Path) -> None:
    """Half-precision weights: the logits are finite in float32 and overflow in float16."""
    write_bigram(path, cycle_table() * 3000 - 30000, dtype="float16")  # 30000 … -30000, before the louder norm
    state = load_file(path / "model.safetensors")
    state["model.norm.weight"] = torch.full((16,), 4.0, dtype=torch.float16)
    save_file(state, path / "model.safetensors", {"format": "pt"})


def write_nan12(path: Path) -> None:
    """One weight of the head is not a number: no dtype helps."""
    table = target_table()
    table[0, 3] = math.nan
    write_bigram(path, table)


def write_t5(path: Path) -> None:
    """An encoder-decoder."""
    shape = {"d_model": 16, "d_ff": 32, "d_kv": 8, "num_layers": 1, "num_heads": 2}
    _write_random(path, "T5ForConditionalGeneration", "T5Config", vocab_size=WORDS, **shape)
    write_words_tokenizer(path)


def write_bidirectional(path: Path) -> None:
    """A BERT with a language-model head that sees what comes after: loads without complaint, predicts no next token."""
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    more = {"max_position_embeddings": 64, "is_decoder": False, "pad_token_id": 0}
    _write_random(path, "BertLMHeadModel", "BertConfig", std=0.3, vocab_size=WORDS, **shape, **more)
    write_words_tokenizer(path)


def write_recurrent(path: Path) -> None:
    """A Mamba: its state cannot be rolled back token by token."""
    shape = {"hidden_size": 16, "state_size": 4, "num_hidden_layers": 2, "expand": 2, "time_step_rank": 2}
    _write_random(path, "MambaForCausalLM", "MambaConfig", std=0.4, vocab_size=WORDS, **shape, **_NO_IDS)
    write_words_tokenizer(path)


def write_longrope(path: Path) -> None:
    """A Phi-3 whose rotary factors switch at 16 tokens; the config promises 64."""
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
    rope |= {"original_max_position_embeddings": 16}  # type: ignore[dict-item]
    more = {"num_key_value_heads": 4, "max_position_embeddings": 64, "original_max_position_embeddings": 16}
    _write_random(
        path, "Phi3ForCausalLM", "Phi3Config", vocab_size=WORDS, rope_parameters=rope, **shape, **more, **_NO_IDS
    )
    write_words_tokenizer(path)


# ----------------------------------------------------------------------------------------------- folders that are traps

_PAYLOAD = "import os\nopen(os.environ.get('{marker}', os.devnull), 'w').write('run')\n"

_REMOTE = (
    _PAYLOAD
    + """
from transformers import LlamaConfig, LlamaForCausalLM


class MarkerConfig(LlamaConfig):
    model_type = "marker-lm"


class MarkerForCausalLM(LlamaForCausalLM):
    config_class = MarkerConfig
"""
)


def write_remotecode(path: Path) -> None:
    """A model that needs the Python in its own folder; running that writes the marker file."""
    write_bigram(path, cycle_table())
    config = json.loads((path / "config.json").read_text())
    config |= {"model_type": "marker-lm", "architectures": ["MarkerForCausalLM"]}
    config["auto_map"] = {
        "AutoConfig": "marker_lm.MarkerConfig",
        "AutoModelForCausalLM": "marker_lm.MarkerForCausalLM",
    }
    _write_json(path / "config.json", config)
    (path / "marker_lm.py").write_text(_REMOTE.replace("{marker}", MARKER))


class _Payload:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, (_PAYLOAD.replace("{marker}", MARKER),)


def write_picklebin(path: Path) -> None:
    """Weights only as a pickle, with an object in it that writes the marker file."""
    write_bigram(path, cycle_table())
    (path / "model.safetensors").unlink()
    with open(path / "pytorch_model.bin", "wb") as file:
        pickle.dump({"model.embed_tokens.weight": _Payload()}, file)


def write_ggufonly(path: Path) -> None:
    """Weights only as GGUF (an empty one: nobody should get as far as reading it)."""
    write_bigram(path, cycle_table())
    (path / "model.safetensors").unlink()
    (path / "cycle12.Q4_0.gguf").write_bytes(b"GGUF" + b"\0" * 60)


def write_headless12(path: Path) -> None:
    """target12 without its head in the file, and not tied: a careless loader fills it with random numbers."""
    write_bigram(path, target_table())
    state = load_file(path / "model.safetensors")
    del state["lm_head.weight"]
    save_file(state, path / "model.safetensors", {"format": "pt"})


def _write_json(path: Path, data: dict[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")


def write_head(path: Path, target: Path, seed: int = 3, std: float = 0.3, **shape: Any) -> None:
    """A random feature head for the Llama in the folder `target`; it can propose all ids but the last one."""
    config, state = json.loads((target / "config.json").read_text()), load_file(target / "model.safetensors")
    embedding = state["model.embed_tokens.weight"].float()
    sizes = {"hidden_size": config["hidden_size"], "intermediate_size": 24, "heads": 4, "kv_heads": 2, "head_size": 8}
    sizes |= {"feature_layers": [0, config["num_hidden_layers"]], "rope_theta": 10000.0, "eps": 1e-5}
    _write_head(path, embedding, config["num_hidden_layers"], sizes | shape, seed, std)


def write_table_head(path: Path) -> None:
    """A random feature head for a table of `WORDS` words whose states are one-hot."""
    shape = {"hidden_size": WORDS, "intermediate_size": 8, "heads": 2, "kv_heads": 1, "head_size": 4}
    shape |= {"feature_layers": [0, 1], "rope_theta": 10000.0, "eps": 1e-5}
    _write_head(path, torch.eye(WORDS), 2, shape)


def _write_head(
    path: Path, embedding: torch.Tensor, layers: int, shape: dict[str, Any], seed: int = 3, std: float = 0.3
) -> None:
    generator = torch.Generator().manual_seed(seed)
    hidden, inner, size = (shape[k] for k in ("hidden_size", "intermediate_size", "head_size"))
    matrices = {
        "fuse": (hidden, len(shape["feature_layers"]) * hidden),
        "carry": (hidden, hidden),
        "embed": (hidden, hidden),
        "qkv": ((shape["heads"] + 2 * shape["kv_heads"]) * size, hidden),
        "out": (hidden, shape["heads"] * size),
        "gate_up": (2 * inner, hidden),
        "down": (hidden, inner),
    }
    state = {f"{k}.weight": torch.randn(*s, generator=generator) * std for k, s in matrices.items()}
    state |= {k: torch.ones(hidden) for k in ("before_attention", "before_mlp", "norm")}
    spread = [torch.linspace(0, n - 1, min(n, 24)).long() for n in embedding.shape]
    state["sketch"] = embedding[spread[0]][:, spread[1]].contiguous()
    state["rows"] = torch.arange(len(embedding) - 1, dtype=torch.int32)
    path.mkdir(parents=True, exist_ok=True)
    save_file(state, path / "head.safetensors", {"format": "pt"})
    owner = {"name": "tiny", "layers": layers, "vocab_size": len(embedding)}
    _write_json(path / "config.json", {"kind": "specviz feature head", "shape": shape, "target": owner})


BUILDERS: dict[str, Callable[..., None]] = {
    "target12": lambda path, **o: write_bigram(path, target_table(), **o),
    "draft12": lambda path, **o: write_bigram(path, draft_table(), **o),
    "cycle12": lambda path, **o: write_bigram(path, cycle_table(), **o),
    "padtarget16": lambda path, **o: write_bigram(path, padded_table(), **o),
    "ctx_t": lambda path, **o: write_context(path, 4, **o),
    "ctx_d": lambda path, **o: write_context(path, 1, **o),
    "bytes_lm": write_bytes_lm,
    "pieces_lm": write_pieces_lm,
    "gpt2pos32": write_gpt2pos32,
    "fp16inf": write_fp16inf,
    "nan12": write_nan12,
    "t5": write_t5,
    "bidirectional": write_bidirectional,
    "recurrent": write_recurrent,
    "longrope": write_longrope,
    "remotecode": write_remotecode,
    "picklebin": write_picklebin,
    "ggufonly": write_ggufonly,
    "headless12": write_headless12,
}


def generate(path: Path, prompt_ids: list[int], max_new_tokens: int, **more: Any) -> list[int]:
    """The trusted reference: new ids of plain transformers on float32 CPU, greedy unless `more` says otherwise.

    Stored generation defaults are left out: `more` is the whole of the settings.
    """
    from transformers import AutoModelForCausalLM, GenerationConfig  # noqa: PLC0415

    model = AutoModelForCausalLM.from_pretrained(os.fspath(path), dtype=torch.float32)
    eos = model.generation_config.eos_token_id
    model.generation_config = GenerationConfig()
    ids = torch.tensor([prompt_ids])
    settings = GenerationConfig(
        max_new_tokens=max_new_tokens, do_sample=False, eos_token_id=eos, pad_token_id=0, **more
    )
    with torch.inference_mode():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=settings)
    return [int(i) for i in out[0, len(prompt_ids) :]]
