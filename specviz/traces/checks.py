"""Whether a trace agrees with itself: fates with coins, emitted ids with tokens, text with tokens, stop with steps.

A file that says one thing and shows another raises TraceError, one sentence that says what and where. Nothing is asked of
a model, so rules and strategies that only another version knows can be shown. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from specviz.core.records import ROOT, BaselineRecord, Fate, PlaceRecord, StepRecord, TokenRecord
from specviz.traces.fields import TraceError, at

if TYPE_CHECKING:
    from specviz.traces.trace import Trace

SUM_SLACK = 1e-3
"""How far rounding to six digits may carry the sum of a position's probabilities from 1."""
SILENT = 3
"""Tokens of a vocabulary that may leave no text although they do not look like markup: end and padding tokens."""
_BYTES = re.compile(r"⟨((?:[0-9A-F]{2})(?: [0-9A-F]{2})*)⟩")
_MARKUP = re.compile(r"^(<.+>|\[.+\]|⟨id \d+⟩)$")
UNFINISHED = "\ufffd"


def check(trace: Trace) -> None:
    """Raise TraceError where the trace contradicts itself."""
    start = 0
    for count, step in enumerate(trace.steps):
        with at(f"Step {count + 1} of this trace"):
            if step.index != count or step.start != start:
                _wrong("it is out of order")
            _check_step(step)
            if step.stop not in (None, "length") and count + 1 < len(trace.steps):
                _wrong(f"it ends the run ({step.stop}), and more steps follow")
        start += len(step.emitted_ids)
    if trace.steps and (last := trace.steps[-1].stop) not in (None, "length", trace.stop):
        _wrong(f"This trace stopped for another reason ({trace.stop}) than its last step ({last})")
    if len(trace.prompt_texts) > len(trace.prompt_ids):
        _wrong("This trace has more texts of prompt tokens than prompt tokens")
    if trace.baseline is not None:
        with at("The baseline of this trace"):
            _check_baseline(trace.baseline, trace.output_ids)
    if not spells(_output(trace.steps), trace.text):
        _wrong("The text of this trace is not what its tokens write")


def _check_step(step: StepRecord) -> None:
    for node, token in enumerate(step.tokens):
        if not ROOT <= token.parent < node:
            _wrong(f"drafted token {node + 1} has a parent that comes later")
        with at(f"drafted token {node + 1}"):
            _check_token(token)
    if step.depth > step.k:
        _wrong(f"it drafted {step.depth} positions deep, and K was {step.k}")
    if step.target_positions <= len(step.tokens):
        _wrong("its target pass has too few positions for the draft")
    path = _path(step)
    _check_order(step, path)
    _check_extra(step, path)
    own = () if step.extra is None else (step.extra.token_id,)
    if len(step.emitted_ids) != len(path) + len(own):
        _wrong("it emits another number of tokens than it accepts")
    if step.emitted_ids != (*(step.tokens[node].token_id for node in path), *own):
        _wrong("it emits other tokens than it accepts")
    _check_places(step, path)


def _check_token(token: TokenRecord) -> None:
    """A drafted token: its fate is that of its coin. Rounding cannot turn the two round, but make them equal."""
    verdict = (token.accept_prob, token.coin)
    if token.draft_prob is None:
        _wrong("draft_prob is missing")
    if token.fate is Fate.UNTESTED:
        if verdict != (None, None):
            _wrong("it is untested, and has a coin or a chance to be accepted")
        return
    if token.fate not in (Fate.ACCEPTED, Fate.REJECTED):
        _wrong(f"its fate is {token.fate}, which no drafted token has")
    if token.accept_prob is None or token.coin is None or token.target_prob is None:
        _wrong("it was tested, and lacks its coin or a probability")
    kept = token.fate is Fate.ACCEPTED
    if token.coin > token.accept_prob if kept else token.coin < token.accept_prob:
        _wrong(f"it is {token.fate}, and its coin {token.coin:g} says otherwise (accept_prob {token.accept_prob:g})")


def _path(step: StepRecord) -> list[int]:
    """Accepted tokens, which must follow each other."""
    path = [node for node, token in enumerate(step.tokens) if token.fate is Fate.ACCEPTED]
    for before, node in zip([ROOT, *path], path, strict=False):
        if step.tokens[node].parent != before:
            _wrong(f"drafted token {node + 1} is accepted, and its parent is not the accepted token before it")
    return path


def _check_order(step: StepRecord, path: Sequence[int]) -> None:
    """Along the path each sibling is tested in turn until one is accepted; nothing else is tested."""
    end = path[-1] if path else ROOT
    done: set[int] = set()  # nodes one of whose children was accepted
    for node, token in enumerate(step.tokens):
        reached = token.parent in (ROOT, *path) and token.parent not in done
        if token.parent == end and step.extra is None:
            reached = False
        if reached != (token.fate is not Fate.UNTESTED):
            _wrong(f"drafted token {node + 1} is {token.fate}, which the tokens before it rule out")
        if token.fate is Fate.ACCEPTED:
            done.add(token.parent)


