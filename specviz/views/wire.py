"""Records → plain data for the browser, as small as a live stream wants it.

`step` is what ribbon and charts need (about 0.6 kB at K = 4), `detail` what the card of one looked-at step needs,
`recording` both for a whole trace. Draws nothing, decides nothing; the trace stays the source of truth.

A token is a list, trailing nothings left out::

    [id, shown, letter, parent, q, p, accept, coin, drafter_prob, verifier_prob, breaks]

Example: an untested token is ``[262, "·the", "u", 1, 0.31, 0.02, null, null, 0.31, 0.02]``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NotRequired, TypedDict

from specviz.core.records import BaselineRecord, Fate, PositionRecord, StepRecord, TokenRecord
from specviz.metrics.trust import uneven
from specviz.traces.trace import Trace
from specviz.views.doubts import doubted
from specviz.views.glyphs import breaks, named, together
from specviz.views.palette import LETTERS

DIGITS = 4

Token = list[Any]
"""As in the docstring of this module."""


class Step(TypedDict):
    """A step without its candidates (`step`); `assets/wire.js` has the same keys. Times in milliseconds."""

    i: int  # index of the step
    n: int  # output tokens before it
    k: int  # speculation length of this step
    ks: NotRequired[int]  # as set, where the draft length chose another
    dl: NotRequired[str]  # the draft length, unless it is fixed
    st: str  # strategy
    ru: str  # rule
    T: float  # temperature
    tk: int  # top-k, 0: off
    tp: float  # top-p
    rp: float  # repetition penalty
    tok: list[Token]  # the draft
    ex: Token | None  # what the target added
    stop: str | None  # stop reason
    ds: str | None  # draft end
    pos: int  # positions in the target pass
    d: float | None  # draft
    v: float | None  # verify
    o: float | None  # other
    c: float | None  # prefill of text before the step
    rec: float | None  # recording


class Detail(TypedDict):
    """What `detail` makes of a step."""

    i: int
    tok: list[str]  # text of each drafted token
    ex: str | None
    positions: list[dict[str, Any]]


class Frame(TypedDict):
    """A message of a run (`sessions/frames.py`). All but `m` and `state` only where there is something to say."""

    m: str  # kind of the message, here "frame"
    state: str
    seq: NotRequired[int]  # number of the message
    r: NotRequired[str | None]  # id of the run
    f: NotRequired[int]  # index of the first of these steps
    s: NotRequired[list[Step]]
    b: NotRequired[dict[str, Any]]  # the baseline
    head: NotRequired[dict[str, Any]]
    why: NotRequired[str | None]  # stop reason of the run
    hint: NotRequired[str]
    others: NotRequired[int]  # turns of other visitors between the steps
    say: NotRequired[str]
    progress: NotRequired[float | None]
    back: NotRequired[str]
    text: NotRequired[str | None]


def step(record: StepRecord) -> Step:
    """One step without its candidates. Times in milliseconds."""
    s = record.settings
    made: Step = {
        "i": record.index,
        "n": record.start,
        "k": record.k,
        "st": s.strategy,
        "ru": s.rule,
        "T": s.temperature,
        "tk": s.top_k,
        "tp": s.top_p,
        "rp": s.repetition_penalty,
        "tok": [_token(token) for token in record.tokens],
        "ex": None if record.extra is None else _token(record.extra),
        "stop": record.stop,
        "ds": record.draft_stop,
        "pos": record.target_positions,
        "d": _ms(record.draft_s),
        "v": _ms(record.verify_s),
        "o": _ms(record.other_s),
        "c": _ms(record.catch_up_s),
        "rec": _ms(record.record_s),
    }
    # what is usual is left out
    if s.k != record.k:
        made["ks"] = s.k
    if s.draft_length != "fixed":
        made["dl"] = s.draft_length
    return made


def detail(record: StepRecord) -> Detail:
    """What the step card shows on demand: whole texts, and the two distributions at each position that was visited."""
    return {
        "i": record.index,
        "tok": [token.text for token in record.tokens],
        "ex": None if record.extra is None else record.extra.text,
        "positions": [_position(position) for position in record.positions],
    }


def head(trace: Trace | None = None, **parts: Any) -> dict[str, Any]:
    """What is known before the first step. Give a trace, or parts by the names of its fields; `run_id` and `seed` apart.

    `own`: which tokens are the prompt as it was typed, from and to; the others are the chat template's. Absent where that
    is not sure.

    Example: ``head(run_id="r1", prompt_ids=(1,), prompt_texts=("Once",), pair={...}, prefill_s=0.2)``.
    """
    names = ("prompt", "prompt_ids", "prompt_texts", "pair", "prefill_s")
    known = {} if trace is None else {name: getattr(trace, name) for name in names}
    if trace is not None and trace.steps:
        known["seed"] = trace.steps[0].settings.seed
    known |= parts
    ids: Sequence[int] = known.get("prompt_ids", ())
    texts: Sequence[str] = known.get("prompt_texts", ())
    pair: Mapping[str, Any] = known.get("pair", {})
    seed = known.get("seed")
    # a trace may lack the texts of its prompt; the ids are then named
    texts = (*texts, *[""] * (len(ids) - len(texts)))
    whole = together(texts)
    own = _own(known.get("prompt") or "", texts)
    return {
        "r": known.get("run_id"),
        # the token's own bytes are kept where the chip shows a character that it makes with others only
        "prompt": [
            _trim([i, named(seen, i), breaks(text) or None, text if seen != text else None])
            for i, text, seen in zip(ids, texts, whole, strict=True)
        ],
        "pair": dict(pair),
        "prefill": _ms(known.get("prefill_s", 0.0)),
        # a text: a browser's numbers end at 2^53
        **({} if seed is None else {"seed": str(seed)}),
        **({} if own is None else {"own": own}),
    }


def _own(prompt: str, texts: Sequence[str]) -> list[int] | None:
    """Tokens that spell `prompt`, as [from, to], where they are found exactly once."""
    ends = list(accumulate(map(len, texts), initial=0))
    whole, found = "".join(texts), []
    for first, begins in enumerate(ends[:-1]):
        if prompt and whole.startswith(prompt, begins) and (after := begins + len(prompt)) in ends[first:]:
            found.append([first, ends.index(after, first)])
    return found[0] if len(found) == 1 else None


def baseline(record: BaselineRecord) -> dict[str, Any]:
    """The target alone: how many tokens, how fast, whether it wrote the same."""
    apart = record.difference
    return {
        "n": len(record.step_s),
        "tps": record.tokens_per_s,
        "others": record.others,
        "uneven": doubted(uneven(record.step_s)),
        "same": record.identical,
        "compared": record.compared,
        "apart": None
        if apart is None
        else {
            "position": apart.position,
            "run": named(apart.run_text, apart.run_id),
            "alone": named(apart.alone_text, apart.alone_id),
            "margin": apart.margin,
            "tie": apart.margin < record.tie_bound,
        },
    }


def recording(trace: Trace) -> dict[str, Any]:
    """A whole run, self-contained: the browser needs nothing else to show, browse and explain it."""
    return {
        "head": head(trace),
        "s": [step(record) for record in trace.steps],
        "details": [detail(record) for record in trace.steps],
        "b": None if trace.baseline is None else baseline(trace.baseline),
        "others": trace.others,
        "stop": trace.stop,
        "text": trace.text,
    }


def pack(message: Mapping[str, Any]) -> str:
    """Compact strict JSON for `gr.HTML`, free of what Gradio would warn of (`<`) or translate (`__i18n__`)."""
    text = json.dumps(message, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("__i18n__", "\\u005f_i18n__")


def _token(token: TokenRecord) -> list[Any]:
    accept, coin = _verdict(token)
    return _trim(
        [
            token.token_id,
            named(token.text, token.token_id),
            LETTERS[token.fate],
            token.parent,
            _short(token.draft_prob),
            _short(token.target_prob),
            accept,
            coin,
            _short(token.drafter_prob),
            _short(token.verifier_prob),
            breaks(token.text) or None,
        ]
    )


def _verdict(token: TokenRecord) -> tuple[float | None, float | None]:
    """Chance and coin, rounded, but with as many digits as it takes for coin < chance to stay what it was."""
    accept, coin = token.accept_prob, token.coin
    if accept is None or coin is None or token.fate not in (Fate.ACCEPTED, Fate.REJECTED):
        return _short(accept), _short(coin)
    for digits in range(DIGITS, 17):
        pair = _short(accept, digits), _short(coin, digits)
        if (pair[1] < pair[0]) == (coin < accept):  # type: ignore[operator]
            return pair
    return accept, coin


def _position(position: PositionRecord) -> dict[str, Any]:
    several = {} if position.accept_prob is None else {"any": _short(position.accept_prob)}
    return several | {
        "node": position.node,
        "beta": _short(position.overlap),
        "cand": [
            _trim(
                [
                    c.token_id,
                    named(c.text, c.token_id),
                    *map(_short, (c.draft_prob, c.target_prob, c.drafter_prob, c.verifier_prob)),
                ]
            )
            for c in position.candidates
        ],
        "qt": _short(position.draft_tail),
        "pt": _short(position.target_tail),
    }


def _trim(values: list[Any]) -> list[Any]:
    while values and values[-1] is None:
        values.pop()
    return values


def _short(value: float | None, digits: int = DIGITS) -> float | None:
    if value is None:
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded in (0, 1) else rounded


def _ms(seconds: float) -> float | None:
    return _short(seconds * 1000)
