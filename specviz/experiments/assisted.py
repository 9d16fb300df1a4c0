"""transformers' own speculative decoding ("assisted generation") with the two models of a pair, to be compared with ours.

transformers takes two models whose configs state the same vocabulary; otherwise it re-encodes every draft as text with
two tokenizers. Ours share their ids although a draft may know only part of them. So the draft is read here as specviz
reads it (`cached.CachedModel`): columns it lacks are -inf, and an id it lacks is read as id 0. Drafts stay the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import transformers

from specviz.models.fitness import reason

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair


class NotComparable(Exception):
    """Why transformers cannot decode with this pair: one sentence for the table."""


def how_compared(pair: Pair) -> str:
    """What was made equal, in a sentence."""
    sentence = "transformers drafts with the same model, a constant K and no confidence threshold"
    if pair.draft is None or pair.draft.vocab_size == pair.target.vocab_size:
        return f"{sentence}."
    return (
        f"{sentence}; the {pair.draft.vocab_size:,} columns of {pair.draft.name} are fitted to the target's "
        f"{pair.target.vocab_size:,} (-inf for missing ones), as in specviz."
    )


def assisted(pair: Pair, ids: list[int], k: int, tokens: int) -> dict[str, float]:
    """Tokens and tokens/s at temperature 0, the prefill taken off by a run of one token.

    tokens_per_s is NaN for an output of one token, which the prefill already writes. Raises NotComparable where
    transformers cannot use the pair.
    """
    if pair.draft is None:
        raise NotComparable("This pair has no draft model, but transformers needs one as its assistant.")
    inputs = torch.tensor([ids], device=pair.target.device)
    ends = sorted(pair.target.eos_ids)
    stops = {"eos_token_id": ends, "pad_token_id": ends[0]} if ends else {}

    def generate(count: int, **more: Any) -> tuple[float, int]:
        began = time.perf_counter()
        out = pair.target.model.generate(
            inputs, attention_mask=torch.ones_like(inputs), max_new_tokens=count, do_sample=False, **stops, **more
        )
        return time.perf_counter() - began, out.shape[1] - inputs.shape[1]

    try:
        prefill, _ = generate(1)
        with _assistant(pair.target, pair.draft, k) as assistant:
            wall, made = generate(tokens, assistant_model=assistant)
    except Exception as error:  # whatever transformers raises: the other figures are not lost with it
        raise NotComparable(f"transformers cannot decode with this pair ({reason(error)}).") from error
    return {"tokens_per_s": (made - 1) / max(1e-9, wall - prefill) if made > 1 else math.nan, "tokens": made}


@contextmanager
def _assistant(target: LoadedModel, draft: LoadedModel, k: int) -> Iterator[Any]:
    """The draft as an assistant that drafts `k` tokens in every round and answers with the target's columns."""
    model, config = draft.model, draft.model.config.get_text_config()
    stored, columns = model.generation_config, config.vocab_size

    def read(module: Any, args: Any, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        ids = inputs["input_ids"]
        return args, inputs | {"input_ids": ids.masked_fill(ids >= draft.vocab_size, 0)}

    def answer(module: Any, args: Any, output: Any) -> Any:
        missing = target.vocab_size - draft.vocab_size  # negative: columns that the target lacks are cut off
        output.logits = torch.nn.functional.pad(output.logits, (0, missing), value=-math.inf)
        return output

    hooks = []
    try:
        if target.vocab_size != draft.vocab_size:
            hooks += [model.register_forward_pre_hook(read, with_kwargs=True), model.register_forward_hook(answer)]
        config.vocab_size = target.model.config.get_text_config().vocab_size
        model.generation_config = transformers.GenerationConfig.from_dict(
            stored.to_dict()
            | {
                "num_assistant_tokens": k,
                "num_assistant_tokens_schedule": "constant",
                "assistant_confidence_threshold": 0.0,
            }
        )
        yield model
    finally:
        for hook in hooks:
            hook.remove()
        model.generation_config, config.vocab_size = stored, columns
