"""The browser's files: all of them, in order, sound, and free of markup made from text."""

import posixpath
import re
import shutil
import subprocess
from typing import NotRequired, get_origin, get_type_hints

import pytest

from specviz.core.assets import ASSETS
from specviz.views import page, page_files, wire

# the name of a namespace; nothing is ever asked of it
SVG_NAMESPACE = "'http://www.w3.org/2000/svg'"
SCRIPTS = sorted(ASSETS.rglob("*.js"))
ENTRIES = ("view.js", "picture.js", "race.js", "sweep.js")
EXPORTED = "replay.js"


def test_what_modules_import_is_there_and_every_file_is_imported_by_an_entry():
    found, left = set(), [*ENTRIES, EXPORTED, "config.js", page.IN_HEAD]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            asked = re.findall(r"^(?:import .*|\} )?from '(\.[^']+)';$", page.SCRIPTS[name].decode(), re.MULTILINE)
            left += [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in asked]
    assert found == set(page.SCRIPTS) == {path.relative_to(ASSETS).as_posix() for path in SCRIPTS}


def test_entries_are_mounted_by_the_loader():
    scripts = (page.script(), page.picture_script(), page.race_script(), page.sweep_script())
    for entry, text in zip(ENTRIES, scripts, strict=True):
        assert f'const ENTRY = "{entry}";' in text and "export function mount(" in page.SCRIPTS[entry].decode()


def test_an_event_that_the_view_triggers_is_named_in_its_script():
    triggered = {name for text in page.SCRIPTS.values() for name in re.findall(r"trigger\('(\w+)'", text.decode())}
    assert triggered == set(page.EVENTS) and all(f'"{name}"' in page.script() for name in triggered)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_becomes_markup_and_no_host_is_named(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text)
    assert "http" not in text.replace(SVG_NAMESPACE, "")


def test_style_holds_only_what_gradio_keeps():
    # its loader drops @container, @layer and @supports, and splits selectors at every comma
    css = page_files.css()
    assert set(re.findall(r"@([\w-]+)", css)) <= {"media", "keyframes"}
    assert ":is(" not in css and ":where(" not in css
    assert not re.search(r"url\(|http", css)


def test_the_template_is_static():
    for template in (page.template(), page.PICTURE_TEMPLATE, page.RACE_TEMPLATE, page.SWEEP_TEMPLATE):
        assert "{" not in template and "value" not in template


def test_the_browser_reads_token_fields_where_the_wire_puts_them():
    positions = dict(re.findall(r"\b([A-Z]+) = (\d+)", page.SCRIPTS["wire.js"].decode()))
    order = ["ID", "SHOWN", "FATE", "PARENT", "Q", "P", "ACCEPT", "COIN", "DRAFTER", "VERIFIER", "BREAKS"]
    assert [int(positions[name]) for name in order] == list(range(len(order)))
    assert "breaks]" in (wire.__doc__ or "")


@pytest.mark.parametrize("kind", [wire.Step, wire.Detail, wire.Frame], ids=lambda kind: kind.__name__)
def test_types_of_the_wire_have_the_same_keys_on_both_sides(kind):
    text = page.SCRIPTS["wire.js"].decode()
    block = re.search(rf"@typedef {{object}} {kind.__name__}\b(.*?)\*/", text, re.DOTALL)
    assert block
    found = re.findall(r"@property \{[^}]+\} (\[?)(\w+)", block[1])
    hints = get_type_hints(kind, include_extras=True)
    assert {name for _, name in found} == set(hints)
    assert {name for sign, name in found if sign} == {n for n, kept in hints.items() if get_origin(kept) is NotRequired}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("script", [page.script, page.picture_script, page.race_script, page.sweep_script])
def test_the_loader_is_sound(tmp_path, script):
    whole = tmp_path / "load.cjs"
    names = "element, trigger, props, server, upload, watch"
    whole.write_text(f"(function ({names}) {{\n{script()}\n}})", encoding="utf-8")
    done = subprocess.run(["node", "--check", str(whole)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
