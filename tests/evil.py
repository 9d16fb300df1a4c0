"""A trace whose every text tries to be markup, and a reader that finds out whether any of it became markup.

Example: ``elements(html)`` of a faultless piece of page has no "img", "script", "a" or "sv-evil".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from specviz.recordings import gallery
from specviz.traces.trace import Trace, TraceError

MARKUP = (
    "<img src=x onerror=\"window.__ran='img'\"><script>window.__ran='script'</script><sv-evil>e</sv-evil>"
    "\" onmouseover=\"window.__ran='on'\" ' $x^2$ [a](javascript:window.__ran='link') **strong** {{7*7}} "
    "${window.__ran='template'} <a href=\"javascript:window.__ran='a'\">a</a> %{x} <b>b</b>"
)
EVIL_TAGS = {"img", "script", "sv-evil", "a"}


@cache
def evil_trace(keep: str = "-", name: str = "beams") -> str:
    """JSON of a recording with `MARKUP` in every text that a trace's reader takes it for, except below the field `keep`."""
    data = json.loads(gallery.read(name).to_json())
    data["text"] = ""  # a text that differs from its tokens is rejected: it is changed after them
    for path in sorted(path for path in set(_texts(data)) if keep not in path):
        changed = _put(data, path)
        try:
            Trace.from_json(json.dumps(changed))
        except TraceError:
            continue  # a word of a fixed list, which the reader holds it against
        data = changed
    return json.dumps(data)


def _texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where texts stand, lists counted as one position."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _texts(inside, (*path, key))
    elif isinstance(value, list):
        for inside in value:
            yield from _texts(inside, (*path, "[]"))
    elif isinstance(value, str):
        yield path


def _put(value: Any, path: tuple[str, ...]) -> Any:
    if not path:
        return MARKUP if isinstance(value, str) else value
    if isinstance(value, dict):
        return {key: _put(inside, path[1:]) if key == path[0] else inside for key, inside in value.items()}
    if isinstance(value, list) and path[0] == "[]":
        return [_put(inside, path[1:]) for inside in value]
    return value


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def faults(html: str) -> list[str]:
    """Elements and attributes that only a text can have brought in, and text that was escaped twice."""
    found = _Elements()
    found.feed(html)
    found.close()
    handlers = {name for name in found.attributes if name.startswith("on")}
    twice = ["escaped twice"] if any("&lt;" in piece or "<p>" in piece for piece in found.text) else []
    return sorted((found.tags & EVIL_TAGS) | handlers) + twice
