"""Prompt lookup: find where the last few tokens occurred before, and propose what followed them there.

No model at all (Saxena, Prompt Lookup Decoding, 2023). Strong where output copies input: summaries, code edits.
Example: after ``a b c … a b`` it proposes ``c …``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.sampling import one_hot
from specviz.core.settings import Knob, RunSettings
from specviz.drafting.base import Readers, WithoutModel

NGRAM = Knob(
    "longest n-gram",
    3,
    1,
    10,
    1,
    "Tokens at the end of the text that must occur before; shorter ones are tried too.",
    whole=True,
)


class PromptLookup(WithoutModel):
    """N-gram matching over prompt and output."""

    help = "Copies what followed the last few tokens earlier in prompt or output. Needs no model."
    knobs: Mapping[str, Knob] = MappingProxyType({"ngram": NGRAM})

    def start(self, readers: Readers) -> LookupDrafter:
        """Needs only the width of the target's vocabulary and its end tokens."""
        return LookupDrafter(readers.target.columns, frozenset(readers.target.loaded.eos_ids))


class LookupDrafter(WithoutModel):
    """See module."""

    def __init__(self, vocab_size: int, end_ids: frozenset[int]) -> None:
        self.vocab_size = vocab_size
        self.end_ids = end_ids

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A chain of up to `k` point masses; empty with stop "no match" where nothing repeats."""
        if not k:
            return Draft(stop=DraftEnd.NONE)
        found = continuation(list(ids), int(settings.options.get("ngram", NGRAM.default)), k)
        for place, token in enumerate(found):
            if token in self.end_ids:
                found = found[: place + 1]
                break
        stop = DraftEnd.NO_MATCH if not found else DraftEnd.K if len(found) == k else DraftEnd.END_OF_MATCH
        if found and found[-1] in self.end_ids:
            stop = DraftEnd.END_TOKEN
        probs = tuple(one_hot(token, self.vocab_size) for token in found)
        return Draft(tuple(found), tuple(range(-1, len(found) - 1)), probs, None, stop)


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
