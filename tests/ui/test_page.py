"""The page in a real browser: each test is a situation that a visitor gets into.

After every test: no error was thrown on the page, no dialog opened, nothing was asked of another host.
"""

from __future__ import annotations

import itertools
import re

import pytest

from tests.ui import browser
from tests.ui.actions import LONG, PHONE, SCREEN, expected, lengthen, overflow, wait_pause
from tests.ui.browser import EVIL, FIRST_SETTINGS, PATIENT_MS, Visit

# ------------------------------------------------------------------------------------------------- before anything is run


def test_a_recorded_run_is_on_screen_before_anything_is_pressed(visit):
    shown, total = visit.place()
    assert 1 <= shown < total >= 10
    assert "This is a recording of a real run" in visit.say()
    assert re.search(r"\d+ tokens in \d+ target passes", visit.headline())
    assert len(visit.chips()) > shown
    assert "verify" in visit.card()


def test_the_recording_is_stepped_through_by_buttons_and_keys_without_a_run(visit):
    shown, total = visit.place()
    before = len(visit.requests)
    visit.page.get_by_role("button", name="One step back").click()
    visit.wait_label(f"step {shown - 1} of {total}")
    visit.page.get_by_role("button", name="One step forward").click()
    visit.wait_label(f"step {shown} of {total}")
    visit.key("Home")
    visit.wait_label(f"before step 1 of {total}")
    assert "0 tokens" in visit.headline() and visit.output() == []
    visit.key("ArrowRight", 2)
    visit.wait_label(f"step 2 of {total}")
    assert "in 2 target passes" in visit.headline()
    visit.key("ArrowLeft")
    visit.wait_label(f"step 1 of {total}")
    visit.key("End")
    visit.wait_label(f"step {total} of {total}")
    assert visit.state() == "Recording"
    assert not [url for url in visit.requests[before:] if "queue/join" in url]


# --------------------------------------------------------------------------------------------------------------- playing


def test_play_streams_a_live_run_that_is_the_one_python_makes(visit):
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.say() == "the token limit was reached"
    assert visit.output() == expected()
    _, total = visit.place()
    tokens, passes = map(int, re.search(r"(\d+) tokens in (\d+) target passes", visit.headline()).groups())
    assert (tokens, passes) == (FIRST_SETTINGS.max_new_tokens, total)
    for fate in "arusb":
        assert visit.chips(fate), f"no chip of fate {fate}"
    accepted, tested = map(int, re.search(r"\((\d+) of (\d+) tested\)", visit.headline()).groups())
    assert accepted == len(visit.chips("a"))
    assert tested == accepted + len(visit.chips("r"))
    assert "".join(visit.chips("p")).count("photosynthesis") == 1


def test_a_whole_play_asks_no_other_host(visit):
    visit.press("play")
    visit.wait_state("Finished")
    visit.press("alone")
    visit.until("() => /× (⚠ )?the target alone/.test(document.querySelector('.sv-headline').textContent)")
    assert len(visit.requests) > 10
    assert [url for url in visit.requests if not browser.is_local(url)] == []


def test_run_again_begins_anew_and_gives_the_same(visit):
    visit.press("play")
    visit.wait_state("Finished")
    first = visit.output()
    visit.slide("k", 1)
    visit.press("play")
    visit.until("() => document.querySelector('.sv-card').textContent.includes('K = 1 ')")
    visit.wait_state("Finished")
    assert visit.output() == expected(k=1)
    visit.slide("k", FIRST_SETTINGS.k)
    visit.press("play")
    visit.until("() => document.querySelector('.sv-card').textContent.includes('K = 4 ')")
    visit.wait_state("Finished")
    assert visit.output() == first == expected()


def test_play_pressed_twice_quickly_gives_one_run(visit):
    visit.page.locator("#sv-live").dblclick()
    visit.wait_state("Finished")
    assert visit.output() == expected()
    assert visit.page.locator(".sv-ribbon .sv-stop").count() == 1


def test_play_and_pause_many_times_still_ends_in_the_same_run(visit):
    for _ in range(4):
        visit.press("play")
        visit.press("pause")
    visit.press("play")
    visit.wait_state("Finished")
    # a press that came while the cursor was behind the end of the run replays what is there first; one that came after
    # the end began the same run again
    chips = ".sv-ribbon .sv-chip:is(.sv-a, .sv-s, .sv-b, .sv-t)"
    visit.until(f"(n) => document.querySelectorAll('{chips}').length >= n", len(expected()))
    visit.wait_state("Finished")
    assert visit.output() == expected()


