"""What a driver tells the browser: numbered messages, small deltas of a run. Plain data, nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specviz.models.describe import described
from specviz.sessions.next_action import coming
from specviz.sessions.visitors import Visitor
from specviz.views import wire
from specviz.views.amounts import amount

if TYPE_CHECKING:
    from specviz.decoding.state import Run


def message(visitor: Visitor, content: dict[str, Any]) -> dict[str, Any]:
    """`content` with the number of the message and the id of the run."""
    return {"seq": visitor.next_seq(), "r": visitor.shown.id or None, **content}


def frame(visitor: Visitor, first: int | None = None, state: str = "paused", head: bool = False, **more: Any) -> str:
    """One message: the steps from `first` on (none if None), and how things stand."""
    return wire.pack(message(visitor, state_of(visitor, first, state, head=head)) | more)


def state_of(
    visitor: Visitor, first: int | None, state: str, most: int | None = None, head: bool = False
) -> dict[str, Any]:
    """The visitor's run from step `first` on, at most `most` of them, as the content of a frame; `head`: what it is."""
    run = visitor.run
    content: dict[str, Any] = {"m": "frame", "state": state}
    if run is None:
        return content
    if head:
        texts = tuple(run.pair.target.codec.show(i) for i in run.prompt_ids)
        content["head"] = wire.head(
            run_id=visitor.shown.id,
            prompt=run.prompt,
            prompt_ids=run.prompt_ids,
            prompt_texts=texts,
            pair=described(run.pair),
            seed=run.seed,
            prefill_s=run.prefill_s,
        )
    if first is not None:
        steps = run.steps[first : None if most is None else first + most]
        content |= {"f": first, "s": [wire.step(step) for step in steps]}
    more = {"hint": coming(visitor), "others": run.others}
    return content | {"why": run.stop} | {name: value for name, value in more.items() if value}


def resting(run: Run) -> str:
    """State of a run that nobody drives."""
    return "finished" if run.stop else "paused"


def read_so_far(run: Run) -> dict[str, str]:
    """How much of the prompt is processed, as fields of a sentence: for example "512" of "5,600 tokens"."""
    return {"part": f"{run.positions_read:,}", "tokens": amount("tokens", len(run.prompt_ids))}
