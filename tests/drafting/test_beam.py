"""Beam search: the tree against a plain reference, and whole runs against the target alone."""

from dataclasses import replace

import pytest
import torch

import specviz
from specviz.core.coins import coins_of
from specviz.core.records import ROOT, Fate
from specviz.core.settings import RunSettings, SettingsError
from specviz.decoding import engine
from specviz.drafting import STRATEGIES
from specviz.drafting.base import Readers
from specviz.drafting.growing import Branch, continued
from specviz.drafting.tree import MAX_NODES
from specviz.models.cached import CachedModel
from specviz.models.loading import load_model
from specviz.verification import RULES
from tests import tiny
from tests.chi_squared import FILTERS, p_value

LOSSLESS = [name for name, rule in RULES.items() if rule.lossless]
ONE_ALWAYS = [LOSSLESS[0], *(pytest.param(rule, marks=pytest.mark.slow) for rule in LOSSLESS[1:])]
PROMPT = [1, 2, 3, 1, 2, 4]
BEAM = RunSettings(strategy="beam search", temperature=0, max_new_tokens=40)


def with_width(width, **more):
    return replace(BEAM, options={"width": width}, **more)


def drafted(pair, ids, settings, k=None):
    readers = Readers(CachedModel(pair.target), CachedModel(pair.draft, pair.target.vocab_size))
    drafter = STRATEGIES["beam search"].start(readers)
    return drafter.propose(ids, settings.k if k is None else k, settings, coins_of(1), 0), readers.draft


def branches(draft):
    return {tuple(draft.token_ids[n] for n in draft.path(node)) for node in range(len(draft.token_ids))}


def searched(model, ids, width, k, end_ids=()):
    """Beam search as in a textbook: no cache, no tree, every beam read whole."""
    beams, kept = [(0.0, ())], set()
    for _ in range(k):
        found = []
        for total, beam in beams:
            if beam and beam[-1] in end_ids:
                found.append((total, beam))
                continue
            scores = torch.log_softmax(model(torch.tensor([[*ids, *beam]])).logits[0, -1].double(), -1)
            found += [(total + score, (*beam, token)) for token, score in enumerate(scores.tolist())]
        beams = sorted(found, reverse=True)[:width]
        kept |= {beam for _, beam in beams}
    return kept


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_the_tree_is_every_beam_that_a_textbook_search_kept(pair, width, k):
    both = pair("ctx_t", "ctx_d")
    draft, _ = drafted(both, PROMPT, with_width(width, k=k))
    assert branches(draft) == searched(both.draft.model, PROMPT, width, k)
    assert draft.stop == "k" and len(draft.token_ids) == len(branches(draft))  # no prefix twice


def test_siblings_come_best_first_and_are_point_masses(pair):
    draft, _ = drafted(pair("ctx_t", "ctx_d"), PROMPT, with_width(4, k=4))
    for node, parent in enumerate(draft.parents):
        assert parent < node and draft.probs[node][draft.token_ids[node]] == draft.probs[node].sum() == 1
    for parent in {*draft.parents}:
        own = [draft.own_logits[n][draft.token_ids[n]] for n, p in enumerate(draft.parents) if p == parent]
        assert own == sorted(own, reverse=True)
    assert any(draft.parents.count(parent) > 1 for parent in draft.parents)


def test_one_beam_is_greedy_drafting(pair):
    both = pair("ctx_t", "ctx_d")
    one = engine.run(both, PROMPT, with_width(1, k=3, repetition_penalty=1.3))
    greedy = engine.run(both, PROMPT, replace(BEAM, strategy="greedy", k=3, repetition_penalty=1.3))
    assert [[t.token_id for t in s.tokens] for s in one.steps] == [[t.token_id for t in s.tokens] for s in greedy.steps]
    assert [s.draft_stop for s in one.steps] == [s.draft_stop for s in greedy.steps]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("rule", LOSSLESS)
def test_every_width_and_depth_gives_the_targets_own_greedy_tokens(pair, width, k, rule):
    trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, with_width(width, k=k, rule=rule))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    # the target reads each step's tree once and nothing twice, whichever branch won
    for before, step in zip(trace.steps, trace.steps[1:], strict=False):
        assert step.target_positions <= len(step.tokens) + 1 and before.catch_up_s < 1
    assert any(t.fate is Fate.ACCEPTED for s in trace.steps for t in s.tokens)


