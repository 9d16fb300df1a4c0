"""Whatever a trace file holds anywhere: a trace that can be shown and saved again, or one TraceError."""

import copy
import json

import pytest

from specviz.core.records import Costs
from specviz.core.settings import RunSettings
from specviz.decoding import baseline, engine
from specviz.traces.trace import Trace, TraceError
from specviz.views import wire
from tests.conftest import tiny_pair

STRANGE = [None, True, -1, 2.5, 1e300, 10**400, "x", "", "\ud83d", [], {}, [[1]], {"a": 1}, float("inf")]


@pytest.fixture(scope="module")
def data():
    """A short run with everything that a trace can hold: a tree, costs, options, a stop string, a baseline that differs."""
    settings = RunSettings(
        strategy="beam search", k=2, temperature=0, max_new_tokens=3, stop=("zzz",), options={"width": 2}, seed=3
    )
    run = engine.start(
        tiny_pair("target12", "draft12"), [1, 2], settings, {"beam search": Costs(0.1, ((1, 1.0), (4, 1.5)))}
    )
    engine.finish(run, settings)
    run.baseline = baseline.measure(run, settings)
    found = json.loads(run.trace().to_json())
    # what an honest run of so small a pair has none of
    found["baseline"].update(identical=False, output_ids=[*found["baseline"]["output_ids"][:-1], 12])
    found["baseline"]["difference"] = {
        "place": 2,
        "run_id": found["steps"][-1]["emitted_ids"][-1],
        "run_text": "w1",
        "alone_id": 12,
        "alone_text": "w12",
        "run_logit": 1.5,
        "alone_logit": 1.25,
    }
    found["pair"]["drafted_with"] = {"beam search": "a few words"}
    Trace.from_json(json.dumps(found))
    return found


def fields(node, path=()):
    """The path of everything in `node`; of a long list the first two and the last."""
    if path:
        yield path
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        if isinstance(node, dict) or key in (0, 1, len(node) - 1):
            yield from fields(node[key], (*path, key))


def changed(data, path, value):
    """A copy in which one thing is another; `fields` itself as value: it is missing."""
    data = copy.deepcopy(data)
    at = data
    for key in path[:-1]:
        at = at[key]
    if value is fields:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


def test_any_wrong_value_anywhere_gives_a_trace_or_one_sentence(data):
    paths = list(fields(data))
    assert len(paths) > 150
    taken = rejected = 0
    for path in paths:
        for value in (*STRANGE, fields):
            text = json.dumps(changed(data, path, value)).replace("1e+300", "1e999")
            try:
                trace = Trace.from_json(text)
            except TraceError as error:
                rejected += 1
                assert "\n" not in str(error) and len(str(error)) < 400, (path, value)
                assert "Error" not in str(error), (path, value)
                continue
            taken += 1
            # what is taken can be saved, sent, shown and opened again
            trace.to_json().encode()
            wire.pack(wire.recording(trace)).encode()
            assert Trace.from_json(trace.to_json()) == trace, (path, value)
    assert rejected > 10 * taken


@pytest.mark.parametrize("where", ["step", "prefill", "baseline"])
@pytest.mark.parametrize("value", [-1e-9, 86_400.5, 1e999])
def test_a_time_is_from_nothing_to_a_day(data, where, value):
    path = {"step": ("steps", 0, "verify_s"), "prefill": ("prefill_s",), "baseline": ("baseline", "step_s", 0)}[where]
    Trace.from_json(json.dumps(changed(data, path, 86_400)))
    with pytest.raises(TraceError, match="must be a number from 0 to 86400"):
        Trace.from_json(json.dumps(changed(data, path, value)).replace("Infinity", "1e999"))


def test_the_sentence_says_where(data):
    with pytest.raises(TraceError, match=r"^Step 1 of this trace: drafted token 2: coin must be .* is 'x'; open"):
        Trace.from_json(json.dumps(changed(data, ("steps", 0, "tokens", 1, "coin"), "x")))
    with pytest.raises(
        TraceError, match=r"^Step 1 of this trace: position 1: candidate 2: text must be a text, but it is 5"
    ):
        Trace.from_json(json.dumps(changed(data, ("steps", 0, "places", 0, "candidates", 1, "text"), 5)))


def test_a_whole_character_written_as_two_halves_is_whole(data):
    whole = changed(data, ("pair", "notes"), ["a smile: 🙂"])
    assert Trace.from_json(json.dumps(whole, ensure_ascii=True)).pair["notes"] == ["a smile: 🙂"]
