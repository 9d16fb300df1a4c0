"""A feature head: its own cache is invisible, its tree reading is its chain reading, and another target's is refused."""

import json
import random
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.models import head_store
from specviz.models.cached import CachedModel
from specviz.models.folders import ModelError
from specviz.models.head_reader import HeadReader
from specviz.models.head_store import head_of, load_head, mismatch, save_head
from specviz.models.loading import load_model
from tests import tiny


@pytest.fixture
def target():
    return load_model(tiny.folder("ctx_t"), dtype="float32")


@pytest.fixture
def head(target):
    return head_store.loaded_head(target)


def by_definition(head, loaded, ids, known):
    """Logits after `ids`, one position at a time the whole attention each time: true states at the first `known` positions."""
    network, rows, own = head.network, [], None
    with torch.inference_mode():
        states = loaded.model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        true = torch.cat([states[layer][0] for layer in network.shape.feature_layers], -1)
        for position in range(len(ids) - 1):
            after = head.embedding[ids[position + 1]]
            rows.append(
                network.from_target(true[position], after) if position < known else network.from_own(own, after)
            )
            x, positions = torch.stack(rows)[None], torch.arange(position + 1)

            def attend(q, k, v):
                k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
                weights = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill(
                    ~torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).tril(), -torch.inf
                )
                return weights.softmax(-1) @ v

            own = network.layer(x, network.rotation(positions), attend)[0, -1]
        logits = torch.full((loaded.vocab_size,), -torch.inf)
        logits[head.rows] = head.output @ own
    return logits


def test_drafts_with_the_cache_equal_drafts_computed_afresh_along_a_random_walk(target, head):
    choose, ids = random.Random(3), [1, 2, 3]
    reader = HeadReader(head, CachedModel(target))
    targets = reader.target
    for _ in range(25):
        reader.catch_up(ids)
        assert targets.known(ids) >= len(ids) - 1
        drafted = []
        for _ in range(choose.randrange(1, 5)):
            known = targets.known(ids + drafted)  # a text that was cut may be drafted again as it was
            row = reader.logits(ids + drafted)[0]
            assert torch.allclose(row, by_definition(head, target, ids + drafted, known), atol=1e-4)
            drafted.append(choose.randrange(tiny.WORDS))
        targets.logits(ids + drafted, last=len(drafted) + 1)
        ids = (ids + drafted[: choose.randrange(len(drafted) + 1)] + [choose.randrange(tiny.WORDS)])[:60]
        if choose.random() < 0.2:
            ids = ids[: choose.randrange(2, len(ids) + 1)]  # nobody is told that a text became shorter


def test_after_a_step_only_what_was_accepted_is_read_with_true_states(target, head):
    reader = HeadReader(head, CachedModel(target))
    text = [1, 2, 3, 4, 5]
    assert reader.behind(text) == 4
    reader.catch_up(text)
    assert reader.behind(text) == 0 and reader.positions == 4
    for n in range(3):
        reader.logits([*text, 6, 7, 8][: 5 + n])
        assert reader.positions == (1 if n else 0)
    reader.target.logits([*text, 6, 7, 8], last=4)
    reader.logits([*text, 6, 9])  # 6 was accepted, 9 is the correction
    assert reader.positions == 2 and reader.target.positions == 4


def test_a_tree_is_read_as_its_branches(target, head):
    choose, text = random.Random(5), [1, 2, 3, 4]
    reader, plain = HeadReader(head, CachedModel(target)), HeadReader(head, CachedModel(target))
    for _ in range(6):
        nodes, parents = [], []
        reader.catch_up(text)
        plain.catch_up(text)
        for level in range(3):
            new, first = choose.randrange(1, 4), len(nodes)
            nodes += [choose.randrange(tiny.WORDS) for _ in range(new)]
            parents += [choose.randrange(first) if level else -1 for _ in range(new)]
            rows = reader.tree_logits(text, nodes, parents, last=new)
            assert reader.positions == new  # what grew at the end, and in one go
            for row, node in zip(rows, range(first, len(nodes)), strict=True):
                way = []
                while node >= 0:
                    way.insert(0, nodes[node])
                    node = parents[node]
                assert torch.allclose(row, plain.logits(text + way)[0], atol=1e-4)
        reader.target.tree_logits(text, nodes, parents)
        plain.target.tree_logits(text, nodes, parents)
        text = text + way + [choose.randrange(tiny.WORDS)]