@pytest.mark.parametrize("rule", ONE_ALWAYS)
@pytest.mark.parametrize(
    ("width", "k", "filters"),
    [
        pytest.param(2, 1, "plain", marks=pytest.mark.slow),
        pytest.param(3, 2, "plain", marks=pytest.mark.slow),
        (2, 2, "top-k and top-p"),
    ],
)
def test_whole_runs_have_the_targets_distribution(tables, rule, width, k, filters):
    settings = with_width(width, k=k, rule=rule, temperature=1, max_new_tokens=3)
    assert p_value(tables, replace(settings, **FILTERS[filters])) > 1e-4


def test_the_draft_model_is_asked_once_a_position_and_reads_nothing_twice(pair, monkeypatch):
    fed, plain = [], CachedModel._pass

    def spy(self, *args):
        rows = plain(self, *args)
        fed.append(self.positions)
        return rows

    monkeypatch.setattr(CachedModel, "_pass", spy)
    _, reader = drafted(pair("ctx_t", "ctx_d"), PROMPT, with_width(3, k=5))
    assert fed == [len(PROMPT), 3, 3, 3, 3]
    assert reader.behind([*PROMPT, 0]) <= 1


@pytest.mark.parametrize("width", [2, 3])
def test_the_penalty_sees_the_branch_and_nothing_else(pair, width):
    settings = with_width(width, k=4, repetition_penalty=1.5, max_new_tokens=12)
    trace = engine.run(pair("target12", "draft12"), [0], settings)
    assert list(trace.output_ids) == tiny.generate(tiny.folder("target12"), [0], 12, repetition_penalty=1.5)


def test_an_end_token_ends_its_own_branch_only():
    both = specviz.load_pair(tiny.folder("target12"), tiny.folder("draft12", eos=7), dtype="float32")
    draft, _ = drafted(both, [0], with_width(4, k=4))
    ends = [n for n, token in enumerate(draft.token_ids) if token == 7]
    assert ends and draft.stop == "k" and not set(ends) & set(draft.parents)
    assert branches(draft) == searched(both.draft.model, [0], 4, 4, end_ids={7})


def test_a_draft_whose_beams_have_all_ended_says_so():
    both = specviz.load_pair(tiny.folder("cycle12"), tiny.folder("cycle12", eos=2), dtype="float32")
    draft, _ = drafted(both, [0], with_width(1, k=8))
    assert (draft.token_ids, draft.stop) == ((1, 2), "end token")


def test_an_end_token_accepted_inside_a_branch_ends_the_run_there(pair):
    both, reference = pair("ctx_t", "ctx_d"), tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    for end in set(reference):
        ending = type(both)(replace(both.target, eos_ids=frozenset({end})), both.draft)
        trace = engine.run(ending, PROMPT, with_width(4, k=6))
        assert list(trace.output_ids) == reference[: reference.index(end) + 1] and trace.stop == "eos"
        last = trace.steps[-1]
        assert len(last.emitted_ids) == last.count(Fate.ACCEPTED) + (last.extra is not None)


def test_a_stop_string_inside_a_branch_leaves_the_rest_untested(pair):
    alone = engine.run(pair("ctx_t"), PROMPT, replace(BEAM, strategy="none"))
    for position in range(2, 12):
        stop = " ".join(alone.text.split()[position : position + 2])
        trace = engine.run(pair("ctx_t", "ctx_d"), PROMPT, with_width(3, k=6, stop=(stop,)))
        plain = engine.run(pair("ctx_t"), PROMPT, replace(BEAM, strategy="none", stop=(stop,)))
        assert (trace.text, trace.output_ids) == (plain.text, plain.output_ids)
        last = trace.steps[-1]
        assert len(last.emitted_ids) == last.count(Fate.ACCEPTED) + (last.extra is not None)
        kept = {n for n, t in enumerate(last.tokens) if t.fate is Fate.ACCEPTED} | {ROOT}
        assert all(t.parent in kept for t in last.tokens if t.fate is not Fate.UNTESTED)


