"""A folder of exported recordings with an index: a static site that any host serves, a free static Space among them.

Example: ``write_site(Path("out"))`` writes ``out/index.html``, ``out/README.md`` and a page for each recording.
"""

from __future__ import annotations

from pathlib import Path

from specviz.core.output_files import check_folder, write_text
from specviz.core.words import say, speaking, spoken
from specviz.export.page import document, to_html
from specviz.recordings import gallery
from specviz.views.markup import Html, joined, tag

CARD = """---
title: specviz recordings
emoji: 🔎
colorFrom: green
colorTo: indigo
sdk: static
app_file: index.html
pinned: false
license: apache-2.0
---

# specviz recordings

Recorded runs of speculative decoding, one page each. Made with `specviz gallery`; the pages need no server.
"""
"""What a static Space reads its settings from."""


def write_site(folder: Path, language: str = "en") -> list[Path]:
    """The files written, the index first. Raises SpecvizError where the folder or a recording cannot be used."""
    check_folder(folder, "the gallery")
    names = gallery.present()
    with speaking(language):
        index = document(say("export.site"), say("export.site_about"), _list(names))
        titles = {name: spoken(gallery.RECORDINGS[name].title) for name in names}
    written = [folder / "index.html", folder / "README.md"]
    for path, text in zip(written, (index, CARD), strict=True):
        write_text(path, text, "the gallery")
    for name in names:
        start = gallery.RECORDINGS[name].start
        to_html(gallery.read(name), folder / f"{name}.html", title=titles[name], step=start, language=language)
        written.append(folder / f"{name}.html")
    return written


def _list(names: list[str]) -> Html:
    items = []
    for name in names:
        plan, gain = gallery.RECORDINGS[name], gallery.recorded_speed_up(name)
        line = joined([spoken(plan.line), f" {say('export.gain', gain=f'{gain:.2f}')}" if gain else ""])
        items.append(tag("li", tag("a", spoken(plan.title), href=f"{name}.html"), tag("p", line)))
    return tag("main", tag("ul", *items, cls="sv-site"))
