"""The tokenizer files of a draft: the target's, without what the draft has no ids for.

A byte-pair vocabulary without its last merges is a byte-pair vocabulary: all text can still be written in it, in more
tokens. So a draft with half the ids is a whole model by itself, and ids mean what they mean in the target.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specviz.settings import SpecvizError


def write_tokenizer(tokenizer: Any, folder: Path, vocab_size: int, name: str) -> None:
    """Save `tokenizer` in `folder`, cut to the ids below `vocab_size`.

    Raises SpecvizError where it cannot be cut: no byte-pair vocabulary in which a merge makes a later id.
    """
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer.json"
    if not file.is_file():
        if vocab_size < len(tokenizer):
            raise SpecvizError(_refusal(name))
        return
    data = json.loads(file.read_text("utf-8"))
    if vocab_size < len(tokenizer):
        _cut(data, vocab_size, name)
    # without the blanks of the pretty form, which is twice as long
    file.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), "utf-8")


def _cut(data: dict[str, Any], size: int, name: str) -> None:
    model = data["model"]
    if model.get("type") != "BPE":
        raise SpecvizError(_refusal(name))
    ids: dict[str, int] = model["vocab"]
    merges = [merge if isinstance(merge, list) else merge.split(" ") for merge in model["merges"]]
    if any(max(ids[one], ids[other]) >= ids[one + other] for one, other in merges):
        raise SpecvizError(_refusal(name))
    if any(token["id"] >= size for token in data.get("added_tokens", ())):
        raise SpecvizError(_refusal(name))
    model["merges"] = [merge for merge in merges if ids["".join(merge)] < size]
    model["vocab"] = {token: i for token, i in ids.items() if i < size}


def _refusal(name: str) -> str:
    return f"The vocabulary of {name} cannot be cut in two; choose a student that has all ids."
