"""Numbers and sentences as the page prints them: nothing printed may be false, and a voice needs whole sentences."""

import random

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
