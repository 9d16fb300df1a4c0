"""What goes to the browser: small, strict JSON, and true to the record."""

import json
from dataclasses import replace

import pytest

from specviz.core.records import BaselineRecord, Candidate, Difference, Fate, PositionRecord, StepRecord, TokenRecord
from specviz.core.settings import RunSettings
from specviz.traces.trace import Trace
from specviz.views import wire


def token(fate, text=" there", parent=-1, **figures):
    return TokenRecord(48215, text, fate, parent, **figures)


def judged(fate, accept, coin, parent=-1):
    return token(
        fate,
        parent=parent,
        draft_prob=0.123456,
        drafter_prob=0.123456,
        target_prob=0.0654321,
        verifier_prob=0.0654321,
        accept_prob=accept,
        coin=coin,
    )


def a_step(tokens=(), extra=None, index=0, start=0, **settings):
    tokens = tuple(tokens)
    emitted = tuple(t.token_id for t in tokens if t.fate is Fate.ACCEPTED) + ((extra.token_id,) if extra else ())
    position = PositionRecord(-1, 0.7, (Candidate(5, "", 0.5, 0.25, None, 0.125),), 0.5, 0.75)
    return StepRecord(
        index,
        start,
        RunSettings(**settings),
        tokens,
        extra,
        emitted,
        None,
        "k",
        len(tokens) + 1,
        0.0123456,
        0.0456789,
        0.000123456,
        positions=(position,),
    )


FOUR = a_step(
    [
        judged(Fate.ACCEPTED, 0.9123456, 0.1234567),
        judged(Fate.ACCEPTED, 0.9123456, 0.2345678, parent=0),
        judged(Fate.REJECTED, 0.3456789, 0.8765432, parent=1),
        token(Fate.UNTESTED, parent=2, draft_prob=0.345678, drafter_prob=0.345678),
    ],
    token(Fate.RESAMPLED, " unbelievably", 1, target_prob=0.123456, verifier_prob=0.23456, coin=0.98765),
    index=1999,
    start=6543,
)


def test_a_step_of_four_is_under_a_kilobyte():
    assert len(wire.pack(wire.step(FOUR)).encode()) <= 1000


def test_an_untested_token_carries_no_trailing_nothings():
    step = wire.step(a_step([judged(Fate.REJECTED, 0.1, 0.5), token(Fate.UNTESTED, parent=0, draft_prob=0.31)]))
    assert step["tok"][1] == [48215, "·there", "u", 0, 0.31]


def test_times_are_in_milliseconds_and_settings_come_along():
    step = wire.step(FOUR)
    assert (step["d"], step["v"], step["o"]) == (12.35, 45.68, 0.1235)
    assert (step["k"], step["st"], step["ru"], step["T"]) == (4, "sampling", "speculative sampling", 1)
    assert (step["i"], step["n"], step["pos"], step["ds"], step["stop"]) == (1999, 6543, 5, "k", None)


def test_a_k_that_was_chosen_comes_with_the_one_that_was_set_and_by_whom():
    adapted = wire.step(replace(a_step([], token(Fate.BONUS), draft_length="cost-aware"), asked=0))
    assert (adapted["k"], adapted["ks"], adapted["dl"]) == (0, 4, "cost-aware")
    assert {"ks", "dl"}.isdisjoint(wire.step(FOUR)) and {"ks", "dl"}.isdisjoint(wire.step(replace(FOUR, asked=4)))


def test_a_line_break_is_counted_last():
    assert wire.step(a_step([], token(Fate.BONUS, "\n\n")))["ex"] == [
        48215,
        "⏎⏎",
        "b",
        -1,
        None,
        None,
        None,
        None,
        None,
        None,
        2,
    ]


@pytest.mark.parametrize(
    ("accept", "coin"),
    [(0.50001, 0.50000), (0.50000, 0.50001), (0.123456789, 0.123456788), (0.5, 0.5), (1.0, 0.99999999), (1e-9, 2e-9)],
)
def test_rounding_never_crosses_the_verdict(accept, coin):
    fate = Fate.ACCEPTED if coin < accept else Fate.REJECTED
    sent = wire.step(a_step([judged(fate, accept, coin)]))["tok"][0]
    assert (sent[7] < sent[6]) is (coin < accept)


def test_numbers_that_need_no_care_have_four_digits():
    sent = wire.step(a_step([judged(Fate.ACCEPTED, 0.9123456, 0.1234567)]))["tok"][0]
    assert sent[4:8] == [0.1235, 0.06543, 0.9123, 0.1235]


def test_details_hold_whole_texts_and_candidates():
    detail = wire.detail(a_step([judged(Fate.ACCEPTED, 1.0, 0.5)], token(Fate.BONUS, "x" * 300)))
    assert detail["ex"] == "x" * 300
    assert detail["positions"] == [
        {"node": -1, "beta": 0.7, "cand": [[5, "⟨id 5⟩", 0.5, 0.25, None, 0.125]], "qt": 0.5, "pt": 0.75}
    ]


def test_a_position_with_several_siblings_says_how_likely_one_was_to_be_taken():
    record = a_step([judged(Fate.ACCEPTED, 1.0, 0.5)], token(Fate.BONUS))
    assert "any" not in wire.detail(record)["positions"][0]
    position = replace(record.positions[0], accept_prob=0.87654321)
    assert wire.detail(replace(record, positions=(position,)))["positions"][0]["any"] == 0.8765


def test_head_from_parts_names_tokens_without_text():
    head = wire.head(run_id="r1", prompt_ids=(1, 2), prompt_texts=("Once\n",), pair={"target": "T"}, prefill_s=0.25)
    assert head == {"r": "r1", "prompt": [[1, "Once⏎", 1], [2, "⟨id 2⟩"]], "pair": {"target": "T"}, "prefill": 250}


def test_baseline_says_where_texts_part():
    apart = Difference(3, 1, " a", 2, "", 1.0, 1.001)
    sent = wire.baseline(BaselineRecord((1, 2), (0.05, 0.05), False, 4, apart, tie_bound=0.01))
    assert sent["tps"] == pytest.approx(20) and sent["same"] is False and sent["n"] == 2
    assert sent["apart"]["alone"] == "⟨id 2⟩" and sent["apart"]["tie"] is True


def test_baseline_of_nothing_is_a_gap():
    assert wire.baseline(BaselineRecord((), ()))["tps"] is None


def test_a_recording_is_self_contained_and_strict():
    first = a_step([], token(Fate.BONUS))
    second = a_step([judged(Fate.ACCEPTED, 1.0, 0.5)], token(Fate.BONUS), index=1, start=1)
    trace = Trace("p", (1,), (first, second), "text", "length", {"target": "T"}, prompt_texts=("p",))
    sent = json.loads(wire.pack(wire.recording(trace)))
    assert [s["i"] for s in sent["s"]] == [d["i"] for d in sent["details"]] == [0, 1]
    assert (sent["stop"], sent["text"], sent["b"]) == ("length", "text", None)
    assert sent["head"]["prompt"] == [[1, "p"]]


def test_packed_text_holds_nothing_that_gradio_reads():
    packed = wire.pack({"t": "<script> __i18n__"})
    assert "<" not in packed and "__i18n__" not in packed
    assert json.loads(packed) == {"t": "<script> __i18n__"}


def test_no_number_that_is_not_json_gets_through():
    with pytest.raises(ValueError):
        wire.pack({"x": float("nan")})
