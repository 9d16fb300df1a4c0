"""Where a stop string ends a run: a function of the token ids alone, however they fall into steps.

Bytes of one character may come as several tokens, and until the last one a decoder shows U+FFFD for them, or for a whole
run of bytes. So the text is decoded anew after every token, and U+FFFD at its end waits for the next token.
Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

UNFINISHED = "\ufffd"
"""What decoders show for bytes that are no character, or not yet."""


def first_stop(
    decode: Callable[[Sequence[int]], str],
    before: Sequence[int],
    emitted: Sequence[int],
    stops: Mapping[str, str],
    end_ids: Collection[int] = (),
) -> tuple[int, str] | None:
    """How many of `emitted` remain and the text before the stop string, at the first token that completes one.

    `before`: output ids of earlier steps. `stops`: each stop string with the output text at the time when it was set; a
    match that lies within that text does not count. Of several matches the earliest in the text cuts. None: no match.
    """
    for count in range(1, len(emitted) + 1):
        text = decode([i for i in (*before, *emitted[:count]) if i not in end_ids])
        if emitted[count - 1] not in end_ids:  # after an end token nothing can complete a character
            text = text.rstrip(UNFINISHED)
        found = [at for stop, known in stops.items() if (at := _new_match(text, stop, known)) >= 0]
        if found:
            return count, text[: min(found)]
    return None


def _new_match(text: str, stop: str, known: str) -> int:
    """Where `stop` begins in `text`, with at least its last character outside `known`; -1 for nowhere."""
    shared = next((i for i, (a, b) in enumerate(zip(text, known, strict=False)) if a != b), min(len(text), len(known)))
    return text.find(stop, max(0, shared - len(stop) + 1))
