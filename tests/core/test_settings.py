"""Bad values get one sentence that says what is allowed, whoever sends them."""

import dataclasses
import math

import pytest

from specviz.core.settings import KNOBS, RunSettings, SettingsError


@pytest.mark.parametrize("k", [-1, 33, 2.5, 1e9, None, "x", math.nan, math.inf, True, [4]])
def test_a_k_that_is_no_whole_number_from_0_to_32_is_an_error_in_a_sentence(k):
    with pytest.raises(SettingsError, match="K must be a whole number from 0 to 32"):
        RunSettings(k=k)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -1),
        ("temperature", math.nan),
        ("top_p", 1.1),
        ("top_k", -1),
        ("top_k", 1.5),
        ("max_new_tokens", 0),
        ("max_new_tokens", 10**30),
        ("temperature", 10**400),
        ("repetition_penalty", 0),
        ("seed", -1),
        ("seed", None),
        ("strategy", 3),
        ("rule", None),
        ("chat", "yes"),
        ("stop", 5),
        ("stop", ["a"] * 9),
        ("options", "x"),
        ("stop", "\ud83d"),
        ("stop", ["END", "a\udc9d"]),
        ("strategy", "\ud83d"),
        ("options", {"\ud83d": 1}),
    ],
)
def test_values_out_of_range_are_errors(name, value):
    with pytest.raises(SettingsError):
        RunSettings(**{name: value})


def test_edges_are_allowed():
    for name, knob in KNOBS.items():
        for value in (knob.low, knob.default, knob.high):
            assert getattr(RunSettings(**{name: value}), name) == value


def test_a_whole_float_is_a_whole_number():
    assert RunSettings(k=4.0).k == 4
    assert isinstance(RunSettings(k=4.0).k, int)


def test_settings_survive_plain_data_and_cannot_be_changed():
    settings = RunSettings(stop="END", options={"ngram": 2}, k=7)
    assert RunSettings.from_dict(settings.to_dict()) == settings
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.k = 3


def test_an_unknown_field_is_an_error_and_not_ignored():
    with pytest.raises(SettingsError, match="temprature"):
        RunSettings.from_dict({"temprature": 1})


def test_half_a_character_gets_the_sentence_that_the_prompt_has():
    with pytest.raises(
        SettingsError, match=r"^Character 3 of a stop string is incomplete; delete it and type it again"
    ):
        RunSettings(stop=("END", "ab\ud83d"))
    assert RunSettings(stop="🙂").stop == ("🙂",)
