"""All five stages through the command line on a tiny target, whole, interrupted and spoilt."""

import json
import shutil

import numpy as np
import pytest
import torch

import specviz
from specviz.__main__ import main
from specviz.commands import distill as command
from specviz.distill import outputs, stages, students, train
from specviz.distill.llama import Shape
from specviz.distill.recipe import Recipe
from tests import tiny

SMALL = {
    "answers": 24,
    "shard": 8,
    "rows": 8,
    "new-tokens": 12,
    "top": 8,
    "epochs": 6,
    "batch-tokens": 400,
    "random-ids": 64,
    "held-out": 0.2,
    "learning-rate": 0.005,
    "dtype": "float32",
}
SMALL = [part for name, value in SMALL.items() for part in (f"--{name}", str(value))]


@pytest.fixture(scope="module", autouse=True)
def small_is_smaller_here():
    with pytest.MonkeyPatch.context() as patch:
        shape = Shape(hidden=16, layers=1, heads=2, kv_heads=1, feed_forward=32)
        patch.setitem(students.STUDENTS, "small", students._llama("", shape))
        yield


def distill(out, *more, target="bytes_lm"):
    return main(["distill", "--target", str(tiny.folder(target)), "--out", str(out), *SMALL, *more])


@pytest.fixture(scope="module")
def made(tmp_path_factory, small_is_smaller_here):
    out = tmp_path_factory.mktemp("distill")
    assert distill(out) == 0
    return out


def lines(out, student="small"):
    return [json.loads(line) for line in (out / student / "log.jsonl").read_text().splitlines()]


def copied(made, tmp_path, *names):
    for name in names:
        source = made / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    return tmp_path


def answers(out):
    return {file.name: dict(np.load(file)) for file in sorted((out / "outputs").glob("*.npz"))}


def same(one, other):
    return one.keys() == other.keys() and all(
        (one[f][a] == other[f][a]).all() for f in one for a in one[f] if len(one[f][a])
    )


def test_what_comes_out_is_a_draft_that_loads_and_drafts(made):
    folder = made / "bytes-lm-draft-small"
    pair = specviz.load_pair(tiny.folder("bytes_lm"), folder, dtype="float32")
    settings = specviz.RunSettings(strategy="sampling", k=3, max_new_tokens=12, seed=2)
    trace = specviz.run(pair, "Tell me about rain.", settings)
    assert any(step.tokens for step in trace.steps)
    card = (folder / "README.md").read_text()
    assert "license: other" in card and "base_model: bytes_lm" in card and "| 0.8 |" in card
    assert not list(made.rglob("*.partial"))


def test_the_answers_are_the_targets_own(made):
    shard = answers(made)["00000.npz"]
    model = specviz.load_pair(tiny.folder("bytes_lm"), dtype="float32").target
    end = shard["prompt_lengths"].cumsum()
    begin_answer = shard["answer_lengths"].cumsum() - shard["answer_lengths"]
    for text in range(len(end)):
        prompt = shard["prompt_ids"][end[text] - shard["prompt_lengths"][text] : end[text]].tolist()
        rows = slice(begin_answer[text], begin_answer[text] + shard["answer_lengths"][text])
        answer = shard["answer_ids"][rows].tolist()
        from_scratch = torch.log_softmax(_logits(model, prompt + answer)[len(prompt) - 1 : -1], -1)
        kept = torch.from_numpy(shard["top_logprobs"][rows].astype(np.float32))
        assert torch.allclose(from_scratch.topk(8).values, kept, atol=5e-3)
        assert 256 not in answer[:-1]  # nothing after the end token
        if shard["temperature"][text] == 0:
            assert answer == shard["top_ids"][rows][:, 0].tolist()


def _logits(model, ids):
    with torch.inference_mode():
        return model.model(torch.tensor([ids])).logits[0]


