"""A page loaded again, a copied tab, a second window, a hidden tab, a closed one: whose run is it, and does it go on?"""

from __future__ import annotations

import threading
import time

import pytest

from specviz.core.words import say
from specviz.sessions import links
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.drive import Drivers
from specviz.sessions.lookups import Lookups
from specviz.sessions.model_cache import ModelCache
from specviz.sessions.visitors import Visitors
from specviz.ui import app
from specviz.ui.panel import Panel
from tests.conftest import tiny_pair
from tests.sessions.handlers import KEY, VALUES, told
from tests.ui import browser
from tests.ui.actions import SCREEN, expected, lengthen, reload, wait_pause


@pytest.fixture
def drivers():
    return Drivers(ModelCache(lambda target, draft, dtype, progress: tiny_pair(target, draft)), DecodeQueue())


@pytest.fixture
def visitors():
    return Visitors()


def run_of(visitors, session, drivers, limit=2, **changes):
    someone = visitors.of(session)
    someone.controls.values = VALUES | changes
    told(drivers.play(someone, limit))
    return someone


# ---------------------------------------------------------------------------------------------------- without a browser


def test_a_visitor_is_found_again_by_the_runs_id_only(visitors, drivers):
    someone = run_of(visitors, "before", drivers)
    for wrong in ("", "other", someone.shown.id + "x"):
        assert visitors.adopt(wrong, "stranger") is None
    assert visitors.adopt(someone.shown.id, "after") is someone is visitors.of("after")
    assert visitors.of("before") is not someone and visitors.of("before").run is None
    made = len(someone.run.steps)
    told(drivers.play(visitors.of("after"), 1))
    assert len(someone.run.steps) == made + 1


def test_callers_without_a_session_share_nothing(visitors, drivers):
    someone = run_of(visitors, None, drivers)
    assert visitors.of(None) is not someone and visitors.of("").run is None
    assert visitors.by_run(someone.shown.id) is None
    known = run_of(visitors, "tab", drivers)
    assert visitors.adopt(known.shown.id, None) is None and visitors.of("tab") is known


def test_adopting_ones_own_run_changes_nothing(visitors, drivers):
    someone = run_of(visitors, "here", drivers)
    claim = someone.driver.claim()
    assert visitors.adopt(someone.shown.id, "here") is someone and claim.is_current


def test_whoever_drove_the_run_stops_within_a_step_and_is_told(visitors, drivers):
    someone = visitors.of("first tab")
    someone.controls.values = VALUES | {"speed": "4 steps/s", "max_new_tokens": 100}
    messages = []
    thread = threading.Thread(target=lambda: messages.extend(told(drivers.play(someone, float("inf")))))
    thread.start()
    while not someone.run or not someone.run.steps:
        time.sleep(0.01)
    found = visitors.adopt(someone.shown.id, "second tab")
    made = len(found.run.steps)
    thread.join(timeout=2)
    assert not thread.is_alive() and not someone.driver.is_held
    assert messages[-1]["m"] == "taken" and messages[-1]["say"] == say("sessions.taken")
    assert len(found.run.steps) <= made + 1
    told(drivers.play(found, 1))
    assert told(drivers.play(visitors.of("first tab"), 1))[-1]["state"] == "error"  # a new visitor without a prompt


def test_an_ending_driver_does_not_count_as_running(visitors, drivers):
    someone = run_of(visitors, "tab", drivers)
    lookups = Lookups(visitors, drivers.model_cache, KEY)
    with someone.driver.hold(someone.driver.claim()):
        assert lookups.resync({"r": someone.shown.id, "f": 0})["state"] == "playing"
        assert lookups.resync({"r": someone.shown.id, "f": 0, "back": True})["state"] == "paused"
        visitors.adopt(someone.shown.id, "again")
        assert lookups.resync({"r": someone.shown.id, "f": 0})["state"] == "paused"


def test_numbers_of_messages_only_rise_from_one_visitor_to_the_next(visitors, drivers):
    first = run_of(visitors, "one", drivers)
    time.sleep(0.05)
    assert visitors.of("two").next_seq() > first.next_seq()


@pytest.fixture(scope="module")
def panel():
    found = []

    class Watched(Panel):
        def __init__(self, *args):
            super().__init__(*args)
            found.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "Panel", Watched)
        app.build(browser.load, preload=False)
    return found[0]


def test_a_reload_comes_before_the_address(panel, visitors, drivers):
    someone = run_of(visitors, "old", drivers, k=5, stop=("a\nb", "c"), options={"ngram": 2})
    found, values, say = panel.arrive(
        visitors, "new", f'{{"run": "{someone.shown.id}", "query": "?k=9&temperature=-1"}}'
    )
    assert found is someone and (values["k"], values["stop"], values["ngram"], say) == (5, "a\\nb\nc", 2, "")
    other, values, say = panel.arrive(visitors, "third", '{"run": "gone", "query": "?k=9&temperature=-1"}')
    assert other is not someone and "temperature" in say
    assert values == links.OMITTED | {"k": 9, "temperature": 0.0}
    for nonsense in ("", "[]", "3", "{", '{"run": 5}', '{"run": null, "query": null}'):
        assert panel.arrive(visitors, "fourth", nonsense)[1] == {}


# ------------------------------------------------------------------------------------------------------------ in the page


