"""The public endpoints: a run as a stream of flat records, or whole; for scripts, other programs and MCP clients.

They wait without a thread, and in slots of their own: calls whose answer nobody reads keep no visitor of the page waiting.
No `from __future__ import annotations` here: Gradio reads the annotations to see what goes in and comes out.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from inspect import Signature, signature
from typing import Any, TypeVar

import gradio as gr

from specviz.core.settings import RunSettings, SpecvizError, options_of
from specviz.decoding import baseline, engine
from specviz.decoding.state import Run
from specviz.drafting import STRATEGIES, make_ready
from specviz.metrics.summary import summary
from specviz.sessions.arguments import check_kinds
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.model_cache import POLL_S, ModelCache
from specviz.sessions.stops import read_stops, split_lines
from specviz.views import wire

T = TypeVar("T")
API_RUNS = 8
"""Calls that decode at once. Each takes turns with every visitor, so a step of the page waits for 8 of theirs at most."""
API_WAITING = 16
"""Calls that wait for such a slot; one more is turned away at once."""
WAIT_S = 30.0
BUSY = "The server is busy with other calls; call again in a minute."
FAULT = "The run failed because of a fault in this program. The console of the server shows the details."
log = logging.getLogger("specviz")


class Endpoints:
    """Bound to the models and turns of one app."""

    def __init__(self, model_cache: ModelCache, queue: DecodeQueue) -> None:
        self._model_cache = model_cache
        self._queue = queue
        self._slots = asyncio.Semaphore(API_RUNS)
        self._waiting = 0

    async def generate(
        self,
        prompt: str,
        strategy: str = "greedy",
        k: int = 4,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        repetition_penalty: float = 1.0,
        rule: str = "speculative sampling",
        max_new_tokens: int = 64,
        seed: int = 1,
        chat: bool = True,
        stop: str | list[str] = "",
        target: str = "default",
        draft: str = "",
        dtype: str = "auto",
        draft_length: str = "fixed",
        options: str | list[str] = "",
    ) -> AsyncIterator[dict[str, Any]]:
        """Run speculative decoding and stream one record per step, then one for the end.

        A step record has event "step", its index, the text so far, emitted ids, and the step as the page gets it
        (`wire`, a JSON text). The last record has event "end", the whole text, all ids and the stop reason. `stop` is a
        list of stop strings, or a text with one a line, where \\n is a line break and \\\\ a backslash. `options` holds one
        knob of strategy, draft length or rule a line, as NAME=NUMBER. Every value is checked; an error is one sentence
        that says what to do.
        """
        asked = dict(locals())
        async with self._slot(), _told():
            run, settings, _ = await self._begin("generate", asked)
            while not run.finished(settings):
                record = await self._turn(lambda: engine.step(run, settings))
                yield {
                    "event": "step",
                    "index": record.index,
                    "text": run.text,
                    "emitted_ids": json.dumps(record.emitted_ids),
                    "wire": wire.pack(wire.step(record)),
                }
            yield {
                "event": "end",
                "index": len(run.steps),
                "text": run.text,
                "emitted_ids": json.dumps(run.output_ids),
                "stop": run.stop,
            }

    async def run_trace(
        self,
        prompt: str,
        strategy: str = "greedy",
        k: int = 4,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        repetition_penalty: float = 1.0,
        rule: str = "speculative sampling",
        max_new_tokens: int = 64,
        seed: int = 1,
        chat: bool = True,
        stop: str | list[str] = "",
        target: str = "default",
        draft: str = "",
        dtype: str = "auto",
        measure_alone: bool = False,
        with_trace: bool = True,
        draft_length: str = "fixed",
        options: str | list[str] = "",
    ) -> str:
        """Run speculative decoding to its end and return one JSON text with a "summary" and the whole "trace".

        The summary holds the text, counts, acceptance rate, tokens per target pass, speed, and whether the rule was
        lossless; with `measure_alone` also
        the speed-up over the target alone and whether both wrote the same. The trace has every drafted token's fate and
        probabilities, about 250 kB for 100 tokens; saved as a file, the page opens it. `stop`: a list of stop strings, or
        a text with one a line, where \\n is a line break and \\\\ a backslash. `options`: one knob of strategy, draft
        length or rule a line, as NAME=NUMBER.
        """
        asked = dict(locals())
        async with self._slot(), _told():
            run, settings, asked = await self._begin("run_trace", asked)
            await self._finish(run, settings)
            if asked["measure_alone"]:
                single, alone = await self._turn(lambda: baseline.alone(run, settings, engine.begin))
                await self._finish(single, alone)
                run.baseline = await self._turn(lambda: baseline.compare(run, single))
            trace = run.trace()
            found = json.dumps(summary(trace), allow_nan=False, ensure_ascii=False)
            return f'{{"summary":{found},"trace":{trace.to_json() if asked["with_trace"] else "null"}}}'

    # what Gradio makes an output of; a generator's item, not the generator
    generate.__annotations__["return"] = dict

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """One of the slots of calls, or gr.Error where none is free for a while."""
        if self._waiting >= API_WAITING:
            raise gr.Error(BUSY, print_exception=False)
        self._waiting += 1
        try:
            await asyncio.wait_for(self._slots.acquire(), WAIT_S)
        except TimeoutError as error:
            raise gr.Error(BUSY, print_exception=False) from error
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._slots.release()

    async def _turn(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._queue.submit(work))

    async def _begin(self, endpoint: str, asked: Mapping[str, Any]) -> tuple[Run, RunSettings, dict[str, Any]]:
        """The run with its prompt read, its settings, and the checked arguments."""
        checked = check_kinds(SIGNATURES[endpoint], asked)
        settings = settings_of(checked)
        loading = self._model_cache.again((checked["target"] or "", checked["draft"] or "", checked["dtype"] or ""))
        for _ in loading.looks():
            await asyncio.sleep(POLL_S)
        pair = loading.arrived()
        strategy = STRATEGIES.get(settings.strategy)
        if strategy is not None and strategy.fits(pair) is None:
            # here and not in a turn, which would keep everybody waiting
            await asyncio.to_thread(make_ready, pair, settings.strategy)
        run = await self._turn(lambda: engine.begin(pair, checked["prompt"], settings))
        await self._read(run)
        return run, settings, checked

    async def _read(self, run: Run) -> None:
        while await self._turn(lambda: engine.read(run)):  # a turn for each piece of a long prompt
            pass

    async def _finish(self, run: Run, settings: RunSettings) -> None:
        while await self._turn(lambda: engine.advance(run, settings)):
            pass


def _arguments(endpoint: Callable[..., Any]) -> Signature:
    found = signature(endpoint)
    return found.replace(parameters=list(found.parameters.values())[1:])  # without self


SIGNATURES: Mapping[str, Signature] = {
    "generate": _arguments(Endpoints.generate),
    "run_trace": _arguments(Endpoints.run_trace),
}
"""The arguments of each endpoint by its name; nothing else says what they are."""


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """What goes wrong, as one sentence for the caller."""
    try:
        yield
    except SpecvizError as error:
        raise gr.Error(str(error), print_exception=False) from error
    except Exception as error:  # a sentence for the caller, the whole for the host
        log.exception("a call failed")
        raise gr.Error(FAULT, print_exception=False) from error


def settings_of(asked: Mapping[str, Any]) -> RunSettings:
    """Checked settings from an endpoint's arguments; those that are no settings are left alone."""
    fields = {name: asked[name] for name in RunSettings.__dataclass_fields__ if name in asked}
    given = asked["options"] or ""
    options = options_of(split_lines(given) if isinstance(given, str) else given)
    return RunSettings(**fields | {"stop": read_stops(asked["stop"]), "options": options})
