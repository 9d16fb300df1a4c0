"""A run as one HTML document: the app's own scripts and style sheets, the run as data, and the charts as SVG.

The document asks no network: its content security policy allows its own script and style sheets by their hashes, and
nothing else. Texts of the run are data or escaped text, never markup.

Example: ``to_html(trace, "run.html")`` writes the file, and returns the same text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from specviz import __version__
from specviz.core.output_files import check_file, write_text
from specviz.core.words import language as spoken_language
from specviz.core.words import say, speaking
from specviz.export.charts import charts, colours
from specviz.export.linking import NAME, link
from specviz.metrics.telling_step import first_telling
from specviz.metrics.trust import SLACK
from specviz.traces.trace import Trace
from specviz.views import palette, wire
from specviz.views.markup import Html, data, inline_script, sheet, tag
from specviz.views.page_files import SCRIPTS, css, sheets, spoken

ENTRY = "replay.js"
STYLES = ("style.css", "card.css", "export.css")
SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Steps per second that the document offers; the last is what its script does without a pause."""
START_SPEED = 1.0
MOST_TITLE = 80


def to_html(
    trace: Trace,
    path: str | Path | None = None,
    *,
    title: str = "",
    step: int | None = None,
    language: str = "en",
) -> str:
    """The run as one HTML document, written to `path` where that is given.

    `title`: its heading, else the beginning of the prompt. `step`: number of the step that it opens at, from 1; else the
    first one with an accepted and a rejected token. An address that ends in ``#step=12`` opens another. `language`: "en"
    or "de"; an unknown one means English. Raises SpecvizError where the file cannot be written.
    """
    if path is not None:
        check_file(Path(path), "the page")
    with speaking(language):
        text = _document(trace, title or _begins(trace.prompt), step or first_telling(trace.steps))
    if path is not None:
        write_text(Path(path), text, "the page")
    return text


def _document(trace: Trace, title: str, step: int) -> str:
    told = spoken()
    run = {"recording": wire.recording(trace), "start": min(step, len(trace.steps)), "title": title}
    script = f"(() => {{\n{link(ENTRY, SCRIPTS)}\n{NAME}['{ENTRY}'].mount();\n}})();"
    main = tag("main", tag("div", charts(trace), cls="sv-root"), tag("noscript", tag("p", say("export.no_script"))))
    return document(title, say("export.about"), main, script, {"run": run, "config": _config(trace) | told})


def document(
    title: str, about: str, main: Html, script: str = "", given: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """A page in the language of the moment, which may run `script` and nothing else. `given`: data for the script, by name."""
    style = "\n".join([css(STYLES), colours()])
    styles = [("all", style), *sheets()]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script, [text for _, text in styles])),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"specviz {__version__}"),
        tag("title", f"{title} · specviz"),
        *(sheet(text, media) for media, text in styles),
    ]
    body = [
        tag("header", tag("h1", title), tag("p", about), cls="sv-page-head"),
        main,
        tag("footer", say("export.made", version=__version__), cls="sv-page-foot"),
        *(_data(f"specviz-{name}", value) for name, value in given.items()),
        *([inline_script(script)] if script else []),
    ]
    page = tag(
        "html", tag("head", *_lines(head)), tag("body", *_lines(body), cls="sv-exported"), lang=spoken_language()
    )
    return f"<!doctype html>\n{page}\n"


def _lines(parts: list[Html]) -> list[str]:
    return [line for part in parts for line in ("\n", part)]


def _begins(prompt: str) -> str:
    """The beginning of the prompt as a heading."""
    words = " ".join(prompt.split())
    return words if len(words) <= MOST_TITLE else words[:MOST_TITLE].rsplit(" ", 1)[0] + " …"


def _config(trace: Trace) -> dict[str, Any]:
    from specviz.verification import RULES  # noqa: PLC0415  # imports torch

    rules = {step.settings.rule for step in trace.steps}
    speeds = {say("export.speed", n=speed, rate=f"{speed:g}"): speed for speed in SPEEDS}
    labels = list(speeds)
    return {
        "palette": palette.plain(),
        "slack": SLACK,
        "lossy": sorted(rule for rule in rules if rule in RULES and not RULES[rule].lossless),
        "speeds": {label: speeds[label] for label in labels[:-1]},
        "export": {
            "speeds": labels,
            "speed": labels[SPEEDS.index(START_SPEED)],
            "names": {name: say(f"export.{name}") for name in ("play", "pause", "step", "speed_name")},
        },
    }


def _data(name: str, value: Any) -> Html:
    """Data for the script. `wire.pack` leaves no character that could end or change the element."""
    text = wire.pack(value).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return data(name, text)


def _policy(script: str, styles: list[str]) -> str:
    allowed = _hash(script) if script else "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src {' '.join(map(_hash, styles))}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