def test_a_page_loaded_again_picks_the_run_up_with_its_controls_and_play_goes_on(visit):
    visit.prompt("Where was I?")
    visit.choose("strategy", "greedy")
    visit.slide("k", 6)
    visit.slide("temperature", 0)
    lengthen(visit, 80)
    visit.steps_one_by_one(4)
    before = visit.chips()
    reload(visit)
    visit.wait_label("step 4 of 4")
    assert visit.state() == "Paused" and visit.say() == "Your run is restored. Press Play to continue."
    assert visit.chips() == before
    visit.until("() => document.querySelector('#sv-k input[type=number]').value === '6'")
    assert visit.page.locator("#sv-prompt textarea").input_value() == "Where was I?"
    assert visit.page.locator("#sv-strategy input").input_value() == "greedy"
    visit.press("step")
    visit.wait_label("step 5 of 5")
    visit.press("play")
    visit.wait_state("Finished")
    changes = {"k": 6, "strategy": "greedy", "temperature": 0, "max_new_tokens": 80}
    assert visit.output() == expected("Where was I?", **changes)
    reload(visit)
    visit.wait_state("Finished")
    assert visit.output() == expected("Where was I?", **changes)


def test_a_page_loaded_again_in_mid_run_ends_the_driver_and_goes_on_from_there(visit):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(600)
    reload(visit)
    visit.complaints.clear()  # the stream that the reload cut off
    visit.wait_state("Paused")
    visit.wait_steps(600)
    made = visit.place()[1]
    visit.page.wait_for_timeout(500)
    visit.press("step")
    visit.until(
        "(n) => Number(document.querySelector('.sv-scrub-label').textContent.match(/ of (\\d+)$/)?.[1]) > n", made
    )
    assert visit.place()[1] <= made + 2  # the step that was under way, and the one asked for


def test_after_a_reset_a_reload_begins_with_the_recording(visit):
    visit.steps_one_by_one(1)
    visit.press("reset")
    visit.wait_state("No run yet")
    reload(visit)
    visit.wait_state("Recording")
    assert visit.say() == "This is a recording of a real run — press Play to replay it, or Run live for a new run."


def test_a_run_that_is_gone_is_told_and_the_recording_is_shown(desk, open_tab):
    tab = open_tab(desk)
    tab.page.evaluate("() => sessionStorage.setItem('specviz.run', 'from before the restart')")
    reload(tab)
    tab.until("() => document.querySelector('.sv-say').textContent.startsWith('The run of this tab is no longer')")
    assert tab.state() == "Recording"
    tab.steps_one_by_one(1)


def test_a_copied_tab_takes_the_run_over_and_the_first_begins_its_own(desk, open_tab):
    first = open_tab(desk)
    lengthen(first)
    first.choose("speed", "4 steps/s")
    first.run_live()
    first.wait_steps(3)
    run = first.page.evaluate("() => sessionStorage.getItem('specviz.run')")
    second = open_tab(desk)
    second.page.evaluate("(run) => sessionStorage.setItem('specviz.run', run)", run)
    reload(second)
    second.wait_state("Paused")
    first.wait_state("Paused")
    first.until(
        "() => document.querySelector('.sv-say').textContent.startsWith('This run continues in another window')"
    )
    made = first.place()[1]
    second.wait_steps(made)
    second.choose("speed", "full speed")
    second.press("play")
    second.wait_steps(made + 10)
    wait_pause(second)
    assert first.place()[1] == made  # the first shows what it had
    first.slide("max-new-tokens", 96)
    first.choose("speed", "full speed")
    first.press("play")
    first.wait_state("Finished")
    assert first.output() == expected()
    assert first.page.evaluate("() => sessionStorage.getItem('specviz.run')") != run
    assert second.state() == "Paused" and second.place()[1] >= made + 10


def test_a_second_window_is_a_visitor_of_its_own(desk, open_tab):
    first = open_tab(desk)
    first.steps_one_by_one(2)
    second = open_tab(desk)
    assert second.state() == "Recording"
    second.steps_one_by_one(1)
    first.press("step")
    first.wait_label("step 3 of 3")
    assert second.label() == "step 1 of 1"


def test_a_hidden_tabs_run_goes_on_and_a_closed_tabs_ends_within_a_step(chromium, open_tab):
    context = chromium.new_context(viewport=SCREEN)
    tab = open_tab(context)
    lengthen(tab)
    tab.choose("speed", "4 steps/s")
    tab.run_live()
    tab.wait_steps(2)
    run = tab.page.evaluate("() => sessionStorage.getItem('specviz.run')")
    other = context.new_page()  # in front of it
    before = steps_made(tab, run)
    other.wait_for_timeout(1200)
    assert steps_made(tab, run) >= before + 2
    watcher = open_tab(context)
    tab.page.close()
    watcher.page.wait_for_timeout(700)
    made = steps_made(watcher, run)
    watcher.page.wait_for_timeout(1200)
    assert steps_made(watcher, run) == made
    context.close()


def steps_made(tab, run):
    """Steps that the server has made of a run, asked as the page asks."""
    return tab.page.evaluate(
        """async (run) => {
            const id = window.gradio_config.components.find((c) => c.props.elem_id === 'sv-view').id;
            const answer = await fetch('/gradio_api/component_server', {
                method: 'POST', headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify({ data: { r: run, f: 0 }, component_id: id, fn_name: 'resync', session_hash: 'x' }),
            });
            return (await answer.json()).n;
        }""",
        run,
    )
