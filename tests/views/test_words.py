"""Numbers and sentences as the page prints them: nothing printed may be false, and a voice needs whole sentences."""

import random

from specviz.core.words import say
from tests.views import js

DIGITS = "GIVEN.map(([a, b]) => apart(a, b))"


def value(text):
    return float(text.replace("−", "-"))


def test_a_coin_and_its_threshold_compare_as_printed_and_none_looks_like_0_or_1():
    random.seed(5)
    ends = [0.0004, 0.9996, 3e-6, 0.00004999, 0.995, 0.99996, 0.5, 0.004, 0.0049, 1e-9]
    pairs = [(a, b) for a in ends for b in ends] + [(random.random(), random.random() ** 9) for _ in range(300)]
    pairs += [(a, 1) for a in ends] + [(a, 0) for a in ends] + [(a, a * (1 + 1e-6)) for a in ends]
    for (a, b), (left, right) in zip(pairs, js.run(["dom.js"], DIGITS, pairs), strict=True):
        assert (value(left) < value(right), value(left) > value(right)) == (a < b, a > b), (a, b, left, right)
        for number, text in ((a, left), (b, right)):
            assert value(text) not in (0, 1) or number in (0, 1), (number, text)
            # short enough for a column, unless only many digits tell the two apart
            assert len(text) <= 6 or abs(a - b) < 1e-4 or number > 0.9999, (a, b, text)


def test_the_numbers_of_the_step_card_by_hand():
    pairs = [[0.16, 0.0004], [0.16, 3e-6], [0.78, 0.9996], [0.78, 1], [0.48, 0.56], [0.481, 0.482]]
    assert js.run(["dom.js"], DIGITS, pairs) == [
        ["0.16", "0.0004"],
        ["0.16", "3e−6"],
        ["0.78", "0.9996"],
        ["0.78", "1"],
        ["0.48", "0.56"],
        ["0.481", "0.482"],
    ]


def test_what_a_voice_reads_is_whole_sentences():
    told = js.run(
        ["dom.js", "shape.js", "store.js", "words.js"],
        "[sentences('Finished', 'the token limit was reached', 'Step 3: 9 tokens so far'), sentences('Paused', '', 'Is it?')]",
    )
    assert told == ["Finished. The token limit was reached. Step 3: 9 tokens so far.", "Paused. Is it?"]


def test_the_line_of_a_step_says_no_draft_alone_and_no_time_below_a_millisecond():
    step = {"i": 0, "k": 4, "st": "none", "ru": "speculative sampling", "T": 0, "tk": 0, "tp": 1, "rp": 1, "tok": []}
    times = {"d": 0, "v": 75.2, "o": 0.1, "c": 0.1}
    files = ["dom.js", "shape.js", "store.js", "words.js"]
    said = js.run(
        files,
        "[...GIVEN.map((s) => stepSettings(s).join(' · ')), ...GIVEN.map(stepTimes)]",
        [step | times, step | times | {"st": "greedy", "c": 31.4}],
    )
    assert said == [
        "no draft · temperature 0",
        "K = 4 · greedy · speculative sampling · temperature 0",
        "verify 75 ms",
        "verify 75 ms, + 31 ms to process the text first",
    ]


def test_the_note_on_the_models_names_what_strategies_draft_with():
    pair = {"target": "big", "draft": "small", "dtype": "torch.float32", "device": "cpu", "notes": ["Slow."]}
    pair |= {"drafted_with": {"4-bit copy": "the target with 4-bit weights, 70 MB"}}
    assert js.run(["dom.js", "words.js"], "[pairTip(GIVEN), pairTip(null)]", pair) == [
        ["big ← small · float32 · cpu", "Slow.", "4-bit copy drafts with the target with 4-bit weights, 70 MB"],
        [],
    ]


def test_a_wait_between_steps_is_told_only_when_it_lasts():
    at = [("playing", 1), ("waiting", 100), ("waiting", 1500), ("playing", 1700), ("waiting", 1800), ("waiting", 3400)]
    at += [("playing", 3500), ("paused", 3600), ("waiting", 3700)]  # a run that has not begun to run again waits openly
    told = js.run(
        ["status.js"],
        "(() => { const patient = makePatience(); return GIVEN.map(([state, now]) => patient({ state }, now)); })()",
        at,
    )
    assert [f["state"] for f, _ in told] == [
        *["playing", "playing", "playing", "playing", "playing", "waiting"],
        *["playing", "paused", "waiting"],
    ]
    assert [left for _, left in told] == [0, 1500, 100, 0, 1500, 0, 0, 0, 0]


def test_the_formula_of_the_accept_probability_gives_the_number_beside_it():
    cases = [
        [0.942, 0.936, 0.936 / 0.942],
        [0.5, 0.25, 0.5],
        [0.4749, 0.1145, 0.1145 / 0.4749],
        [0.3, 0.6, 1.0],
        [0.5, 0.002, 0.004],
    ]
    made = "GIVEN.map(([q, p, a]) => { const t = []; t[Q] = q; t[P] = p; t[ACCEPT] = a; return t; })"
    told = js.run(
        ["wire.js", "dom.js", "words.js"], f"{made}.map((t) => acceptFormula(t, {{ T: 1, tok: [t] }}))", cases
    )
    assert told == ["0.936÷0.942", "0.25÷0.50", "0.115÷0.475", "p ≥ q", "0.002÷0.50"]
    for formula, (_, _, chance) in zip(told, cases, strict=True):
        if "÷" in formula:
            p, q = map(float, formula.split("÷"))
            assert f"{p / q:.2f}" == f"{chance:.2f}"


def test_a_speed_up_says_how_much_of_the_text_was_compared():
    files, whole = ["dom.js", "words.js", "headline.js"], {"same": True, "compared": 12}
    cases = [
        [None, 5],
        [{"same": None}, 5],
        [whole, 12],
        [whole, 5],
        [whole | {"compared": 2}, 12],
        [{"same": False}, 5],
    ]
    told = js.run(files, "GIVEN.map(([b, tokens]) => mark(b, tokens).trim())", cases)
    same, some_of_it = say("view.same_text"), say("view.same_so_far", part=2, whole=12)
    assert told == ["", "", same, same, some_of_it, say("view.texts_differ")]