def test_step_makes_exactly_one(visit):
    visit.steps_one_by_one(3)
    assert "in 3 target passes" in visit.headline()
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.output() == expected()


def test_pause_keeps_the_run_and_play_goes_on(visit):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(5)
    wait_pause(visit)
    _, total = visit.place()
    kept = expected(max_new_tokens=30)[:10]  # of a long run the ribbon holds the end only, until one goes back
    visit.press("step")
    visit.wait_label(f"step {total + 1} of {total + 1}")
    visit.press("play")
    visit.wait_steps(total + 5)
    wait_pause(visit)
    assert visit.place()[1] >= total + 5
    visit.key("Home")
    visit.key("ArrowRight", 10)
    visit.wait_label(f"step 10 of {visit.place()[1]}")
    assert visit.output()[:10] == kept


def test_a_stop_string_ends_the_run_and_the_page_says_so(visit):
    word = next(c for c in expected()[8:] if len(c) == 1 and c.isalpha())
    visit.open("Length and template")
    visit.page.locator("#sv-stop textarea").fill(word)
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.say() == "a stop string appeared"


# ---------------------------------------------------------------------------------------------- controls in mid-run


@pytest.mark.plotly
@pytest.mark.parametrize("how", ["drag", "keyboard"])
def test_k_changed_in_mid_run_counts_from_a_next_step_on(visit, how):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(3)
    if how == "drag":
        for k in (5, 6, 7):
            visit.slide("k", k)
    else:
        visit.page.locator("#sv-k input[type=range]").focus()
        for _ in range(3):
            visit.page.keyboard.press("ArrowRight")
    visit.until("() => document.querySelector('.sv-card').textContent.includes('K = 7 ·')")
    assert visit.state() == "Running"
    wait_pause(visit)
    visit.until(
        "() => [...document.querySelectorAll('.sv-plot .annotation-text')].some((n) => /K .→7/.test(n.textContent))"
    )
    visit.key("Home")
    visit.until("() => document.querySelector('.sv-scrub-label').textContent.startsWith('before')")
    visit.key("ArrowRight")
    visit.until("() => document.querySelector('.sv-card').textContent.includes('K = 4 ·')")


@pytest.mark.plotly
def test_the_strategy_is_switched_in_mid_run(visit):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(3)
    for strategy in ("greedy", "prompt lookup", "none"):
        visit.choose("strategy", strategy)
        visit.until(
            "(s) => document.querySelector('.sv-card').textContent.includes(s === 'none' ? 'no draft ·' : s + ' ·')",
            strategy,
        )
        assert visit.state() == "Running"
        assert visit.page.locator("#sv-ngram").is_visible() == (strategy == "prompt lookup")
    wait_pause(visit)
    visit.until("() => document.querySelector('.sv-charts').textContent.includes('none')")


def test_temperature_is_changed_in_mid_run(visit):
    lengthen(visit)
    visit.run_live()
    visit.page.locator("#sv-temperature input[type=range]").focus()
    visit.page.keyboard.press("Home")
    visit.until("() => document.querySelector('.sv-card').textContent.includes('temperature 0 ')")
    wait_pause(visit)


def test_a_slower_speed_waits_between_steps_and_full_speed_goes_on(visit):
    visit.choose("speed", "1 step in 2 s")
    visit.run_live()
    visit.wait_steps(2)
    assert visit.place()[1] <= 4
    visit.choose("speed", "full speed")
    visit.wait_state("Finished")
    assert visit.output() == expected()


# ------------------------------------------------------------------------------------------------------ the cursor


def test_stepping_back_is_a_cursor_and_play_after_it_first_replays(visit):
    visit.steps_one_by_one(6)
    whole, headline, sent = visit.output(), visit.headline(), len(visit.requests)
    visit.key("ArrowLeft", 4)
    visit.wait_label("step 2 of 6")
    assert "in 2 target passes" in visit.headline()
    assert visit.output() == whole[: len(visit.output())] != whole
    # Step behind the end only moves the cursor
    visit.press("step")
    visit.wait_label("step 3 of 6")
    assert not [url for url in visit.requests[sent:] if "queue/join" in url]
    visit.page.evaluate(
        """() => {
            const pill = document.querySelector('.sv-pill');
            window.states = [];
            const note = () => states.push(pill.textContent);
            new MutationObserver(note).observe(pill, { childList: true, characterData: true, subtree: true });
        }"""
    )
    visit.press("play")
    visit.wait_state("Finished")
    # a short run may be over before anybody sees it running
    seen = [state for state in visit.page.evaluate("() => states") if state != "Running"]
    assert seen == ["Replaying", "Paused", "Finished"]
    assert visit.output() == expected()
    visit.key("Home")
    visit.key("ArrowRight", 6)
    visit.until("(n) => document.querySelector('.sv-scrub-label').textContent === `step 6 of ${n}`", visit.place()[1])
    counts = r"\(\d+ of \d+ tested\).*?target pass(?:es)?"
    assert re.search(counts, visit.headline())[0] == re.search(counts, headline)[0]


