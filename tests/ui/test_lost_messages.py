"""Messages that come at one moment: Gradio hands over the last one alone. No app behind the scripts."""

from __future__ import annotations

import pytest

from specviz.core.words import catalogue
from specviz.views.page import SCRIPTS_AT
from specviz.views.page_files import SPOKEN
from tests.ui import browser

HEAD = {"run": "a", "prompt": [[1, "Hi"]]}
ALL = {"m": "frame", "r": "a", "n": 2, "seq": 14, "state": "paused", "head": HEAD, "f": 0}
STEPS = [{"i": 0, "tok": [], "ex": None}, {"i": 1, "tok": [], "ex": None}]
LOADED = """
    const modules = ['live', 'store', 'config'].map((name) => import(`${at}/${name}.js`));
    const [{ makeLive }, { makeStore }, { configure }] = await Promise.all(modules);
    configure({ settings: [], lossy: [], words });
    const root = document.body, store = makeStore(), view = new Proxy({}, { get: () => () => {} });
"""
LIVE = (
    f"async ([at, sent, answer, words, kept]) => {{{LOADED}"
    + """
    const asked = [];
    const live = makeLive(store, view, root, { resync: async (what) => (asked.push(what), answer) }, () => {});
    sessionStorage.setItem('specviz.run', kept);
    if (kept) live.open('');
    for (const message of sent) live.receive(JSON.stringify(message));
    await new Promise((done) => setTimeout(done, 50));
    return { run: store.run, prompt: store.head?.prompt, n: store.n, state: live.state(), asked };
}"""
)


@pytest.fixture(scope="module")
def heard(chromium):
    """What the page knows after some messages, where the server answers questions with `answer`."""
    shown = chromium.new_page()
    browser.offer_scripts(shown)
    yield lambda sent, answer, kept="": shown.evaluate(
        LIVE, [SCRIPTS_AT, sent, answer, {name: catalogue()[name] for name in SPOKEN}, kept]
    )
    shown.close()


def frame(seq, state, first, head=None):
    return {"m": "frame", "seq": seq, "r": "a", "state": state, "f": first, "s": STEPS[first : first + 1]} | (
        {"head": head} if head else {}
    )


def test_the_head_of_a_run_is_asked_for_where_its_first_message_was_lost(heard):
    known = heard([frame(12, "paused", 0)], ALL | {"seq": 12, "f": 1, "s": []})
    assert known["prompt"] == HEAD["prompt"] and known["n"] == 1
    assert known["asked"] == [{"r": "a", "f": 1, "head": True}]


def test_the_last_message_of_a_step_is_asked_for_where_another_came_over_it(heard):
    sent = [frame(11, "playing", 0, HEAD), {"m": "hint", "seq": 14, "r": "a", "hint": ""}]
    known = heard(sent, ALL | {"f": 1, "s": STEPS[1:]})
    assert (known["state"], known["n"]) == ("paused", 2)


def test_a_run_of_which_nothing_but_a_hint_came_is_shown(heard):
    sent = [{"m": "note", "seq": 10, "say": ""}, {"m": "hint", "seq": 14, "r": "a", "hint": ""}]
    known = heard(sent, ALL | {"s": STEPS})
    assert (known["run"], known["state"], known["n"], known["prompt"]) == ("a", "paused", 2, HEAD["prompt"])


@pytest.mark.parametrize("kept", ["", "a"])
def test_a_hint_before_all_else_does_not_hide_the_run_of_a_page_that_was_loaded_again(heard, kept):
    known = heard([{"m": "hint", "seq": 14, "r": "a", "hint": ""}], ALL | {"s": STEPS}, kept)
    assert (known["run"], known["state"], known["n"], known["prompt"]) == ("a", "paused", 2, HEAD["prompt"])


def test_a_late_hint_of_the_run_before_changes_nothing(heard):
    sent = [frame(12, "paused", 0, HEAD), {"m": "hint", "seq": 11, "r": "before", "hint": ""}]
    known = heard(sent, ALL)
    assert known["run"] == "a" and known["asked"] == []


def test_an_answer_that_is_older_than_the_last_message_does_not_bring_its_state_back(heard):
    sent = [frame(11, "playing", 0, HEAD), frame(13, "paused", 1)]
    known = heard(sent, ALL | {"state": "playing", "seq": 12, "f": 2, "s": []})
    assert known["state"] == "paused" and known["asked"]


def test_where_nothing_is_missing_nothing_is_asked(heard):
    sent = [frame(11, "playing", 0, HEAD), frame(12, "paused", 1), {"m": "hint", "seq": 13, "r": "a", "hint": ""}]
    known = heard(sent, ALL)
    assert known["asked"] == [] and known["n"] == 2


LINKED = (
    f"async ([at, early, late, words]) => {{{LOADED}"
    + """
    sessionStorage.clear();
    const found = { name: 'story', recording: { head: { prompt: [] }, s: [] } };
    const recording = async ({ name }) => (name ? { error: 'No such recording.' } : found);
    const live = makeLive(store, view, root, { recording }, () => {});
    for (const message of early) live.receive(JSON.stringify(message));
    await live.open('nonsense');
    for (const message of late) live.receive(JSON.stringify(message));
    return live.facts().note;
}"""
)


@pytest.mark.parametrize("early", [True, False])
def test_all_that_is_wrong_with_a_link_is_told_whatever_comes_first(chromium, early):
    note = {"m": "note", "seq": 1, "say": "K is 32 at most.", "wrong": True}
    shown = chromium.new_page()
    browser.offer_scripts(shown)
    words = {name: catalogue()[name] for name in SPOKEN}
    seen = shown.evaluate(LINKED, [SCRIPTS_AT, [note] if early else [], [] if early else [note], words])
    shown.close()
    assert seen == "No such recording. K is 32 at most."
