"""A link says where the controls stand; what stands in an address is checked before anything takes it."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import pytest

from specviz.decoding.knobs import own_knobs
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.models.catalogue import DEFAULT_PAIR
from specviz.recordings import gallery
from specviz.sessions import files, links
from tests.ui.actions import expected, link_of, reload, save


def test_every_setting_is_read_from_an_address():
    values, invalid = links.read(
        "?prompt=Hello%20you&strategy=greedy&k=8&temperature=0&top_k=5&top_p=0.9&repetition_penalty=1.2&max_new_tokens=20"
        "&seed=9&draft_length=cost-aware&chat=0&stop=a%0Ab&rule=token%20matching&target=gpt2-xl&draft=distilgpt2&dtype=float32&speed=2%20steps%2Fs"
    )
    assert invalid == []
    assert values == {
        "prompt": "Hello you",
        "strategy": "greedy",
        "k": 8,
        "temperature": 0,
        "top_k": 5,
        "top_p": 0.9,
        "repetition_penalty": 1.2,
        "max_new_tokens": 20,
        "seed": 9,
        "draft_length": "cost-aware",
        "chat": False,
        "stop": "a\nb",
        "rule": "token matching",
        "target": "gpt2-xl",
        "draft": "distilgpt2",
        "dtype": "float32",
        "speed": "2 steps/s",
    }


def test_knobs_of_strategies_and_draft_lengths_come_along():
    for knob, declared in own_knobs().items():
        assert links.read(f"?{knob}={declared.low}")[0] == {knob: declared.low}, knob
    for entry in (*STRATEGIES.values(), *LENGTHS.values()):
        for name, knob in entry.knobs.items():
            assert own_knobs()[name] is knob  # two that share a name share the knob


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("k=2.5", "K must be a whole number from 0 to 32"),
        ("k=x", "K must be a whole number from 0 to 32"),
        ("k=", "K must be a whole number from 0 to 32"),
        ("temperature=nan", "temperature must be a number"),
        ("temperature=1e999", "temperature must be a number"),
        ("max_new_tokens=1" + "0" * 400, "new tokens must be"),
        ("seed=-5", "seed must be"),
        ("strategy=magic", "The menu “Drafting strategy” has no 'magic'"),
        ("draft_length=magic", "The menu “How far to draft” has no 'magic'; choose one of: fixed, heuristic"),
        ("confidence_threshold=x", "confidence threshold must be a number from 0 to 1"),
        ("rule=__class__", "The menu “Verification rule” has no"),
        ("dtype=int8", "The menu “Number format” has no"),
        ("speed=fast", "The menu “Speed” has no"),
        ("chat=perhaps", "chat must be 1 or 0"),
        ("target=/etc", "is not a valid model name in a link"),
        ("target=../../etc", "is not a valid model name"),
        ("draft=~/models", "is not a valid model name"),
        ("target=https://host/x", "is not a valid model name"),
        ("prompt=" + "a" * 20_001, "at most 20,000 characters"),
        ("stop=" + "a%0A" * 9, "at most 8 stop strings"),
        ("ngram=1.5", "must be a whole number"),
    ],
)
def test_a_bad_value_is_left_out_and_told(query, sentence):
    values, invalid = links.read("?" + query)
    assert values == {} and len(invalid) == 1 and sentence in invalid[0] and "\n" not in invalid[0]
    assert links.told(invalid).startswith("A setting of this link was not used as given: ")


def test_a_bad_value_does_not_take_the_good_ones_along():
    values, invalid = links.read("k=8&temperature=warm&seed=3&strategy=x")
    assert values == {"k": 8, "seed": 3} and len(invalid) == 2
    assert links.told(invalid) == (
        "2 settings of this link were not used as given. temperature must be a number from 0 to 2. "
        "The menu “Drafting strategy” has no 'x'."
    )


def test_what_no_slider_reaches_is_brought_to_its_end_and_told():
    values, invalid = links.read("temperature=50&top_k=1000&k=99&top_p=-1&ngram=0")
    assert values == {"temperature": 2.0, "top_k": 200, "k": 32, "top_p": 0.0, "ngram": 1}
    assert invalid[:3] == [
        "temperature must be from 0 to 2 on this page, so 2 is used; the link asked for 50.",
        "top-k must be from 0 to 200 on this page, so 200 is used; the link asked for 1000.",
        "K must be from 0 to 32 on this page, so 32 is used; the link asked for 99.",
    ]
    assert len(invalid) == 5 and links.told(invalid).startswith("5 settings of this link were not used as given.")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("temperature=x", "temperature must be a number from 0 to 2; you gave 'x'."),
        ("temperature=nan", "temperature must be a number from 0 to 2; you gave 'nan'."),
        ("max_new_tokens=0.5e", "new tokens must be a whole number from 1 to 512; you gave '0.5e'."),
        ("seed=" + "9" * 20, f"seed must be a whole number from 0 to {2**63 - 1:,}; you gave '{'9' * 20}'."),
        ("top_k=123456789", "top-k must be from 0 to 200 on this page, so 200 is used; the link asked for 123456789."),
    ],
)
def test_a_sentence_says_what_the_page_allows_and_what_was_asked(query, sentence):
    assert links.read(query)[1] == [sentence]


def test_names_of_no_setting_are_told_and_those_of_others_are_left_alone():
    assert links.read("pair=foo&k=8&zzz=1&length=bogus") == (
        {"k": 8},
        ["There is no setting named 'pair', 'zzz', 'length'."],
    )
    many = links.read("&".join(f"a{i}=1" for i in range(90)))[1]
    assert len(many) == 1 and many[0].endswith("'a4' and 85 more.")
    assert links.read("__theme=dark&trace=story&utm=x&utm_source=y&gclid=1&fbclid=2&ref=z&__sign=s&logs=container") == (
        {},
        [],
    )
    assert links.read("&".join(f"a{i}=1" for i in range(200)))[1] == [
        "The link has too many settings, so none of them is used."
    ]


def test_a_model_that_nobody_knows_yet_is_named_before_play_is_pressed():
    values, said = links.read("target=owner/nothing&draft=SmolLM2-135M-Instruct")
    assert values["target"] == "owner/nothing"
    assert said == ["owner/nothing is not in the menu. The app looks for it when you press Play."]
    assert links.told(said) == said[0]  # it was taken, so nothing is called refused
    assert links.told(links.read("target=owner/nothing&zzz=1")[1]) == (
        f"A setting of this link was not used as given: There is no setting named 'zzz'. {said[0]}"
    )
    assert links.read("target=default&draft=")[1] == []


def test_a_blank_seed_is_a_fresh_one_and_a_blank_draft_is_the_pairs_own():
    assert links.read("seed=&draft=&target=") == ({"seed": None, "draft": "", "target": "default"}, [])


# --------------------------------------------------------------------------------------------------------- in the page


def test_a_link_opens_the_controls_as_they_stood_and_the_run_is_the_same(desk, open_tab):
    first = open_tab(desk)
    assert parse_qs(urlsplit(link_of(first)).query) == {"strategy": ["sampling"]}
    first.prompt("Two & three = 5? + #%")
    first.slide("k", 6)
    first.choose("strategy", "prompt lookup")
    first.slide("ngram", 2)
    first.slide("temperature", 0)
    first.open("Length and template")
    first.slide("max-new-tokens", 30)
    first.page.locator("#sv-chat input").uncheck()
    link = link_of(first)
    assert len(link) < 2000
    second = open_tab(desk, url=link)
    second.until("() => document.querySelector('#sv-prompt textarea').value === 'Two & three = 5? + #%'")
    second.page.locator("#sv-ngram").wait_for()
    assert link_of(second) == link
    second.press("play")
    second.wait_state("Finished")
    changes = {"strategy": "prompt lookup", "k": 6, "temperature": 0, "max_new_tokens": 30, "chat": False}
    assert second.output() == expected("Two & three = 5? + #%", **changes, options={"ngram": 2})


def test_a_bad_link_is_told_in_the_status_line_and_the_rest_is_taken(desk, open_tab):
    tab = open_tab(desk, f"?k=7&temperature=-3&prompt={quote('<img src=x onerror=alert(1)>')}")
    tab.until("() => document.querySelector('.sv-say').textContent.startsWith('A setting of this link was not used')")
    assert "temperature must be from 0 to 2 on this page, so 0 is used; the link asked for -3." in tab.say()
    assert tab.state() == "Not done" and tab.chips() == []
    assert tab.page.locator("#sv-k input[type=number]").input_value() == "7"
    assert tab.page.locator("#sv-temperature input[type=number]").input_value() == "0"
    assert tab.page.locator("#sv-prompt textarea").input_value() == "<img src=x onerror=alert(1)>"
    tab.steps_one_by_one(1)
    assert "was not used as given" not in tab.say()


def test_what_of_a_link_was_changed_or_unknown_is_told_in_the_status_line(desk, open_tab):
    tab = open_tab(desk, "?temperature=7&length=bogus&target=owner/nothing")
    tab.until("() => document.querySelector('.sv-say').textContent.startsWith('2 settings of this link')")
    for words in (
        "temperature must be from 0 to 2 on this page",
        "no setting named 'length'",
        "owner/nothing is not in the menu",
    ):
        assert words in tab.say()
    assert tab.page.locator("#sv-temperature input[type=number]").input_value() == "2"


def test_a_prompt_too_long_for_a_link_is_told(visit):
    visit.prompt("a long prompt " * 200)
    visit.menu("Copy link")
    visit.until("() => document.querySelector('.sv-say').textContent.includes('2000 are safe')")


def test_a_link_to_a_recording_shows_it_and_is_copied_as_one(desk, open_tab):
    tab = open_tab(desk, "?trace=story")
    tab.until("() => document.querySelector('.sv-say').textContent.startsWith('“Story”, a recorded run')")
    plan = gallery.RECORDINGS["story"]
    tab.until("(p) => document.querySelector('#sv-prompt textarea').value === p", plan.prompt)
    assert parse_qs(urlsplit(link_of(tab)).query) == {"trace": ["story"]}
    tab.slide("k", 9)
    link = link_of(tab)
    assert parse_qs(urlsplit(link).query) == {"trace": ["story"], "k": ["9"]}
    again = open_tab(desk, url=link)
    again.until("() => document.querySelector('#sv-k input[type=number]').value === '9'")
    assert again.page.locator("#sv-prompt textarea").input_value() == plan.prompt
    lost = open_tab(desk, "?trace=../../etc/passwd")
    lost.until("() => document.querySelector('.sv-say').textContent.startsWith('There is no recording named')")
    assert lost.place()[1] > 10


READY = "The settings of the link are ready. Press Play."


@pytest.mark.parametrize("query", ["prompt=Count%20to%20ten", "k=8&temperature=0", "seed=7", "width=2"])
def test_a_link_with_settings_shows_no_other_run_beside_them(desk, open_tab, query):
    tab = open_tab(desk, f"?{query}")
    tab.until("(w) => document.querySelector('.sv-say').textContent.includes(w)", READY)
    assert tab.state() == "No run yet" and tab.chips() == [] and tab.label() == "no steps yet"
    tab.click("play")
    tab.wait_state("Finished")
    assert tab.page.locator("#sv-return").is_hidden()


def test_a_link_that_says_nothing_of_a_run_opens_with_the_recording(desk, open_tab):
    tab = open_tab(desk, "?speed=4%20steps%2Fs&utm_source=mail&__theme=light")
    assert tab.state() == "Recording" and tab.place()[0] > 0
    tab.until("() => document.querySelector('#sv-speed input').value === '4 steps/s'")


def test_a_lost_run_of_a_link_with_settings_is_told_and_shows_no_other_run(desk, open_tab):
    tab = open_tab(desk, "?k=8")
    tab.page.evaluate(
        "() => { for (const [name, value] of [['run', 'gone'], ['address', 'k=8']]) sessionStorage['specviz.' + name] = value; }"
    )
    reload(tab)
    tab.until("() => document.querySelector('.sv-say').textContent.startsWith('The run of this tab is no longer')")
    assert tab.chips() == [] and tab.say().endswith("Press Play for a new one.")


def test_a_link_of_an_opened_file_says_what_it_carries(visit):
    name, text = save(visit)
    visit.page.locator(".sv-runs input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    )
    visit.until("(w) => document.querySelector('.sv-say').textContent.startsWith(w)", f"“{name}”, a recorded run")
    link_of(visit)
    assert visit.say().startswith("The link carries the settings, not this run. Save the run to share it.")
    visit.menu("Story")
    visit.until("() => document.querySelector('.sv-say').textContent.startsWith('“Story”')")
    link_of(visit)
    assert "not this run" not in visit.say()


def test_a_link_carries_no_knob_of_what_is_not_chosen(visit):
    for title in ("Beams", "K changed during the run"):
        visit.menu(title)
        visit.until("(w) => document.querySelector('.sv-say').textContent.startsWith(`“${w}”`)", title)
    visit.until("() => document.querySelector('#sv-strategy input').value === 'greedy'")
    assert parse_qs(urlsplit(link_of(visit)).query) == {"trace": ["k-midway"]}
    visit.choose("strategy", "prompt lookup")
    visit.slide("ngram", 2)
    assert "ngram=2" in link_of(visit)
    visit.choose("strategy", "sampling")
    assert "ngram" not in link_of(visit)


def test_a_recording_puts_back_knobs_that_it_does_not_name():
    values = files.controls_of(gallery.read("k-midway"))
    assert {name: values[name] for name in own_knobs()} == {name: knob.default for name, knob in own_knobs().items()}
    assert files.controls_of(gallery.read("beams"))["width"] == 3


def test_a_pair_is_chosen_loaded_at_once_and_the_menu_follows_typed_models(visit):
    visit.steps_one_by_one(1)
    visit.open("Models")

    visit.page.locator("#sv-pair input").click()
    visit.page.get_by_role("option", name="SmolLM2 360M ← 135M").click()
    visit.wait_state("Not done")  # the tests' loader knows no such model
    assert visit.say() == "There is no model named SmolLM2-360M-Instruct; check the name."
    assert visit.page.locator("#sv-target input").input_value() == "SmolLM2-360M-Instruct"
    assert visit.page.locator("#sv-draft input").input_value() == "SmolLM2-135M-Instruct"
    assert "not tested" in visit.page.locator("#sv-pair").text_content()
    visit.page.locator("#sv-pair input").click()
    visit.page.get_by_role("option", name=DEFAULT_PAIR).click()
    visit.until("() => document.querySelector('.sv-say').textContent === 'The models are ready.'")
    assert visit.label() == "step 1 of 1"
    visit.write_in("target", "evil")
    visit.page.wait_for_timeout(300)  # an answer that was on its way while this was typed must not stay
    visit.until("() => document.querySelector('#sv-pair input').value === 'own choice'")


def test_a_draft_length_with_its_knob_in_the_menu_and_in_a_link(desk, open_tab):
    first = open_tab(desk)
    assert not first.page.locator("#sv-confidence-threshold").is_visible()
    first.choose("draft-length", "confidence")
    first.until("() => document.querySelector('#sv-confidence-threshold')?.checkVisibility()")
    first.slide("confidence-threshold", 1)
    link = link_of(first)
    assert "draft_length=confidence" in link and "confidence_threshold=1" in link
    second = open_tab(desk, url=link)
    second.until("() => document.querySelector('#sv-confidence-threshold')?.checkVisibility()")
    assert "at most K" in second.page.locator("#sv-draft-length").text_content()
    second.press("play")
    second.wait_state("Finished")
    assert second.output() == expected(draft_length="confidence", options={"confidence_threshold": 1})
    second.choose("draft-length", "heuristic")
    second.until("() => !document.querySelector('#sv-confidence-threshold')?.checkVisibility()")
    second.press("reset")
    second.wait_state("No run yet")
    second.press("play")
    second.wait_state("Finished")
    assert second.output() == expected(draft_length="heuristic")


def test_bare_leaves_ribbon_card_and_transport_in_sight(chromium, open_tab):
    context = chromium.new_context(viewport={"width": 960, "height": 540})
    visit = open_tab(context, "?bare=1&trace=copy")
    visit.wait_label("step 1 of 20")
    assert "bare" not in visit.say()
    seen = [visit.page.locator(part).bounding_box() for part in ("#sv-play", ".sv-ribbon", ".sv-scrub", ".sv-card")]
    assert all(box and box["x"] < 20 for box in seen)
    assert not visit.page.locator("#sv-side:visible, .sv-headline:visible, .sv-charts:visible, footer:visible").count()
    context.close()
