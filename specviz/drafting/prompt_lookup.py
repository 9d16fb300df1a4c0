"""Prompt lookup: find where the last few tokens occurred before, and propose what followed them there.

No model at all (Saxena, Prompt Lookup Decoding, 2023). Strong where output copies input: summaries, code edits.
Example: after ``a b c … a b`` it proposes ``c …``.
"""

from __future__ import annotations

from collections.abc import Sequence

from specviz.core.settings import RunSettings, knob
from specviz.core.words import sentence
from specviz.drafting.base import Strategy
from specviz.drafting.parts import on_text

NGRAM = knob("ngram", 3, 1, 10, 1, whole=True)


def copied(ids: Sequence[int], k: int, settings: RunSettings) -> list[int]:
    """Up to `k` ids that followed the end of the text earlier."""
    return continuation(list(ids), int(settings.options.get("ngram", NGRAM.default)), k)


def continuation(ids: list[int], longest: int, k: int) -> list[int]:
    """Up to `k` ids that followed the latest earlier occurrence of the longest matching suffix of `ids`.

    Among occurrences of one suffix the latest with `k` ids after it wins, else the one with most ids after it.
    """
    for size in range(min(longest, len(ids) - 1), 0, -1):
        suffix = ids[-size:]
        best: list[int] = []
        for at in range(len(ids) - size - 1, -1, -1):
            if ids[at + size - 1] == suffix[-1] and ids[at : at + size] == suffix:
                after = ids[at + size : at + size + k]
                if len(after) > len(best):
                    best = after
                if len(best) == k:
                    break
        if best:
            return best
    return []


PROMPT_LOOKUP = Strategy(
    help=sentence("help.prompt_lookup"),
    deterministic=True,
    knobs={"ngram": NGRAM},
    start=on_text(copied),
)
