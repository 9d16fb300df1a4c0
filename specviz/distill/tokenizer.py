"""The tokenizer files of a draft: the target's, without what the draft has no ids for.

A byte-pair vocabulary without its last merges is a byte-pair vocabulary: all text can still be written in it, in more
tokens. So a draft with half the ids is a whole model by itself, and ids mean what they mean in the target.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specviz.core.settings import SpecvizError


def check_cuttable(tokenizer: Any, vocab_size: int, name: str) -> None:
    """Raise SpecvizError where `tokenizer` cannot lose its ids from `vocab_size` on: only a byte-pair vocabulary can in
    which every merge makes a later id, and in which letters and special tokens come first."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    data = json.loads(backend.to_str()) if backend is not None else {"model": {}}
    model = data["model"]
    if model.get("type") == "BPE":
        ids, merges = model["vocab"], _merges(model)
        made = {one + other for one, other in merges}
        letters = [i for token, i in ids.items() if token not in made] + [t["id"] for t in data["added_tokens"]]
        in_order = all(max(ids[one], ids[other]) < ids[one + other] for one, other in merges)
        if in_order and max(letters, default=0) < vocab_size:
            return
    raise SpecvizError(f"The vocabulary of {name} cannot be cut in two; choose a student that has all ids.")


def write_tokenizer(tokenizer: Any, folder: Path, vocab_size: int) -> None:
    """Save `tokenizer` in `folder`, without ids from `vocab_size` on."""
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer.json"
    if not file.is_file():  # one that is not of the fast kind
        return
    data = json.loads(file.read_text("utf-8"))
    model = data["model"]
    if vocab_size < len(tokenizer) and model.get("type") == "BPE":
        ids = model["vocab"]
        model["merges"] = [list(merge) for merge in _merges(model) if ids["".join(merge)] < vocab_size]
        model["vocab"] = {token: i for token, i in ids.items() if i < vocab_size}
    # without the blanks of the pretty form, which is twice as long
    file.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), "utf-8")


def _merges(model: dict[str, Any]) -> list[tuple[str, str]]:
    """As pairs; older files join them with a blank."""
    split = (merge if isinstance(merge, list) else merge.split(" ") for merge in model["merges"])
    return [(one, other) for one, other in split]
