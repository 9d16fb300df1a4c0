"""The browser's files: all of them, in order, sound, and free of markup made from text."""

import re
import shutil
import subprocess

import pytest

from specviz.views import page, wire

# the name of a namespace; nothing is ever asked of it
SVG_NAMESPACE = "'http://www.w3.org/2000/svg'"
SCRIPTS = sorted(page.ASSETS.glob("*.js"))


def test_every_file_is_in_the_script_and_the_entry_is_last():
    scopes = (page.SCRIPTS, page.PICTURE_SCRIPTS, page.RACE_SCRIPTS, page.SWEEP_SCRIPTS)
    assert sorted({name for scope in scopes for name in scope}) == [path.name for path in SCRIPTS]
    assert [scope[-1] for scope in scopes] == ["view.js", "picture.js", "race.js", "sweep.js"]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_becomes_markup_and_no_host_is_named(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text)
    assert "http" not in text.replace(SVG_NAMESPACE, "")


def test_style_holds_only_what_gradio_keeps():
    # its loader drops @container, @layer and @supports, and splits selectors at every comma
    css = page.css()
    assert set(re.findall(r"@([\w-]+)", css)) <= {"media", "keyframes"}
    assert ":is(" not in css and ":where(" not in css
    assert not re.search(r"url\(|http", css)


def test_the_template_is_static():
    for template in (page.template(), page.PICTURE_TEMPLATE, page.RACE_TEMPLATE, page.SWEEP_TEMPLATE):
        assert "{" not in template and "value" not in template


def test_the_browser_reads_token_fields_where_the_wire_puts_them():
    store = (page.ASSETS / "store.js").read_text(encoding="utf-8")
    places = dict(re.findall(r"\b([A-Z]+) = (\d+)", store))
    order = ["ID", "SHOWN", "FATE", "PARENT", "Q", "P", "ACCEPT", "COIN", "DRAFTER", "VERIFIER", "BREAKS"]
    assert [int(places[name]) for name in order] == list(range(len(order)))
    assert "breaks]" in (wire.__doc__ or "")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("script", [page.script, page.picture_script, page.race_script, page.sweep_script])
def test_the_script_is_sound(tmp_path, script):
    whole = tmp_path / "view.js"
    names = "element, trigger, props, server, upload, watch"
    whole.write_text(f"(function ({names}) {{\n{script()}\n}})", encoding="utf-8")
    done = subprocess.run(["node", "--check", str(whole)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
