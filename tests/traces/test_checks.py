"""A trace that says one thing and shows another is rejected; what the product itself makes never is."""

import copy
import json
from dataclasses import replace

import pytest

from specviz.core.records import Fate, TokenRecord
from specviz.core.settings import RunSettings
from specviz.decoding import baseline, engine
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.models.text import TextCodec
from specviz.recordings import gallery
from specviz.traces.checks import spells
from specviz.traces.trace import Trace, TraceError
from specviz.verification import RULES
from tests.core.test_stopping import byte_ids, codecs  # noqa: F401 — a fixture


@pytest.fixture(scope="module")
def recordings():
    """A chain above temperature 0, a tree, and a run beside its baseline, as plain data."""
    return {name: json.loads(gallery.read(name).to_json()) for name in ("temperature-1", "beams", "copy")}


def drafted(data, fate, **found):
    """The first drafted token with this fate."""
    return next(
        t
        for s in data["steps"]
        for t in s["tokens"]
        if t["fate"] == fate and all(t[name] == value for name, value in found.items())
    )


def step_with(data, what):
    return next(s for s in data["steps"] if what(s))


def swap(data):
    step = step_with(data, lambda s: len(set(s["emitted_ids"])) > 1)
    step["emitted_ids"][:2] = step["emitted_ids"][1::-1]


def after_untested(data):
    step = step_with(data, lambda s: s["tokens"] and s["tokens"][-1]["fate"] == "untested")
    step["tokens"][-1].update(fate="rejected", target_prob=0.1, accept_prob=0.1, coin=0.5)


