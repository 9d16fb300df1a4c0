"""Load a target and a draft, or say in one sentence why not. Nothing here generates.

A model is looked at before it is loaded (kind, weights, memory) and tried before it is used (NaN, looking ahead, roll
back). Code and pickles from a model's folder are never run, and its stored generation defaults never apply.

Example: ``load_pair("default").notes`` is empty when target and draft loaded, and says what is used instead otherwise.
"""

from __future__ import annotations

import copy
import logging
import os
import weakref
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig
from transformers import logging as transformers_logging

from specviz.core.runtime import DTYPES, pick_device, pick_dtype, use_threads
from specviz.core.sampling import BadLogits
from specviz.core.settings import SpecvizError
from specviz.core.words import sentence
from specviz.models.catalogue import DEFAULT_PAIR, MODELS, OFFLINE_PAIR, PAIRS, PairSource
from specviz.models.fetching import cached, clean, locate, locate_first
from specviz.models.fitness import check_complete, check_memory, context_of, guarded, reason, unused_weights
from specviz.models.folders import ModelError, Weights, check_kind, read_json, weights_in
from specviz.models.pair import LoadedModel, Pair
from specviz.models.plain import plain_forward
from specviz.models.self_check import self_check
from specviz.models.text import TextCodec, end_ids
from specviz.models.where import LOADING, Progress, report

log = logging.getLogger("specviz")

__all__ = ["LoadedModel", "Pair", "common_ids", "load_model", "load_pair"]


def load_pair(
    target: str | os.PathLike[str] = "default",
    draft: str | os.PathLike[str] | None = None,
    dtype: str = "auto",
    device: str = "auto",
    progress: Progress | None = None,
) -> Pair:
    """Load a pair: a name in `PAIRS` ("default" is one), or a target and a draft: catalogue names, hub ids or folders.

    The default pair tries each source of its target and falls back on what comes with the code, saying so in `instead`;
    anything asked for by name is loaded or reported as unavailable. Raises SpecvizError, one sentence.
    """
    target, draft = os.fspath(target), None if draft is None else os.fspath(draft).strip() or None
    name = DEFAULT_PAIR if clean(target) == "default" else clean(target)
    notes: tuple[str, ...] = ()
    instead = ""
    if name not in PAIRS:
        return _paired(load_model(target, dtype, device, progress), draft, dtype, device, progress)
    plan = PAIRS[name]
    try:
        loaded = _load_any(plan, dtype, device, progress)
    except SpecvizError as error:
        if name != DEFAULT_PAIR:
            raise
        log.info("%s", error)
        instead = sentence("errors.default_instead", name=name, other=OFFLINE_PAIR)
        notes = (instead, error.sentence)
        plan = PAIRS[OFFLINE_PAIR]
        loaded = _load_any(plan, dtype, device, progress)
    pair = _paired(loaded, draft or plan.draft, dtype, device, progress)
    if loaded.name in plan.targets[1:]:  # not the target that the pair is named after
        notes += (sentence("errors.target_from", source=loaded.source, note=MODELS[loaded.name].note),)
    return Pair(pair.target, pair.draft, (*notes, *((plan.note,) if plan.note else ()), *pair.notes), instead)


def load_model(
    name: str | os.PathLike[str],
    dtype: str = "auto",
    device: str = "auto",
    progress: Progress | None = None,
) -> LoadedModel:
    """Load one model, or hand out the one that is loaded already; "default" is the default pair's target.

    Raises SpecvizError, one sentence.
    """
    name = clean(os.fspath(name))
    if name == "default":
        return _load_any(PAIRS[DEFAULT_PAIR], dtype, device, progress)
    if name in MODELS and cached(name) is None:  # said before gigabytes are fetched, not after
        source, on_device = MODELS[name], pick_device(device)
        kind = pick_dtype(dtype, on_device, DTYPES[source.stored])
        check_memory(name, source.parameters * kind.itemsize, kind, on_device)
    return _load_folder(locate(name, progress), name, dtype, device, progress)


def _load_any(plan: PairSource, dtype: str, device: str, progress: Progress | None) -> LoadedModel:
    name, folder = locate_first(plan.targets, progress)
    return _load_folder(folder, name, dtype, device, progress)


def _paired(target: LoadedModel, draft_name: str | None, dtype: str, device: str, progress: Progress | None) -> Pair:
    if draft_name is None:
        return Pair(target, None, target.notes)
    draft = load_model(draft_name, dtype, device, progress)
    notes = list(dict.fromkeys((*target.notes, *draft.notes)))
    if draft is not target:
        common = common_ids(target, draft)
        if draft.vocab_size != target.vocab_size or common < min(target.vocab_size, draft.vocab_size):
            notes.append(sentence("errors.ids_common", common=common, target=target.vocab_size, draft=draft.vocab_size))
        if draft.context < target.context:
            notes.append(sentence("errors.draft_context", draft=draft.name, most=draft.context, target=target.name))
    return Pair(target, draft, tuple(notes))