def test_looking_back_while_a_run_goes_on_stays_where_it_was_put(visit):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(8)
    visit.key("Home")
    visit.key("ArrowRight", 2)
    count = visit.place()[1]
    visit.wait_steps(count + 5)
    assert visit.place()[0] == 2 and "in 2 target passes" in visit.headline()
    visit.key("End")
    visit.until(
        "() => { const m = document.querySelector('.sv-scrub-label').textContent.match(/\\d+/g); return m[0] === m[1]; }"
    )
    wait_pause(visit)


def test_reset_clears_all_and_a_new_run_begins_at_one(visit):
    visit.steps_one_by_one(2)
    visit.press("reset")
    visit.wait_state("No run yet")
    assert visit.label() == "no steps yet" and visit.chips() == [] and "0 tokens" in visit.headline()
    visit.steps_one_by_one(1)


def test_reset_in_mid_run_stays_cleared(visit):
    lengthen(visit)
    visit.run_live()
    visit.wait_steps(3)
    visit.press("reset")
    visit.wait_state("No run yet")
    visit.page.wait_for_timeout(500)  # nothing of the old run may come in late
    assert visit.state() == "No run yet" and visit.label() == "no steps yet"


def test_space_and_arrows_drive_the_run(visit):
    lengthen(visit)
    visit.steps_one_by_one(1)
    visit.key("ArrowRight")
    visit.wait_label("step 2 of 2")
    visit.wait_state("Paused")
    visit.key("Space")
    visit.wait_state("Running")
    visit.wait_steps(4)
    visit.key("Space")
    visit.wait_state("Paused")
    count = visit.place()[1]
    visit.key("ArrowLeft")
    visit.wait_label(f"step {count - 1} of {count}")
    visit.key("ArrowRight")
    visit.wait_label(f"step {count} of {count}")
    visit.key("ArrowRight")
    visit.wait_label(f"step {count + 1} of {count + 1}")


def test_keys_typed_into_the_prompt_do_not_drive_the_run(visit):
    label = visit.label()
    box = visit.page.locator("#sv-prompt textarea")
    box.click()
    box.press_sequentially(" a b ")
    for key in ("ArrowLeft", "ArrowRight", "Home", "End"):
        box.press(key)
    assert visit.label() == label and visit.state() == "Recording"


# ------------------------------------------------------------------------------------------------ measuring, failing


def test_the_target_alone_at_temperature_0_is_the_same_text_and_gives_a_speed_up(visit):
    visit.slide("temperature", 0)
    visit.choose("strategy", "greedy")
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.output() == expected(strategy="greedy", temperature=0)
    visit.press("alone")
    visit.until("() => /[\\d.]+× ?(⚠ )?the target alone/.test(document.querySelector('.sv-headline').textContent)")
    assert "same text ✓" in visit.headline()
    visit.wait_state("Finished")
    visit.page.locator(".sv-figure-speed").hover()
    assert "Both wrote the same 96 tokens" in visit.page.locator(".sv-tip").text_content()


def test_measuring_before_any_run_is_one_sentence(visit):
    visit.press("reset")
    visit.press("alone")
    visit.wait_state("Not done")
    assert visit.say().startswith("Press Play or Step first")


def test_an_empty_prompt_is_one_sentence_and_the_app_goes_on(visit):
    visit.prompt("  ")
    visit.press("play")
    visit.wait_state("Not done")
    assert visit.say().startswith("Type a prompt first: ") and visit.say().endswith(".")
    visit.prompt("Hello")
    visit.press("play")
    visit.wait_state("Finished")
    assert visit.output() == expected("Hello")