def _check_extra(step: StepRecord, path: Sequence[int]) -> None:
    end, extra = path[-1] if path else ROOT, step.extra
    if extra is None:
        if not path or step.stop not in ("eos", "stop string"):
            _wrong("the target's own token is missing")
        return
    refused = any(token.parent == end for token in step.tokens)
    if extra.fate is not (Fate.RESAMPLED if refused else Fate.BONUS) or extra.parent != end:
        _wrong(f"the target's own token is {extra.fate} after token {extra.parent + 1}, which its draft rules out")
    if extra.accept_prob is not None:
        _wrong("the target's own token has a chance to be accepted")


def _check_places(step: StepRecord, path: Sequence[int]) -> None:
    reached = [ROOT, *path] if step.extra is not None else [ROOT, *path][:-1]
    nodes = [place.node for place in step.places]
    if len(set(nodes)) != len(nodes) or not set(nodes) <= set(reached):
        _wrong("it has probabilities of a position that was not reached, or twice of one")
    for count, place in enumerate(step.places, start=1):
        with at(f"position {count}"):
            _check_place(place, [token.token_id for token in step.tokens if token.parent == place.node])


def _check_place(place: PlaceRecord, drafted: Sequence[int]) -> None:
    shown = [candidate.token_id for candidate in place.candidates]
    if len(set(shown)) != len(shown) or not set(drafted) <= set(shown):
        _wrong("its candidates lack a drafted token or have one twice")
    drafts = {candidate.draft_prob is not None for candidate in place.candidates}
    if (place.overlap is None) != (place.draft_tail is None) or not drafts <= {place.draft_tail is not None}:
        _wrong("it has the draft's probabilities in part")
    if bool(drafted) != (place.draft_tail is not None):
        _wrong("it has a draft without drafted tokens, or the reverse")
    sums = [sum(c.target_prob for c in place.candidates) + place.target_tail]
    if place.draft_tail is not None:
        sums.append(sum(c.draft_prob or 0.0 for c in place.candidates) + place.draft_tail)
    if any(abs(total - 1) > SUM_SLACK for total in sums):
        _wrong("its probabilities do not add up to 1")


def _check_baseline(baseline: BaselineRecord, output: Sequence[int]) -> None:
    if len(baseline.step_s) != len(baseline.output_ids):
        _wrong("it has another number of times than of tokens")
    length, apart = baseline.compared, baseline.difference
    if length > min(len(output), len(baseline.output_ids)):
        _wrong("more tokens were compared than there are")
    if (baseline.identical is False) != (apart is not None):
        _wrong("whether it differs and where do not agree")
    if baseline.identical and tuple(output[:length]) != baseline.output_ids[:length]:
        _wrong("it is said to be identical, and differs from the run")
    if apart is not None:
        if apart.place >= length:
            _wrong("it differs at a token that was not compared")
        if (apart.run_id, apart.alone_id) != (output[apart.place], baseline.output_ids[apart.place]):
            _wrong("the first difference names other tokens than the outputs have")


def spells(tokens: Sequence[TokenRecord], text: str) -> bool:
    """Whether `text` is what the tokens write one after another; as before a stop string, it may end early.

    Blanks do not count, since decoders add and drop them. Bytes of several tokens are put together. Markup such as
    ``<|im_end|>`` may leave no text, and so may the tokens of up to `SILENT` ids. Where `text` has U+FFFD, only what
    stands between is looked for.
    """
    rest, pending, silent, here = _letters(text), b"", set[int](), 0
    if UNFINISHED in rest:
        return _between(rest, _letters("".join(token.text for token in tokens)))
    for token in tokens:
        pending += _bytes(token.text)
        try:
            word = _letters(pending.decode())
        except UnicodeDecodeError:  # the character goes on in the next token
            continue
        pending = b""
        if len(rest) - here <= len(word) and word.startswith(rest[here:]):
            return True
        if rest.startswith(word, here):
            here += len(word)
        elif not _MARKUP.match(token.text):
            silent.add(token.token_id)
            if len(silent) > SILENT:
                return False
    return here == len(rest)


def _output(steps: Sequence[StepRecord]) -> list[TokenRecord]:
    return [
        token
        for step in steps
        for token in (*(t for t in step.tokens if t.fate is Fate.ACCEPTED), *((step.extra,) if step.extra else ()))
    ]


def _letters(text: str) -> str:
    return "".join(text.split()).replace("▁", "")


def _bytes(shown: str) -> bytes:
    """The bytes of a token as `TextCodec.show` writes it: ``a⟨E4 BD⟩`` is three of them."""
    parts = _BYTES.split(shown)
    return b"".join(bytes.fromhex(part) if odd % 2 else part.encode() for odd, part in enumerate(parts))


def _between(rest: str, written: str) -> bool:
    """Whether the parts of `rest` between U+FFFD come in this order in `written`, whose bytes are in ⟨⟩."""
    here, whole = 0, _bytes(written).decode("utf-8", "replace")
    for part in rest.split(UNFINISHED):
        if (found := whole.find(part, here)) < 0:
            return False
        here = found + len(part)
    return True


def _wrong(what: str) -> NoReturn:
    raise TraceError(f"{what}; open another file.")