def common_ids(target: LoadedModel, draft: LoadedModel) -> int:
    """How many ids both name, and name alike. Raises ModelError at the first that differs, or where few are common."""
    ours, theirs = target.codec.tokens, draft.codec.tokens
    both = [i for i in sorted(ours.keys() & theirs.keys()) if i < min(target.vocab_size, draft.vocab_size)]
    for i in both:
        if ours[i] != theirs[i]:
            one, other = target.codec.show(i), draft.codec.show(i)
            if one == other:  # spelt differently inside
                one, other = ours[i], theirs[i]
            raise ModelError(
                sentence(
                    "errors.vocabulary_id",
                    target=target.name,
                    draft=draft.name,
                    number=i,
                    one=repr(one),
                    other=repr(other),
                )
            )
    # a small vocabulary that happens to begin like a large one is another vocabulary
    if 2 * len(both) < max(len(ours), len(theirs)):
        raise ModelError(
            sentence(
                "errors.vocabulary_few",
                target=target.name,
                draft=draft.name,
                common=len(both),
                whole=max(len(ours), len(theirs)),
            )
        )
    return len(both)


# ------------------------------------------------------------------------------------------------------------ one model

_LOADED: weakref.WeakValueDictionary[tuple[Any, ...], LoadedModel] = weakref.WeakValueDictionary()
"""What somebody still uses. Nothing is kept for its own sake: the last pair to let go of a model frees it."""


def _load_folder(folder: Path, name: str, dtype: str, device: str, progress: Progress | None) -> LoadedModel:
    on_device, title = pick_device(device), _title(name, folder)
    weights = weights_in(folder, title)
    kind = pick_dtype(dtype, on_device, weights.dtype)
    stamp = tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(folder.iterdir()) if p.is_file())
    key = (folder.resolve(), stamp, kind, str(on_device))
    with LOADING:  # two visitors who want the same model wait for one load
        loaded = _LOADED.get(key)
        if loaded is None:
            source = MODELS[name].where if name in MODELS else title
            loaded = _load(folder, title, source, kind, on_device, weights, progress)
            _LOADED[key] = loaded
    return loaded


_OWN_CHOICE = {"attn_implementation": None, "experts_implementation": None, "output_attentions": False}
"""Overrides what a config.json asks for: kernels that this machine lacks, or that are code from the hub."""


def _load(
    folder: Path,
    name: str,
    source: str,
    dtype: torch.dtype,
    device: torch.device,
    weights: Weights,
    progress: Progress | None,
) -> LoadedModel:
    check_kind(folder, name)
    check_memory(name, weights.parameters * dtype.itemsize, dtype, device)
    report(progress, None, sentence("errors.loading", name=name))
    use_threads()
    transformers_logging.disable_progress_bar()
    safely: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    config = guarded(name, lambda: AutoConfig.from_pretrained(folder, **_OWN_CHOICE, **safely))
    config._attn_implementation = config._experts_implementation = None  # these setters reach nested configs too
    tokenizer = guarded(name, lambda: AutoTokenizer.from_pretrained(folder, config=config, **safely))
    made = guarded(
        name,
        lambda: AutoModelForCausalLM.from_pretrained(
            folder,
            config=copy.deepcopy(config),  # the model writes its own choices into it
            dtype=dtype,
            use_safetensors=True,
            output_loading_info=True,
            **safely,
        ),
    )
    model, info = made
    check_complete(name, info)
    generation = read_json(folder / "generation_config.json", name) if _has(folder, "generation_config.json") else {}
    model.generation_config = GenerationConfig()
    model.requires_grad_(False).eval()
    model = guarded(name, lambda: model.to(device))
    text_config = config.get_text_config()
    head = model.get_output_embeddings()
    vocab_size = int(head.weight.shape[0]) if head is not None else int(text_config.vocab_size)
    codec = TextCodec(tokenizer, name, vocab_size)
    context, notes = context_of(text_config, name)
    notes += unused_weights(name, info)
    stored = (generation.get("eos_token_id"), getattr(text_config, "eos_token_id", None), tokenizer.eos_token_id)
    parameters = list({id(p): p for p in model.parameters()}.values())
    loaded = LoadedModel(
        name=name,
        source=source,
        model=model,
        codec=codec,
        device=device,
        dtype=dtype,
        context=context,
        vocab_size=vocab_size,
        eos_ids=frozenset(end_ids(*stored, vocab_size=vocab_size)),
        cache_mode="rollback",
        parameters=sum(p.numel() for p in parameters),
        bytes=sum(p.numel() * p.element_size() for p in parameters),
        notes=notes,
        plain=plain_forward(model),
    )
    report(progress, None, sentence("errors.checking", name=name))
    loaded.cache_mode = _checked(loaded)
    if loaded.cache_mode == "recompute":
        loaded.notes += (sentence("errors.no_rollback", name=name),)
    return loaded


def _checked(loaded: LoadedModel) -> str:
    """The cache mode, from a few short passes. Raises for NaN and for models that look ahead."""
    try:
        return self_check(loaded)
    except BadLogits as error:
        dtype = str(loaded.dtype).removeprefix("torch.")
        key = "errors.nan_other" if loaded.dtype is torch.float32 else "errors.nan_load"
        raise BadLogits(sentence(key, name=loaded.name, dtype=dtype)) from error
    except SpecvizError:
        raise
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise ModelError(sentence("errors.first_pass", name=loaded.name, reason=reason(error))) from error


def _has(folder: Path, file: str) -> bool:
    return (folder / file).is_file()


def _title(name: str, folder: Path) -> str:
    """A name for the screen: that of a folder is its last part, so that no path of the server is shown."""
    return folder.name if Path(os.path.expanduser(name)).is_dir() and name not in MODELS else name