def test_a_missing_model_is_one_sentence_and_the_run_is_kept(visit):
    visit.steps_one_by_one(2)
    visit.open("Models")
    visit.write_in("target", "missing")
    visit.press("step")
    visit.wait_state("Not done")
    assert visit.say() == "There is no model named missing; check the name."
    assert visit.label() == "step 2 of 2"
    visit.write_in("target", "default")
    visit.press("step")
    visit.wait_label("step 3 of 3")


def test_a_lost_server_is_said_and_what_is_on_screen_still_works(desk, open_tab):
    demo, url = browser.launch()
    visit = open_tab(desk, url=url)
    visit.steps_one_by_one(3)
    demo.close(verbose=False)
    visit.press("play")
    visit.wait_state("Offline")
    assert visit.say().startswith("The server is unreachable. ")
    visit.key("ArrowLeft")
    visit.wait_label("step 2 of 3")
    visit.press("play")
    visit.wait_label("step 3 of 3")
    visit.complaints.clear()


def test_a_server_lost_in_mid_run_is_said(desk, open_tab):
    demo, url = browser.launch()
    visit = open_tab(desk, url=url)
    lengthen(visit)
    visit.choose("speed", "4 steps/s")
    visit.run_live()
    visit.wait_steps(2)
    demo.close(verbose=False)
    try:
        visit.wait_state("Offline", 12_000)
    finally:
        visit.complaints.clear()


# ------------------------------------------------------------------------------------------------------------- visitors


def test_two_visitors_at_once_do_not_see_each_other(chromium, open_tab):
    contexts = [chromium.new_context(viewport=SCREEN) for _ in range(2)]
    prompts = ("First visitor asks", "Second visitor asks something else")
    visits = [open_tab(context) for context in contexts]
    for one, prompt in zip(visits, prompts, strict=True):
        one.prompt(prompt)
        one.choose("speed", "4 steps/s")
        one.press("play")
    for one in visits:
        one.wait_steps(3)
    for one in visits:
        one.choose("speed", "full speed")
    for one in visits:
        one.wait_state("Finished")
    for one, prompt in zip(visits, prompts, strict=True):
        assert one.output() == expected(prompt)
        assert prompt in "".join(one.chips("p")).replace("·", " ")
    for context in contexts:
        context.close()


def test_a_long_run_of_one_does_not_keep_another_waiting(visit, desk, open_tab):
    lengthen(visit, 8000)  # long enough to be going on still, however slowly the other tab opens
    visit.run_live()
    other = open_tab(desk)
    other.steps_one_by_one(3)
    assert visit.state() == "Running"
    wait_pause(visit)


HIDE = """
    (() => {
        let hidden = false;
        const held = [], real = window.requestAnimationFrame.bind(window);
        Object.defineProperty(document, 'hidden', { get: () => hidden });
        Object.defineProperty(document, 'visibilityState', { get: () => (hidden ? 'hidden' : 'visible') });
        window.requestAnimationFrame = (f) => (hidden ? held.push(f) : real(f));
        window.hideTab = (yes) => {
            hidden = yes;
            document.dispatchEvent(new Event('visibilitychange'));
            if (!yes) for (const f of held.splice(0)) real(f);
        };
    })()
"""


def test_a_hidden_tab_loses_nothing(chromium, open_tab):
    context = chromium.new_context(viewport=SCREEN)
    context.add_init_script(HIDE)
    visit = open_tab(context)
    visit.choose("speed", "4 steps/s")
    visit.run_live()
    visit.wait_steps(2)
    visit.page.evaluate("() => hideTab(true)")
    visit.choose("speed", "full speed")
    seen = visit.label()
    visit.page.wait_for_timeout(2500)  # the run goes on and ends while nobody looks
    assert visit.label() == seen
    visit.page.evaluate("() => hideTab(false)")
    visit.wait_state("Finished")
    visit.until("() => document.querySelector('.sv-headline').textContent.includes(' 96 tokens in ')")
    assert visit.output() == expected()
    context.close()


# ---------------------------------------------------------------------------------------------------- text that attacks


def test_what_models_and_visitors_write_is_text_and_never_code(visit):
    visit.open("Models")
    visit.write_in("target", "evil")
    visit.open("Length and template")
    visit.page.locator("#sv-chat input").uncheck()
    visit.choose("strategy", "none")
    visit.slide("temperature", 0)
    visit.slide("max-new-tokens", 24)
    words = [w for w in EVIL if " " not in w]
    visit.prompt(" ".join(words))
    visit.press("play")
    visit.wait_state("Finished")
    shown = [w.replace(" ", "·") for w in itertools.islice(itertools.cycle(EVIL), 24)]
    assert visit.output() == shown
    assert visit.chips("p") == words
    # the same words where Gradio itself shows them, and in an error
    for text in EVIL[1:7]:
        visit.write_in("target", text)
        visit.press("step")
        visit.until("(t) => document.querySelector('.sv-say').textContent.includes(t)", f"no model named {text};")
    assert visit.page.evaluate("() => document.querySelectorAll('img[src=x], .sv-root b, .sv-root script').length") == 0


