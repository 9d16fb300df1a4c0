"""Studies look at the run that is on screen: a live one, a recording, an opened file; whatever else is one sentence."""

import json
from threading import Thread
from types import SimpleNamespace

import gradio as gr
import pytest

import specviz
from specviz.core.settings import RunSettings, SpecvizError
from specviz.recordings import gallery
from specviz.sessions.services import Services
from specviz.ui.studies import StudyContext
from tests.conftest import tiny_pair
from tests.sessions.handlers import VALUES, load

pytestmark = pytest.mark.plotly


@pytest.fixture
def context():
    nothing = object()
    return StudyContext(Services(load), nothing, nothing, {}, {})


def test_the_run_on_screen_is_found_by_what_the_browser_says(context):
    someone = context.services.visitors.of("a")
    someone.controls.values = dict(VALUES)
    list(context.services.drivers.play(someone, 2))
    trace = context.on_screen(json.dumps({"r": someone.shown.id}))
    assert len(trace.steps) == 2 and trace.output_ids == tuple(someone.run.output_ids)
    assert context.on_screen('{"name": "copy"}') == gallery.read("copy")
    whole = specviz.run(tiny_pair("target12", "draft12"), "w1 w2", RunSettings(k=3, max_new_tokens=8))
    answer = json.loads(context.services.files.open(whole.to_json()))
    assert context.on_screen(json.dumps({"kept": answer["kept"]})).output_ids == whole.output_ids


@pytest.mark.parametrize(
    "shown", ["", "{}", "nonsense", "[1]", '{"r": null}', '{"r": "x"}', '{"name": "x"}', '{"kept": "x"}']
)
def test_anything_else_is_one_sentence(context, shown):
    with pytest.raises(SpecvizError, match=r"[.;]"):
        context.on_screen(shown)


def test_only_the_files_opened_last_are_kept(context):
    text = gallery.read("k-midway").to_json()
    ids = [json.loads(context.services.files.open(text))["kept"] for _ in range(17)]
    with pytest.raises(SpecvizError, match="Open it again"):
        context.services.files.kept(ids[0])
    assert context.services.files.kept(ids[-1]).steps


def test_of_two_presses_of_a_button_the_later_has_the_last_word(context):
    request, other = SimpleNamespace(session_hash="a"), SimpleNamespace(session_hash="b")
    first, neighbour = (
        context.latest(who, "go", lambda claim, t=text: t) for who, text in ((request, "123"), (other, "xyz"))
    )
    assert next(first) == "1" and next(neighbour) == "x"
    second = context.latest(request, "go", lambda claim: "456")
    assert next(second) == "4" and list(first) == [gr.skip()] and "".join(second) == "56" and "".join(neighbour) == "yz"


def test_what_supersedes_a_button_waits_until_the_frame_on_its_way_is_sent(context):
    request, order = SimpleNamespace(session_hash="c"), []
    frames = context.latest(request, "go", lambda claim: "12")
    assert next(frames) == "1"  # on its way until the next is asked for
    claim = context.visitor(request).jobs["go"].latest
    shows = Thread(target=lambda: (context.supersede(request, "go"), order.append("shown")))
    shows.start()
    while context.visitor(request).jobs["go"].latest is claim:
        pass
    order.append("sent")
    assert list(frames) == [gr.skip()]
    shows.join()
    assert order == ["sent", "shown"]