def test_room_and_context_clip_the_depth(pair):
    near = engine.run(pair("ctx_t", "ctx_d"), PROMPT, with_width(3, k=8, max_new_tokens=3))
    assert near.steps[0].draft_stop == "room" and near.stop == "length" and len(near.output_ids) == 3
    full = engine.run(pair("gpt2pos32", "gpt2pos32"), list(range(12)) * 2, with_width(3, k=8, max_new_tokens=20))
    assert full.stop == "context" and len(full.output_ids) == 8
    assert list(full.output_ids) == tiny.generate(tiny.folder("gpt2pos32"), list(range(12)) * 2, 8)


def test_a_draft_with_a_shorter_context_is_left_out_where_it_ends():
    both = specviz.load_pair(tiny.folder("ctx_t"), tiny.folder("gpt2pos32"), dtype="float32")
    trace = engine.run(both, PROMPT, with_width(2, k=4))
    assert list(trace.output_ids) == tiny.generate(tiny.folder("ctx_t"), PROMPT, 40)
    assert any(s.draft_stop == "draft context" and s.tokens for s in trace.steps)
    assert trace.steps[-2].draft_stop == "draft context" and not trace.steps[-2].tokens


@pytest.mark.parametrize(
    ("target", "draft"), [("recurrent", "ctx_d"), ("ctx_t", "recurrent"), ("recurrent", "recurrent")]
)
def test_models_that_are_read_afresh_each_time(pair, target, draft):
    both = pair(target, draft)
    trace = engine.run(both, PROMPT, with_width(3, k=3, max_new_tokens=16))
    assert list(trace.output_ids) == tiny.generate(tiny.folder(target), PROMPT, 16)
    assert branches(drafted(both, PROMPT, with_width(3, k=3))[0]) == searched(both.draft.model, PROMPT, 3, 3)


@pytest.mark.parametrize("rule", LOSSLESS)
def test_a_target_with_more_columns_than_the_draft(rule):
    both = specviz.load_pair(tiny.folder("padtarget16"), tiny.folder("draft12"), dtype="float32")
    trace = engine.run(both, [0], with_width(8, k=3, rule=rule, max_new_tokens=5))
    assert list(trace.output_ids) == [1, 2, 15, 4, 5]
    assert all(t.token_id < 12 for s in trace.steps for t in s.tokens)


def test_a_wide_and_deep_tree_is_narrowed(pair):
    draft, _ = drafted(pair("ctx_t", "ctx_d"), PROMPT, with_width(8, k=32))
    assert len(draft.token_ids) <= MAX_NODES
    assert max(len(draft.path(n)) for n in range(len(draft.token_ids))) == 32


def test_k_zero_drafts_nothing(pair):
    draft, _ = drafted(pair("ctx_t", "ctx_d"), PROMPT, with_width(3), k=0)
    assert draft.token_ids == () and draft.stop == "none"


@pytest.mark.parametrize("width", [0, 9, 2.5, "two", True, None])
def test_an_impossible_width_is_invalid(pair, width):
    with pytest.raises(SettingsError, match="beam width must be a whole number from 1 to 8"):
        engine.start(pair("ctx_t", "ctx_d"), PROMPT, with_width(width))


def test_a_model_with_windows_reads_its_branches_one_by_one(tmp_path):
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    more = {"num_key_value_heads": 4, "max_position_embeddings": 64, "sliding_window": 4, "vocab_size": tiny.WORDS}
    tiny._write_random(tmp_path, "MistralForCausalLM", "MistralConfig", std=0.3, **shape, **more, **tiny._NO_IDS)
    tiny.write_words_tokenizer(tmp_path)
    loaded = load_model(tmp_path, dtype="float32")
    assert loaded.cache_mode == "rollback" and not loaded.reads_trees
    trace = engine.run(specviz.load_pair(tmp_path, tmp_path, dtype="float32"), PROMPT, with_width(3, max_new_tokens=24))
    assert list(trace.output_ids) == tiny.generate(tmp_path, PROMPT, 24)


@pytest.mark.parametrize("size", [1025, 8192])
def test_among_equally_likely_continuations_the_lowest_ids_come_first(size):
    row = torch.full((size,), -20.0)
    row[[7, 900, 1000]] = 1.0
    found = continued(Branch(), row, 4, [0], RunSettings(), end_ids=())
    assert [branch.tokens for branch in found] == [(7,), (900,), (1000,), (0,)]