def test_a_byte_wise_prompt_of_markup_is_shown_as_it_is(visit):
    prompt = "<img src=x onerror=alert(1)> ${alert(2)} ${1+1} {{7*7}} \"'`\\"
    visit.prompt(prompt)
    visit.steps_one_by_one(1)
    assert prompt in "".join(visit.chips("p")).replace("·", " ")
    assert "49" not in "".join(visit.chips("p"))


def test_right_to_left_tokens_keep_to_their_places(visit):
    visit.open("Models")
    visit.write_in("target", "evil")
    visit.open("Length and template")
    visit.page.locator("#sv-chat input").uncheck()
    visit.choose("strategy", "none")
    visit.slide("temperature", 0)
    visit.slide("max-new-tokens", 4)
    visit.prompt("start שלום 123, مرحبا end start שלום")
    visit.press("play")
    visit.wait_state("Finished")
    found = visit.page.evaluate(
        """() => [...document.querySelectorAll('.sv-ribbon .sv-chip')].map((c) => {
            const box = c.getBoundingClientRect(), style = getComputedStyle(c);
            return [c.textContent, box.left, Math.round(box.bottom), style.unicodeBidi];
        })"""
    )
    assert [f[0] for f in found] == [
        "start",
        "שלום",
        "123,",
        "مرحبا",
        "end",
        "start",
        "שלום",
        "123,",
        "مرحبا",
        "end",
        "start",
    ]
    for left, right in itertools.pairwise(found):
        assert right[1] > left[1] or right[2] > left[2] + 10, f"{right[0]} stands before {left[0]}"
    assert {f[3] for f in found} <= {"isolate", "isolate-override", "plaintext"}


# ------------------------------------------------------------------------------------------------- themes and sizes


def reachable(visit, name):
    """Whether a click in the middle of the button hits it, without scrolling."""
    return visit.page.locator(f"#sv-{name}").evaluate(
        """(node) => {
            const b = node.getBoundingClientRect();
            const hit = document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2);
            return !!hit && (node.contains(hit) || hit.contains(node) && hit.id === node.id);
        }"""
    )


def contrasts(visit):
    """Contrast of each kind of chip in the legend with what is behind it."""
    return visit.page.evaluate(
        """() => {
            const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
            const part = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
            const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
            const behind = (node) => {
                for (let at = node; at; at = at.parentElement) {
                    const colour = rgb(getComputedStyle(at).backgroundColor);
                    if (colour.length < 4 || colour[3] > 0.5) return colour;
                }
                return [255, 255, 255];
            };
            return [...document.querySelectorAll('.sv-legend .sv-chip')].map((node) => {
                const two = [light(rgb(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
                return (two[0] + 0.05) / (two[1] + 0.05);
            });
        }"""
    )


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_both_themes_fit_the_window_and_can_be_read(desk, open_tab, theme):
    visit = open_tab(desk, f"?__theme={theme}")
    assert ("dark" in visit.page.evaluate("() => document.body.className")) == (theme == "dark")
    visit.press("play")
    visit.wait_state("Finished")
    assert overflow(visit) <= 0
    found = contrasts(visit)
    assert len(found) == 5 and min(found) >= 4.5


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_on_a_phone_nothing_sticks_out_and_play_is_in_reach(chromium, open_tab, theme):
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    visit = open_tab(context, f"?__theme={theme}")
    assert overflow(visit) <= 0
    assert reachable(visit, "play")
    visit.page.locator("#sv-live").tap()
    visit.wait_state("Finished")
    assert overflow(visit) <= 0
    visit.page.locator(".sv-card").scroll_into_view_if_needed()
    assert reachable(visit, "play")
    context.close()


def test_the_story_fits_one_screen_and_play_is_in_reach(visit):
    assert overflow(visit) <= 0
    for name in ("play", "pause", "step", "reset", "alone"):
        assert reachable(visit, name)