def test_the_states_that_are_kept_are_those_of_a_plain_pass(target):
    reader, choose, text = CachedModel(target), random.Random(9), [1, 2, 3]
    reader.keep_features((0, 2))
    reader.keep_features((4, 2))
    for _ in range(8):
        nodes, parents = [choose.randrange(12) for _ in range(5)], [-1, -1, 0, 1, 3]
        reader.tree_logits(text, nodes, parents)
        text = [*text, nodes[1], nodes[3], choose.randrange(12)]
        known = reader.known(text)
        assert len(text) - known in (0, 1)
        states = target.model(torch.tensor([text]), output_hidden_states=True).hidden_states
        wanted = torch.cat([states[4][0], states[0][0]], -1)
        assert torch.allclose(reader.features(text, 1, (4, 0)), wanted[1:known], atol=1e-4)
        text = text[:30]


def test_ids_that_the_head_has_no_row_for_are_ruled_out(target, head):
    reader = HeadReader(head, CachedModel(target))
    reader.catch_up([1, 2, 3])
    row = reader.logits([1, 2, 3])[0]
    assert row.isinf().nonzero().flatten().tolist() == [11] and len(row) == 12


def test_the_target_is_never_altered(target, head):
    before = {name: p.clone() for name, p in target.model.named_parameters()}
    reader = HeadReader(head, CachedModel(target))
    reader.catch_up([1, 2, 3, 4])
    reader.logits([1, 2, 3, 4, 5, 6])
    assert all(torch.equal(p, before[name]) for name, p in target.model.named_parameters())
    assert head.embedding.data_ptr() == target.model.get_input_embeddings().weight.data_ptr()
    plain = target.model(torch.tensor([[1, 2, 3]]))
    assert getattr(plain, "hidden_states", None) is None  # nobody else's passes keep anything


def test_a_head_is_found_by_the_targets_own_numbers_whatever_format_holds_them(tmp_path):
    for dtype in ("float32", "bfloat16"):
        assert head_of(load_model(tiny.folder("ctx_t"), dtype=dtype)) == "head of ctx_t"
    assert head_of(load_model(tiny.folder("bytes_lm"), dtype="float32")) is None


@pytest.mark.parametrize(
    ("owner", "other", "why"),
    [
        ("ctx_t", "target12", "states of 32 numbers and target12 has 16"),
        ("ctx_t", "ctx_d", "4 layers and ctx_d has 1"),
        ("target12", "padtarget16", "12 token ids and padtarget16 has 16"),
    ],
)
def test_a_head_of_another_target_is_an_error_in_a_sentence(owner, other, why):
    loaded = load_model(tiny.folder(other), dtype="float32")
    folder = head_store.HEADS[f"head of {owner}"]
    with pytest.raises(ModelError, match=f"head of {owner} belongs to another model: it reads {why}; choose"):
        load_head(folder, loaded)


def test_a_target_of_equal_sizes_with_another_embedding_is_an_error(tmp_path, target):
    tiny.write_head(tmp_path / "head", tiny.folder("ctx_t"))
    state = load_file(tmp_path / "head" / "head.safetensors")
    state["sketch"] = state["sketch"] + 0.02 * torch.randn(state["sketch"].shape)
    save_file(state, tmp_path / "head" / "head.safetensors")
    assert mismatch(tmp_path / "head", target) is None  # rounded a little
    state["sketch"] = torch.randn(state["sketch"].shape, generator=torch.Generator().manual_seed(1))
    save_file(state, tmp_path / "head" / "head.safetensors")
    assert "embedding of ctx_t is another one" in mismatch(tmp_path / "head", target)


@pytest.mark.parametrize("spoil", ["config", "kind", "weights", "cut", "missing"])
def test_a_damaged_head_says_what_to_do(tmp_path, target, spoil):
    folder = tmp_path / "head"
    tiny.write_head(folder, tiny.folder("ctx_t"))
    config = json.loads((folder / "config.json").read_text())
    if spoil == "config":
        (folder / "config.json").write_text("{")
    elif spoil == "kind":
        (folder / "config.json").write_text(json.dumps(config | {"kind": "llama"}))
    elif spoil == "weights":
        (folder / "head.safetensors").unlink()
    elif spoil == "cut":
        whole = (folder / "head.safetensors").read_bytes()
        (folder / "head.safetensors").write_bytes(whole[: len(whole) // 2])
    else:
        shutil.rmtree(folder)
    with pytest.raises(ModelError, match=r"head .*(not a feature head|damaged or incomplete); \w+ .*\."):
        load_head(folder, target)


def test_what_is_saved_is_what_was_trained_to_within_its_rounding(tmp_path, target, head):
    save_head(tmp_path / "again", head.network, head.rows, target, "a card")
    again = load_head(tmp_path / "again", target)
    assert torch.equal(again.rows, head.rows)
    for (name, one), two in zip(head.network.state_dict().items(), again.network.state_dict().values(), strict=True):
        assert (one - two).norm() <= 0.01 * one.norm(), name
