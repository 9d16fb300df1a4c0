"""Whether a trace agrees with itself: fates with coins, emitted ids with tokens, text with tokens, stop with steps.

A file that says one thing and shows another raises TraceError, one sentence that says what and where. Nothing is asked of
a model, so rules and strategies that only another version knows can be shown. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from specviz.core.records import ROOT, BaselineRecord, Fate, PositionRecord, StepRecord, TokenRecord
from specviz.core.words import sentence
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
        with at(sentence("errors.trace_step", number=count + 1)):
            if step.index != count or step.start != start:
                _wrong(sentence("errors.trace_disorder"))
            _check_step(step)
            if step.stop not in (None, "length") and count + 1 < len(trace.steps):
                _wrong(sentence("errors.trace_more_steps", stop=step.stop))
        start += len(step.emitted_ids)
    if trace.steps and (last := trace.steps[-1].stop) not in (None, "length", trace.stop):
        _wrong(sentence("errors.trace_stop_differs", stop=trace.stop, last=last))
    if len(trace.prompt_texts) > len(trace.prompt_ids):
        _wrong(sentence("errors.trace_prompt_texts"))
    if trace.baseline is not None:
        with at(sentence("errors.trace_baseline")):
            _check_baseline(trace.baseline, trace.output_ids)
    if not spells(_output(trace.steps), trace.text):
        _wrong(sentence("errors.trace_text"))


def _check_step(step: StepRecord) -> None:
    for node, token in enumerate(step.tokens):
        if not ROOT <= token.parent < node:
            _wrong(sentence("errors.trace_late_parent", number=node + 1))
        with at(f"drafted token {node + 1}"):
            _check_token(token)
    if step.depth > step.k:
        _wrong(sentence("errors.trace_depth", depth=step.depth, k=step.k))
    if step.target_positions <= len(step.tokens):
        _wrong(sentence("errors.trace_positions"))
    path = _path(step)
    _check_order(step, path)
    _check_extra(step, path)
    own = () if step.extra is None else (step.extra.token_id,)
    if len(step.emitted_ids) != len(path) + len(own):
        _wrong(sentence("errors.trace_emits_number"))
    if step.emitted_ids != (*(step.tokens[node].token_id for node in path), *own):
        _wrong(sentence("errors.trace_emits_other"))
    _check_positions(step, path)


def _check_token(token: TokenRecord) -> None:
    """A drafted token: its fate is that of its coin. Rounding cannot turn the two round, but make them equal."""
    verdict = (token.accept_prob, token.coin)
    if token.draft_prob is None:
        _wrong(sentence("errors.trace_no_draft_prob"))
    if token.fate is Fate.UNTESTED:
        if verdict != (None, None):
            _wrong(sentence("errors.trace_untested_coin"))
        return
    if token.fate not in (Fate.ACCEPTED, Fate.REJECTED):
        _wrong(sentence("errors.trace_fate", fate=token.fate))
    if token.accept_prob is None or token.coin is None or token.target_prob is None:
        _wrong(sentence("errors.trace_tested_coin"))
    kept = token.fate is Fate.ACCEPTED
    if token.coin > token.accept_prob if kept else token.coin < token.accept_prob:
        _wrong(
            sentence("errors.trace_coin", fate=token.fate, coin=f"{token.coin:g}", probability=f"{token.accept_prob:g}")
        )


def _path(step: StepRecord) -> list[int]:
    """Accepted tokens, which must follow each other."""
    path = [node for node, token in enumerate(step.tokens) if token.fate is Fate.ACCEPTED]
    for before, node in zip([ROOT, *path], path, strict=False):
        if step.tokens[node].parent != before:
            _wrong(sentence("errors.trace_parent", number=node + 1))
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
            _wrong(sentence("errors.trace_order", number=node + 1, fate=token.fate))
        if token.fate is Fate.ACCEPTED:
            done.add(token.parent)


def _check_extra(step: StepRecord, path: Sequence[int]) -> None:
    end, extra = path[-1] if path else ROOT, step.extra
    if extra is None:
        if not path or step.stop not in ("eos", "stop string"):
            _wrong(sentence("errors.trace_no_own"))
        return
    rejected = any(token.parent == end for token in step.tokens)
    if extra.fate is not (Fate.RESAMPLED if rejected else Fate.BONUS) or extra.parent != end:
        _wrong(sentence("errors.trace_own", fate=extra.fate, number=extra.parent + 1))
    if extra.accept_prob is not None:
        _wrong(sentence("errors.trace_own_chance"))


def _check_positions(step: StepRecord, path: Sequence[int]) -> None:
    reached = [ROOT, *path] if step.extra is not None else [ROOT, *path][:-1]
    nodes = [position.node for position in step.positions]
    if len(set(nodes)) != len(nodes) or not set(nodes) <= set(reached):
        _wrong(sentence("errors.trace_unreached"))
    for count, position in enumerate(step.positions, start=1):
        with at(f"position {count}"):
            _check_position(position, [token.token_id for token in step.tokens if token.parent == position.node])


def _check_position(position: PositionRecord, drafted: Sequence[int]) -> None:
    shown = [candidate.token_id for candidate in position.candidates]
    if len(set(shown)) != len(shown) or not set(drafted) <= set(shown):
        _wrong(sentence("errors.trace_candidates"))
    drafts = {candidate.draft_prob is not None for candidate in position.candidates}
    if (position.overlap is None) != (position.draft_tail is None) or not drafts <= {position.draft_tail is not None}:
        _wrong(sentence("errors.trace_part"))
    if bool(drafted) != (position.draft_tail is not None):
        _wrong(sentence("errors.trace_no_tokens"))
    sums = [sum(c.target_prob for c in position.candidates) + position.target_tail]
    if position.draft_tail is not None:
        sums.append(sum(c.draft_prob or 0.0 for c in position.candidates) + position.draft_tail)
    if any(abs(total - 1) > SUM_SLACK for total in sums):
        _wrong(sentence("errors.trace_sum"))


def _check_baseline(baseline: BaselineRecord, output: Sequence[int]) -> None:
    if len(baseline.step_s) != len(baseline.output_ids):
        _wrong(sentence("errors.trace_times"))
    length, apart = baseline.compared, baseline.difference
    if length > min(len(output), len(baseline.output_ids)):
        _wrong(sentence("errors.trace_compared"))
    if (baseline.identical is False) != (apart is not None):
        _wrong(sentence("errors.trace_differs"))
    if baseline.identical and tuple(output[:length]) != baseline.output_ids[:length]:
        _wrong(sentence("errors.trace_identical"))
    if apart is not None:
        if apart.position >= length:
            _wrong(sentence("errors.trace_uncompared"))
        if (apart.run_id, apart.alone_id) != (output[apart.position], baseline.output_ids[apart.position]):
            _wrong(sentence("errors.trace_first"))


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
    raise TraceError(sentence("errors.trace_wrong", what=what))