CONTRADICTIONS = {
    "an accepted token whose coin rejects": (
        lambda d: drafted(d, "accepted").update(accept_prob=0.01, coin=0.99),
        "coin",
    ),
    "a rejected token whose coin accepts": (lambda d: drafted(d, "rejected").update(accept_prob=0.9, coin=0.1), "coin"),
    "an untested token with a coin": (lambda d: drafted(d, "untested").update(coin=0.5), "untested"),
    "a tested token without a coin": (lambda d: drafted(d, "accepted").update(coin=None), "a tested token has no coin"),
    "a tested token without p": (
        lambda d: drafted(d, "accepted").update(target_prob=None),
        "a tested token has no coin",
    ),
    "a drafted token without q": (lambda d: drafted(d, "accepted").update(draft_prob=None), "draft_prob"),
    "a drafted token that is a bonus": (
        lambda d: drafted(d, "untested").update(fate="bonus", accept_prob=0.5, coin=0.1),
        "fate",
    ),
    "a token tested after a rejection": (after_untested, "contradicts the tokens"),
    "another id emitted": (lambda d: d["steps"][0]["emitted_ids"].__setitem__(0, 1), "other tokens"),
    "ids emitted in another order": (swap, "other tokens"),
    "too few ids emitted": (lambda d: d["steps"][-1]["emitted_ids"].pop(), "do not match"),
    "no token of the target's own": (lambda d: d["steps"][0].update(extra=None), "Step 1"),
    "a bonus that is called resampled": (
        lambda d: step_with(d, lambda s: s["extra"]["fate"] == "bonus")["extra"].update(fate="resampled"),
        "contradicts the draft",
    ),
    "a target's token somewhere else": (lambda d: d["steps"][-1]["extra"].update(parent=77), "contradicts the draft"),
    "a draft deeper than K": (
        lambda d: step_with(d, lambda s: len(s["tokens"]) > 1 and s["asked"] is not None).update(asked=0),
        "deep",
    ),
    "a pass shorter than the draft": (lambda d: d["steps"][0].update(target_positions=1), "too few positions"),
    "a position that was not reached": (lambda d: d["steps"][0]["places"][0].update(node=99), "not reached"),
    "the same position twice": (
        lambda d: d["steps"][0]["places"].append(copy.deepcopy(d["steps"][0]["places"][0])),
        "two sets",
    ),
    "probabilities above 1 in sum": (lambda d: d["steps"][0]["places"][0].update(target_tail=0.9), "add up"),
    "a candidate missing": (
        lambda d: d["steps"][0]["places"][0].update(candidates=[]),
        "is missing from the candidates",
    ),
    "steps after the end": (lambda d: d["steps"][0].update(stop="eos"), "more steps follow"),
    "another stop reason": (lambda d: d["steps"][-1].update(stop="context"), "The stop reason of this trace"),
    "another text": (lambda d: d.update(text="Another text altogether."), "does not match its tokens"),
    "a word more": (lambda d: d.update(text=d["text"] + " indeed"), "does not match its tokens"),
    "a word changed": (lambda d: d.update(text=d["text"].replace("e", "E", 1)), "does not match its tokens"),
    "more prompt texts than ids": (lambda d: d["prompt_ids"].pop(), "prompt"),
}
BASELINES = {
    "a time too few": (lambda b: b["step_s"].pop(), "number of times"),
    "identical though it differs": (lambda b: b["output_ids"].__setitem__(0, 1), "differs from the run"),
    "different without a difference": (lambda b: b.update(identical=False), "contradict each other"),
    "compared further than it is long": (lambda b: b.update(compared=10_000), "more tokens"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_trace_that_contradicts_itself_is_one_sentence(recordings, what):
    change, sentence = CONTRADICTIONS[what]
    tried = 0
    for data in recordings.values():
        changed = copy.deepcopy(data)
        try:
            change(changed)
        except StopIteration:  # this recording has no such token
            continue
        if changed == data:
            continue
        tried += 1
        with pytest.raises(TraceError, match=sentence) as caught:
            Trace.from_json(json.dumps(changed))
        assert "\n" not in str(caught.value) and str(caught.value).endswith("open another file.")
    assert tried


@pytest.mark.parametrize("what", BASELINES)
def test_a_baseline_that_contradicts_the_run_is_one_sentence(recordings, what):
    change, sentence = BASELINES[what]
    data = copy.deepcopy(recordings["copy"])
    change(data["baseline"])
    with pytest.raises(TraceError, match=sentence):
        Trace.from_json(json.dumps(data))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("temperature", [0, 1])
def test_every_run_of_the_product_is_read_again(pair, strategy, temperature):
    both = pair("target12", "draft12")
    for rule in RULES:
        for length in LENGTHS if rule == "speculative sampling" else ("fixed",):
            settings = RunSettings(
                strategy=strategy,
                rule=rule,
                k=3,
                temperature=temperature,
                top_p=0.9,
                draft_length=length,
                max_new_tokens=20,
            )
            run = engine.start(both, [1, 2, 3, 1, 2], replace(settings, stop=("w3 w7",)))
            while not run.finished(settings):
                engine.step(run, replace(settings, stop=("w3 w7",)))
            run.baseline = baseline.measure(run, settings)
            text = run.trace().to_json()
            assert Trace.from_json(text).to_json() == text


def test_a_rule_that_only_another_version_knows_is_shown(recordings):
    data = copy.deepcopy(recordings["copy"])
    for step in data["steps"]:
        if "settings" in step:
            step["settings"].update(rule="block verification", strategy="oracle", draft_length="by mood")
    assert Trace.from_json(json.dumps(data)).steps[0].settings.rule == "block verification"


def tokens(codec, ids):
    return [TokenRecord(i, codec.show(i), Fate.BONUS) for i in ids]


@pytest.mark.parametrize("kind", ["bytes", "pieces"])
@pytest.mark.parametrize("text", ["s🙂s", "ü,s", "a b\n c", "s。🙂ü"])
def test_a_text_is_that_of_its_tokens_however_its_bytes_fall(codecs, kind, text):  # noqa: F811
    codec: TextCodec = codecs[kind]
    ids = byte_ids(codec, text)
    for end in range(1, len(ids) + 1):  # also where a character is cut in two
        assert spells(tokens(codec, ids[:end]), codec.decode(ids[:end]))
    assert not spells(tokens(codec, ids), text + "x") and not spells(tokens(codec, ids), "x" + text)