def test_every_control_is_reached_by_the_tab_key_in_order(visit):
    controls = "prompt k strategy temperature speed play pause step reset alone ribbon scrub lanes"
    wanted = [f"sv-{name}" for name in controls.split()]
    visit.page.evaluate("() => document.activeElement?.blur()")
    met: list[str] = []
    for _ in range(90):
        visit.page.keyboard.press("Tab")
        name = visit.page.evaluate(
            """(wanted) => {
                for (let at = document.activeElement; at; at = at.parentElement) {
                    const name = wanted.find((w) => at.id === w || at.classList.contains(w));
                    if (name) return name;
                }
            }""",
            wanted,
        )
        if name and name not in met:
            met.append(name)
        if len(met) == len(wanted):
            break
    assert met == wanted


# --------------------------------------------------------------------------------------------------------- long runs


@pytest.fixture(scope="module")
def long_run(desk):
    """A run of more than 1,500 steps, paused, and what a step cost early and late: bytes and main-thread seconds."""
    visit = Visit(desk.new_page(), browser.address())
    session = desk.new_cdp_session(visit.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    session.send("Network.enable")
    received = [0]
    session.on("Network.dataReceived", lambda event: received.append(event["dataLength"]))

    def now():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return visit.place()[1], sum(received), next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def cost(steps):
        """Over the next `steps` steps, each of them a message of its own."""
        visit.wait_steps(visit.place()[1] + 3)  # what the menu and the full speed before it left behind
        before = now()
        visit.wait_steps(before[0] + steps)
        after = now()
        return [(after[i] - before[i]) / (after[0] - before[0]) for i in (1, 2)]

    # an end at full speed, and more tokens after it: a slow browser would see the run end before it has set the speed
    lengthen(visit, 3000)
    visit.slide("k", 1)
    visit.choose("speed", "4 steps/s")
    visit.run_live()
    visit.wait_steps(20)
    early = cost(30)
    visit.choose("speed", "full speed")
    visit.wait_state("Finished", PATIENT_MS)
    assert visit.place()[1] >= 1500
    visit.choose("speed", "4 steps/s")
    visit.slide("max-new-tokens", LONG)
    visit.press("play")
    late = cost(30)
    wait_pause(visit)
    yield visit, early, late
    faults = visit.faults
    visit.page.close()
    assert faults == []


def test_a_step_costs_the_wire_and_the_browser_the_same_at_20_and_at_1500(long_run):
    _, early, late = long_run
    assert late[0] <= 2 * early[0], f"bytes a step: {early[0]:.0f} at first, {late[0]:.0f} at step 1,500"
    assert late[1] <= 2 * early[1], f"main thread a step: {early[1]:.4f} s at first, {late[1]:.4f} s at step 1,500"


def test_a_long_run_keeps_few_elements_and_stands_at_its_end(long_run):
    visit, _, _ = long_run
    assert visit.page.evaluate("() => document.querySelectorAll('.sv-root *').length") < 5000
    assert (
        visit.page.evaluate(
            "() => { const b = document.querySelector('.sv-ribbon'); return b.scrollHeight - b.scrollTop - b.clientHeight; }"
        )
        <= 48
    )


def test_in_a_long_run_every_place_is_found_again(long_run):
    visit, _, _ = long_run
    total = visit.place()[1]
    for step in (1000, 10, total - 10):
        visit.page.locator(".sv-scrub input").evaluate(
            """(node, step) => {
                node.value = step;
                for (const type of ['input', 'change']) node.dispatchEvent(new Event(type));
            }""",
            step,
        )
        visit.wait_label(f"step {step} of {total}")
        visit.until(
            """(step) => {
                const now = [...document.querySelectorAll('.sv-now')].pop()?.getBoundingClientRect();
                const box = document.querySelector('.sv-ribbon').getBoundingClientRect();
                const seen = [...document.querySelectorAll('.sv-ribbon .sv-step')]
                    .filter((n) => getComputedStyle(n).visibility !== 'hidden').map((n) => n._step).filter((i) => i >= 0);
                return now && now.top >= box.top - 1 && now.bottom <= box.bottom + 1 && Math.max(...seen) === step - 1;
            }""",
            step,
        )
        assert (
            visit.page.evaluate(
                """() => { const box = document.querySelector('.sv-ribbon');
                const told = (chip) => box._tipFor(chip)[0].includes(chip.textContent);
                return [...box.querySelectorAll('.sv-chip')].filter((chip) => !told(chip)).length; }"""
            )
            == 0
        ), "a chip explains another token"
    visit.key("End")
