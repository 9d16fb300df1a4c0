"""The lanes of a comparison as one frozen object, and the JSON that a recorded comparison is saved as.

A live comparison (`compare.Comparison`) gives one of these whenever it is drawn; a recorded one is read from a file. Each
lane is a trace and is read as one, so all checks of a trace hold. Standard library only.

Example: ``Compared.from_json(compared.to_json()) == compared``, where the comparison has ended.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from specviz.core.words import sentence
from specviz.traces.trace import MAX_TRACE_CHARS, Trace, TraceError

ALONE = "target alone"
"""Name of the lane of the target by itself; it always comes first."""
SCHEMA = "specviz comparison 1"
NO_COMPARISON = sentence("errors.no_comparison")
log = logging.getLogger("specviz")


@dataclass(frozen=True, slots=True)
class Compared:
    """Traces by lane, the target alone first. `ended`: every lane has come to its end."""

    traces: Mapping[str, Trace]
    ended: bool

    def to_json(self) -> str:
        """Strict JSON. Leaves out candidates: table, strips and race need none, and they are most of a trace."""
        lanes = ",".join(f"{json.dumps(name)}:{_bare(trace).to_json()}" for name, trace in self.traces.items())
        return f'{{"schema":{json.dumps(SCHEMA)},"lanes":{{{lanes}}}}}'

    @classmethod
    def from_json(cls, text: str) -> Compared:
        """Inverse of `to_json` for a comparison that has ended. Raises TraceError with one sentence for anything else."""
        if len(text) > MAX_TRACE_CHARS:
            raise TraceError(sentence("errors.comparison_large", most=MAX_TRACE_CHARS // 1_000_000))
        try:
            data = json.loads(text)
            if data["schema"] != SCHEMA:
                raise TraceError(NO_COMPARISON)
            traces = {str(name): Trace.from_json(json.dumps(lane)) for name, lane in data["lanes"].items()}
        except TraceError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.info("a comparison could not be read: %s: %s", type(error).__name__, error)
            raise TraceError(NO_COMPARISON) from error
        _check(traces)
        return cls(traces, ended=True)


def _bare(trace: Trace) -> Trace:
    """The same run without the candidates of its positions."""
    return replace(trace, steps=tuple(replace(step, positions=()) for step in trace.steps))


def _check(traces: Mapping[str, Trace]) -> None:
    """The lanes must be comparable: one prompt, one target, each run to its end, the target alone first."""
    if len(traces) < 2 or next(iter(traces)) != ALONE:
        raise TraceError(sentence("errors.comparison_lanes", alone=repr(ALONE)))
    alone = traces[ALONE]
    for name, trace in traces.items():
        if not trace.steps or trace.stop is None:
            raise TraceError(sentence("errors.comparison_unended", name=repr(name)))
        if trace.prompt_ids != alone.prompt_ids or trace.pair.get("target") != alone.pair.get("target"):
            raise TraceError(sentence("errors.comparison_mixed", name=repr(name), alone=repr(ALONE)))
