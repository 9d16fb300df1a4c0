"""Records are plain: they can be copied, and handed to another process and back."""

import copy
import pickle

import pytest

from specviz.core.sampling import BadLogits
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.models.folders import ModelError
from specviz.traces.trace import TraceError


def test_a_run_and_its_settings_survive_the_way_to_another_process(pair):
    settings = RunSettings(strategy="sampled tree", k=2, options={"siblings": 3}, stop=("zzz",), max_new_tokens=9)
    trace = engine.run(pair("target12", "draft12"), [1, 2], settings)
    for thing in (settings, *trace.steps, trace):
        assert pickle.loads(pickle.dumps(thing)) == copy.deepcopy(thing) == thing


@pytest.mark.parametrize("kind", [SettingsError, TraceError, ModelError, BadLogits])
def test_an_error_keeps_its_sentence_on_the_way(kind):
    again = pickle.loads(pickle.dumps(kind("K must be a whole number.")))
    assert type(again) is kind and str(again) == "K must be a whole number."
