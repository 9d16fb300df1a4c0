"""One public endpoint: a run as a stream of flat records, for scripts and other programs.

No `from __future__ import annotations` here: Gradio reads the return annotation to see that there is an output.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from specviz import engine
from specviz.settings import RunSettings, SpecvizError
from specviz.ui.shelf import Shelf
from specviz.ui.turns import Turns
from specviz.views import wire


def make_generate(shelf: Shelf, turns: Turns) -> Callable[..., Iterator[dict[str, Any]]]:
    """The endpoint's function, bound to the models and turns of one app."""

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
    ) -> Iterator[dict[str, Any]]:
        """Run speculative decoding and stream one record per step, then one for the end.

        A step record has event "step", its index, the text so far, emitted ids, and the step as the page gets it
        (`wire`, a JSON text). The last record has event "end", the whole text, all ids and the stop reason. `stop` holds
        one stop string a line. Every value is checked; an error is one sentence that says what to do.
        """
        try:
            settings = RunSettings(
                strategy,
                k,
                temperature,
                top_k,
                top_p,
                repetition_penalty,
                rule,
                max_new_tokens,
                lines(stop),
                seed,
                chat,
            )
            if not isinstance(prompt, str):
                raise SpecvizError("The prompt must be a text.")
            loading = shelf.again((str(target or ""), str(draft or ""), str(dtype or "")))
            loading.done.wait()
            if loading.pair is None:
                raise SpecvizError(loading.say)
            pair = loading.pair
            run = turns.submit(lambda: engine.start(pair, prompt, settings)).result()
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

    generate.__annotations__["return"] = dict  # what Gradio makes an output of; a generator's item, not the generator
    return generate


def lines(text: str) -> tuple[str, ...]:
    """Stop strings, one a line; a line break within one is written \\n."""
    return tuple(line.replace("\\n", "\n") for line in str(text or "").splitlines() if line)