def test_a_second_call_finds_all_done(made, monkeypatch, capsys):
    monkeypatch.setattr(outputs, "answers", lambda *a: pytest.fail("asked the target again"))
    monkeypatch.setattr(train, "_step", lambda *a: pytest.fail("trained again"))
    assert distill(made) == 0
    assert "24 answers" in capsys.readouterr().out


def test_stopped_between_two_files_it_goes_on_to_the_same_answers(made, tmp_path, monkeypatch, capsys):
    real, calls = outputs.answers, []

    def stopped(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(outputs, "answers", stopped)
    assert distill(tmp_path) == 1 and "same command again" in capsys.readouterr().err
    assert len(answers(tmp_path)) == 2
    (tmp_path / "outputs" / "00002.npz.partial").write_bytes(b"half a file")
    assert distill(tmp_path, "--stage", "outputs") == 0
    assert len(calls) == 4  # the third file only
    assert same(answers(tmp_path), answers(made))


def test_a_damaged_file_is_named_and_made_anew(made, tmp_path, capsys):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs")
    file = out / "outputs" / "00001.npz"
    file.write_bytes(file.read_bytes()[:-100])
    assert distill(out, "--stage", "train") == 1 and "00001.npz is damaged" in capsys.readouterr().err
    assert distill(out, "--stage", "outputs") == 0 and "00001.npz is damaged" in capsys.readouterr().err
    assert same(answers(out), answers(made))


def test_training_stopped_in_the_middle_ends_at_the_same_weights(made, tmp_path, monkeypatch):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs")
    real, calls = train._step, []

    def stopped(*arguments):
        calls.append(1)
        if len(calls) == 10:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(train, "_step", stopped)
    monkeypatch.setattr(train, "SAVE_SECONDS", 0)
    assert distill(out, "--stage", "train") == 1
    assert train.checkpoint(out / "small" / "checkpoint.pt")["step"] == 9
    assert distill(out, "--stage", "train") == 0
    whole, halves = (train.checkpoint(o / "small" / "checkpoint.pt") for o in (made, out))
    assert len(calls) == whole["step"] + 1
    assert all(torch.equal(a, halves["module"][name]) for name, a in whole["module"].items())


def test_the_loss_falls(tmp_path, made):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs")
    assert distill(out, "--stage", "train", "--epochs", "25", "--overlap-share", "0") == 0
    log = lines(out)
    assert log[-1]["loss"] < log[0]["loss"] - 0.2 and log[-1]["overlap"] > 0
    assert {"step", "steps", "loss", "minutes", "agreement", "places"} <= log[-1].keys()


def test_a_budget_ends_training_early(tmp_path, made):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs")
    assert distill(out, "--stage", "train", "--epochs", "10000", "--budget-minutes", "0.02") == 0
    assert lines(out)[-1]["step"] < lines(out)[-1]["steps"]


def test_answers_made_elsewhere_and_a_draft_to_go_on_from(made, tmp_path):
    corpus = made / "outputs" / "00000.npz"
    start = str(made / "bytes-lm-draft-small")
    assert distill(tmp_path, "--outputs", str(corpus), "--start", start) == 0
    assert "going on from bytes-lm-draft-small" in (tmp_path / "bytes-lm-draft-small" / "README.md").read_text()


def test_prompts_from_a_file_for_a_tokenizer_of_whole_words(tmp_path):
    file = tmp_path / "prompts.txt"
    file.write_text("w1 w2 w3\nw4 w5\nunknown words\nw6\nw7 w8\n")
    code = distill(tmp_path / "out", "--prompts", str(file), "--stage", "prompts", target="ctx_t")
    assert code == 0
    assert distill(tmp_path / "out", "--prompts", str(file), target="ctx_t") == 0


def test_the_gpu_scale_asks_for_a_hundred_times_the_data():
    plain = Recipe(target="default", out=".")
    assert plain.with_scale("gpu").answers == 100 * plain.answers


def test_the_gpu_scale_runs_whole_with_tiny_sizes(tmp_path):
    sizes = {"answers": 40, "rows": 4096, "shard": 64, "new-tokens": 6, "held-out": 0.2, "epochs": 2}
    options = [part for name, value in sizes.items() for part in (f"--{name}", str(value))]
    target = str(tiny.folder("bytes_lm"))
    assert main(["distill", "--target", target, "--out", str(tmp_path), "--scale", "gpu", *options]) == 0
    assert len(answers(tmp_path)) == 1 and (tmp_path / "bytes-lm-draft-small" / "README.md").exists()


def test_the_command_line_names_the_stages_that_there_are():
    assert tuple(stages.STAGES) == command.STAGE_NAMES


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--stage", "outputs"), "run the stage prompts first"),
        (("--stage", "train"), "run the stage prompts first"),
        (("--stage", "evaluate"), "run the stage train first"),
        (("--stage", "export"), "run the stage train first"),
        (("--stage", "magic"), "no stage 'magic'"),
        (("--student", "magic"), "no student 'magic'"),
        (("--student", "tiny", "--stage", "all"), "no stage"),
        (("--scale", "moon"), "no scale 'moon'"),
        (("--answers", "1"), "--answers must be a whole number"),
        (("--epochs", "x"), "--epochs must be a number"),
        (("--temperatures", "0,warm"), "numbers with commas"),
        (("--prompts", "/nowhere/prompts.txt"), "cannot be read"),
        (("--rows", "65536", "--shard", "1000000", "--new-tokens", "400"), "ask for fewer --rows"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, arguments, sentence, capsys, monkeypatch):
    if "--rows" in arguments:
        monkeypatch.setattr(outputs, "free_memory", lambda device: 10**8)
    assert distill(tmp_path, *arguments) == 1
    err = [line for line in capsys.readouterr().err.splitlines() if line.startswith("specviz: ")]
    assert len(err) == 1 and sentence in err[0]


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("t5", "encoder-decoder"), ("recurrent", "choose a transformer"), ("target12", "too few prompts")],
)
def test_a_target_that_cannot_be_used_is_an_error_before_anything_is_made(tmp_path, target, sentence, capsys):
    assert distill(tmp_path, target=target) == 1
    assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "outputs").exists()


