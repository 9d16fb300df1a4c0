"""The exported document as text: nothing external, nothing evil, small, in both languages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape

import pytest

import specviz
from specviz.core.settings import SpecvizError
from specviz.core.words import languages
from specviz.recordings import gallery
from specviz.traces.trace import Trace
from specviz.views import wire
from tests.evil import MARKUP, evil_trace, faults
from tests.made_runs import trace_of

MOST_BYTES = 1_000_000
NAMESPACE = "http://www.w3.org/2000/svg"
DATA = re.compile(r'<script type="application/json" id="specviz-(\w+)">(.*?)</script>', re.S)


def data(page):
    return {name: json.loads(text) for name, text in DATA.findall(page)}


@pytest.mark.parametrize("name", gallery.present())
def test_every_recording_is_a_small_page_that_names_no_address(name):
    page = specviz.to_html(gallery.read(name))
    assert len(page.encode()) < MOST_BYTES
    assert set(re.findall(r"\bhttps?:\S*?(?=['\"\s])", page)) <= {NAMESPACE}
    assert data(page)["run"]["recording"] == json.loads(wire.pack(wire.recording(gallery.read(name))))


def test_the_policy_allows_its_own_script_and_sheets_and_nothing_else():
    page = specviz.to_html(gallery.read("copy"))
    policy = unescape(re.search(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', page)[1])
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives.pop("default-src") == "'none'" and directives.pop("img-src") == "data:"
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    sheets = re.findall(r"<style media=\".*?\">(.*?)</style>", page, re.S)
    assert len(scripts) == 1 and len(sheets) == 4

    def hashed(texts):
        return {f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts}

    assert set(directives.pop("script-src").split()) == hashed(scripts)
    assert set(directives.pop("style-src").split()) == hashed(sheets)
    assert directives == {"base-uri": "'none'", "form-action": "'none'"}
    # such an attribute would be blocked
    assert not re.search(r"<[^>]* (style|on\w+)=", DATA.sub("", re.sub(r"<script>.*?</script>", "", page, flags=re.S)))


def test_texts_of_a_run_are_texts():
    trace = Trace.from_json(evil_trace())
    page = specviz.to_html(trace, title=MARKUP)
    rest = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    assert faults(rest.replace("<!doctype html>", "")) in ([], ["escaped twice"])
    inside = [text for _, text in DATA.findall(page)]
    assert len(inside) == 2 and not [text for text in inside if "<" in text]
    assert MARKUP in data(page)["run"]["title"] and MARKUP[:9] in json.dumps(data(page)["run"]["recording"])


def test_no_character_ends_the_data_early():
    odd = "</script><!--<script>\u2028\u2029&lt;"
    page = specviz.to_html(trace_of(gallery.read("copy").steps), title=odd)
    text = dict(DATA.findall(page))["run"]
    assert data(page)["run"]["title"] == odd and not set("\u2028\u2029<") & set(text)


@pytest.mark.parametrize("code", languages())
def test_it_speaks_the_language_that_is_asked_for(code):
    page = specviz.to_html(gallery.read("copy"), language=code)
    assert f'<html lang="{code}">' in page and data(page)["config"]["language"] == code
    told = {"en": "This file needs no network", "de": "Diese Datei braucht kein Netz"}[code]
    assert told in page


def test_it_opens_at_a_telling_step_or_the_one_that_is_asked_for():
    trace = gallery.read("explanation")
    assert [data(specviz.to_html(trace, step=n))["run"]["start"] for n in (None, 12, 1000)] == [3, 12, len(trace.steps)]
    assert data(specviz.to_html(trace_of([])))["run"]["start"] == 0


def test_the_heading_is_the_title_or_the_beginning_of_the_prompt():
    trace = gallery.read("explanation")
    assert "<h1>What is photosynthesis" in specviz.to_html(trace)
    assert "<h1>Mine</h1>" in specviz.to_html(trace, title="Mine")


def test_the_file_holds_what_is_returned_and_a_folder_that_is_missing_is_an_error(tmp_path):
    page = specviz.to_html(gallery.read("copy"), tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page
    with pytest.raises(SpecvizError, match="There is no folder"):
        specviz.to_html(gallery.read("copy"), tmp_path / "none" / "run.html")
