"""The public endpoints: a run as a stream of flat records, or whole; for scripts, other programs and MCP clients.

No `from __future__ import annotations` here: Gradio reads the annotations to see what goes in and comes out.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr

from specviz import baseline, engine
from specviz.drafting import STRATEGIES, make_ready
from specviz.metrics.summary import summary
from specviz.settings import RunSettings, SpecvizError, options_of
from specviz.state import Run
from specviz.ui.shelf import Shelf
from specviz.ui.turns import Turns
from specviz.views import wire


def make_endpoints(shelf: Shelf, turns: Turns) -> dict[str, Callable[..., Any]]:
    """The endpoints' functions by name, bound to the models and turns of one app."""

    def begin(asked: Mapping[str, Any]) -> tuple[Run, RunSettings]:
        settings = settings_of(asked)
        if not isinstance(asked["prompt"], str):
            raise SpecvizError("The prompt must be a text.")
        target, draft, dtype = (str(asked[name] or "") for name in ("target", "draft", "dtype"))
        loading = shelf.again((target, draft, dtype))
        loading.done.wait()
        pair = loading.arrived()
        strategy = STRATEGIES.get(settings.strategy)
        if strategy is not None and strategy.fits(pair) is None:
            make_ready(pair, settings.strategy)  # here and not in a turn, which would keep everybody waiting
        run = turns.submit(lambda: engine.begin(pair, asked["prompt"], settings)).result()
        read(run)
        return run, settings

    def read(run: Run) -> None:
        while turns.submit(lambda: engine.read(run)).result():  # a turn for each piece of a long prompt
            pass

    def finish(run: Run, settings: RunSettings) -> None:
        while not run.finished(settings):
            turns.submit(lambda: engine.step(run, settings)).result()

    def generate(
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
        stop: str = "",
        target: str = "default",
        draft: str = "",
        dtype: str = "auto",
        draft_length: str = "fixed",
        options: str = "",
    ) -> Iterator[dict[str, Any]]:
        """Run speculative decoding and stream one record per step, then one for the end.

        A step record has event "step", its index, the text so far, emitted ids, and the step as the page gets it
        (`wire`, a JSON text). The last record has event "end", the whole text, all ids and the stop reason. `stop` holds
        one stop string a line, `options` one knob of strategy, draft length or rule a line, as NAME=NUMBER. Every
        value is checked; an error is one sentence that says what to do.
        """
        asked = dict(locals())
        try:
            run, settings = begin(asked)
            while not run.finished(settings):
                record = turns.submit(lambda: engine.step(run, settings)).result()
                yield {
                    "event": "step",
                    "index": record.index,
                    "text": run.text,
                    "emitted_ids": json.dumps(record.emitted_ids),
                    "wire": wire.pack(wire.step(record)),
                }
        except SpecvizError as error:
            raise gr.Error(str(error), print_exception=False) from error
        yield {
            "event": "end",
            "index": len(run.steps),
            "text": run.text,
            "emitted_ids": json.dumps(run.output_ids),
            "stop": run.stop,
        }

    def run_trace(
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
        stop: str = "",
        target: str = "default",
        draft: str = "",
        dtype: str = "auto",
        measure_alone: bool = False,
        with_trace: bool = True,
        draft_length: str = "fixed",
        options: str = "",
    ) -> str:
        """Run speculative decoding to its end and return one JSON text with a "summary" and the whole "trace".

        The summary holds the text, counts, acceptance rate, tokens per target pass, speed, and whether the rule was
        lossless; with `measure_alone` also
        the speed-up over the target alone and whether both wrote the same. The trace has every drafted token's fate and
        probabilities, about 250 kB for 100 tokens; saved as a file, the page opens it. `stop`: one stop string a line.
        `options`: one knob of strategy, draft length or rule a line, as NAME=NUMBER.
        """
        asked = dict(locals())
        try:
            run, settings = begin(asked)
            finish(run, settings)
            if measure_alone is True:
                single, alone = turns.submit(lambda: baseline.alone(run, settings, engine.begin)).result()
                read(single)
                finish(single, alone)
                run.baseline = turns.submit(lambda: baseline.compare(run, single)).result()
        except SpecvizError as error:
            raise gr.Error(str(error), print_exception=False) from error
        trace = run.trace()
        found = json.dumps(summary(trace), allow_nan=False, ensure_ascii=False)
        return f'{{"summary":{found},"trace":{trace.to_json() if with_trace else "null"}}}'

    generate.__annotations__["return"] = dict  # what Gradio makes an output of; a generator's item, not the generator
    return {"generate": generate, "run_trace": run_trace}


def settings_of(asked: Mapping[str, Any]) -> RunSettings:
    """Checked settings from an endpoint's arguments; those that are no settings are left alone."""
    fields = {name: asked[name] for name in RunSettings.__dataclass_fields__ if name in asked}
    options = options_of(str(asked["options"] or "").splitlines())
    return RunSettings(**fields | {"stop": lines(asked["stop"]), "options": options})


def lines(text: str) -> tuple[str, ...]:
    """Stop strings, one a line; a line break within one is written \\n."""
    return tuple(line.replace("\\n", "\n") for line in str(text or "").splitlines() if line)