def test_no_room_on_the_disk_is_said_before_the_target_is_asked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(outputs.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10, 10, 1000))
    assert distill(tmp_path) == 1
    assert "make room or ask for fewer --answers" in capsys.readouterr().err


def test_other_choices_in_the_same_folder_are_errors(made, capsys):
    assert distill(made, "--answers", "30") == 1
    assert "was begun with answers 24, and now it is 30" in capsys.readouterr().err


def test_a_corpus_of_another_model_is_an_error(made, tmp_path, capsys):
    other = tiny.folder("bytes_lm", padded=8)  # other random weights under the same ids
    arguments = ["--out", str(tmp_path), *SMALL, "--outputs", str(made / "outputs" / "00000.npz")]
    assert main(["distill", "--target", str(other), *arguments]) == 1
    assert "was not written by bytes_lm" in capsys.readouterr().err


def test_a_draft_with_another_tokenizer_is_an_error(made, tmp_path, capsys):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs")
    assert distill(out, "--stage", "train", "--start", str(tiny.folder("pieces_lm"))) == 1
    assert "different vocabularies" in capsys.readouterr().err


def test_half_a_vocabulary_of_bytes_is_an_error_before_training(made, tmp_path, capsys):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs")
    assert distill(out, "--stage", "train", "--student", "tiny") == 1
    assert "cannot be cut in two" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_named(made, tmp_path, capsys):
    out = copied(made, tmp_path, "prompts.npz", "recipe.json", "outputs", "small")
    file = out / "small" / "checkpoint.pt"
    file.write_bytes(file.read_bytes()[:1000])
    assert distill(out, "--stage", "train") == 1
    assert "checkpoint.pt is damaged; remove it" in capsys.readouterr().err
