"""The command line says what happened, and an error is one sentence on stderr."""

import io
import json
from pathlib import Path

import pytest

from specviz.__main__ import main
from specviz.core.output_files import check_file
from specviz.core.prompts import PRESETS
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.experiments import bench
from specviz.experiments.assisted import NotComparable
from specviz.experiments.bench import ASSISTED, FIELDS, SCHEMA
from specviz.models import loading
from specviz.models.loading import load_pair
from specviz.models.pair import Pair
from specviz.recordings import gallery, studio
from specviz.traces.trace import Trace
from tests import tiny


def run(*more):
    return main(["run", "--target", str(tiny.folder("target12")), "--draft", str(tiny.folder("draft12")), *more])


def test_a_run_prints_its_steps_and_saves_its_trace(tmp_path, capsys):
    path = tmp_path / "trace.json"
    code = run(
        "--prompt-ids", "5,10,3", "--k", "3", "--seed", "7", "--max-new-tokens", "9", "--baseline", "--json", str(path)
    )
    out = capsys.readouterr().out
    assert code == 0 and "9 tokens in" in out and "acceptance rate (of tested)" in out and "speed-up" in out
    trace = Trace.from_json(path.read_text())
    assert trace.prompt_ids == (5, 10, 3) and len(trace.output_ids) == 9 and trace.baseline is not None


def test_at_temperature_0_the_tick_is_printed(capsys):
    assert (
        run("--prompt", "w1", "--temperature", "0", "--strategy", "greedy", "--max-new-tokens", "5", "--baseline") == 0
    )
    assert "writes the same 5 tokens" in capsys.readouterr().out


def test_a_run_is_made_again_from_the_costs_in_its_trace(tmp_path, capsys):
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    more = ("--prompt-ids", "5,10,3", "--max-new-tokens", "30", "--draft-length", "cost-aware", "--k", "6")
    assert run(*more, "--json", str(first)) == 0
    out = capsys.readouterr().out
    assert "costs of sampling, in target passes: c " in out and "a pass; block efficiency" in out and "drafted " in out
    assert run(*more, "--costs", str(first), "--json", str(again)) == 0
    one, other = (Trace.from_json(path.read_text()) for path in (first, again))
    assert one.costs == other.costs != {} and [s.k for s in one.steps] == [s.k for s in other.steps]


def test_a_draft_length_and_its_knob(tmp_path, capsys):
    path = tmp_path / "trace.json"
    options = ("--draft-length", "confidence", "--option", "confidence_threshold=1", "--json", str(path))
    assert run("--prompt", "w1", *options, "--max-new-tokens", "9") == 0
    trace = Trace.from_json(path.read_text())
    assert {len(s.tokens) for s in trace.steps[:-1]} == {1} and trace.steps[0].draft_stop == "confidence"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--prompt", "w1", "--draft-length", "magic"), "no draft length named"),
        (("--prompt", "w1", "--option", "confidence_threshold=x"), "confidence threshold must be"),
        (("--prompt", "w1", "--costs", "missing.json"), "cannot be read"),
        (("--prompt", "w1", "--costs", "README.md"), "not a specviz trace"),
        (("--prompt", "w1", "--costs", str(tiny.folder("target12") / "model.safetensors")), "cannot be read"),
        (("--prompt", "w1", "--costs", "tests"), "cannot be read"),
        (("--prompt", "w1", "--k", "2.5"), "K must be a whole number"),
        (("--prompt", "w1", "--k", "x"), "K must be a whole number"),
        (("--prompt", "w1", "--strategy", "magic"), "no strategy named"),
        (("--prompt", ""), "Type a prompt"),
        (("--prompt-ids", "5,99"), "whole numbers from 0 to 11"),
        (("--prompt-ids", "a"), "whole numbers"),
        (("--prompt", "w1", "--chat"), "chat template"),
        (("--prompt", "w1", "--option", "magic=1"), "No strategy has a knob"),
        (("--prompt", "w1", "--temperature", "nan"), "temperature must be"),
    ],
)
def test_bad_input_is_one_sentence_on_stderr(arguments, sentence, capsys):
    assert run(*arguments) == 1
    err = capsys.readouterr().err.strip().splitlines()[-1]
    assert err.startswith("specviz: ") and sentence in err


def test_models_are_listed(capsys):
    assert main(["models"]) == 0
    assert "SmolLM2-135M-Instruct" in capsys.readouterr().out


def test_bench_prints_ratios_on_tiny_models(tmp_path, capsys):
    path = tmp_path / "bench.json"
    folders = ["--target", str(tiny.folder("bytes_lm")), "--draft", str(tiny.folder("bytes_lm"))]
    assert main(["bench", *folders, "--tokens", "6", "--k", "2", "3", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "specviz ÷ transformers" in out and "recording" in out and "speed-up" in out
    saved = json.loads(path.read_text())
    rows = saved.pop("rows")
    # flat: whatever reads tables reads this; every column is explained, and no text of anybody is in it
    flat = (str, int, float, bool, type(None))
    assert all(isinstance(value, flat) for row in [saved, *rows] for value in row.values())
    assert all(list(row) == list(FIELDS) for row in rows)
    assert (saved["schema"], saved["target"], saved["dtype"], saved["prompts"]) == (
        SCHEMA,
        "bytes_lm",
        "float32",
        len(PRESETS),
    )
    assert saved["processor"] and saved["device"] == "cpu"
    lanes = {(row["lane"], row["k"]) for row in rows}
    assert lanes >= {("target alone", 0), *((lane, k) for lane in ("greedy", ASSISTED) for k in (2, 3))}
    greedy = next(row for row in rows if row["lane"] == "greedy")
    assert greedy["acceptance_rate"] == 1 and greedy["same"] is True and greedy["worst_speed_up"] > 0
    assisted = next(row for row in rows if row["lane"] == ASSISTED and row["k"] == greedy["k"])
    assert (
        greedy["transformers_tokens_per_s"] == pytest.approx(assisted["tokens_per_s"])
        and greedy["over_transformers"] > 0
    )
    assert "transformers" in out.rsplit("Strategies at", 1)[1]


def test_a_bench_of_one_strategy_without_transformers(capsys, tmp_path):
    folders = ["--target", str(tiny.folder("bytes_lm")), "--draft", str(tiny.folder("bytes_lm"))]
    few = ["--strategy", "sampling", "--rounds", "0", "--tokens", "4", "--temperature", "1"]
    few += ["--draft-length", "cost-aware", "--chart", str(tmp_path / "chart.svg")]
    assert main(["bench", *folders, *few]) == 0
    out = capsys.readouterr().out
    assert "÷ transformers" not in out and "sampling" in out and "greedy" not in out and "cost-aware" in out
    assert ">sampling, K = 4</text>" in (tmp_path / "chart.svg").read_text("utf-8")
    assert main(["bench", *folders, "--strategy", "magic", "--rounds", "0"]) == 1
    assert "no strategy named 'magic'" in capsys.readouterr().err


def test_a_bench_of_random_weights_needs_no_models_and_says_so(tmp_path, capsys):
    path = tmp_path / "bench.json"
    few = ["--tokens", "12", "--prompts", "1", "--device", "cpu", "--dtype", "float32", "--json", str(path)]
    assert main(["bench", "--random", "tiny", "--k", "3", *few]) == 0
    saved = json.loads(path.read_text())
    assert saved["target"] == "random-tiny" and "Random weights" in saved["notes"] and saved["prompts"] == 1
    rows = {row["lane"]: row for row in saved["rows"]}
    assert set(rows) == {"target alone", "greedy", "sampling", "beam search", "prompt lookup", ASSISTED}
    assert rows["greedy"]["same"] is True and rows["greedy"]["tokens"] == 12
    assert 0 < rows["greedy"]["accepted"] <= rows["greedy"]["tested"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--random", "900b"), "no random model of size '900b'; choose one of: tiny, 1b"),
        (("--random", "tiny", "--prompts", "0"), "--prompts must be a whole number from 1"),
        (("--random", "tiny", "--json", "/nowhere/x.json"), "no folder '/nowhere'"),
        (("--random", "tiny", "--chart", "/nowhere/x.svg"), "no folder '/nowhere' to save the chart"),
        (("--random", "tiny", "--rounds", "-1"), "--rounds must be a whole number from 0"),
        (("--random", "tiny", "--rounds", "x"), "--rounds must be a whole number from 0"),
        (("--random", "tiny", "--tokens", "0"), "new tokens must be a whole number from 1"),
        (("--random", "tiny", "--k", "4", "99"), "K must be a whole number from 0 to 32"),
        (("--random", "tiny", "--temperature", "-1"), "temperature must be"),
        (("--random", "tiny", "--draft-length", "magic"), "no draft length named"),
        (("--random", "tiny", "--strategy", "magic"), "no strategy named"),
    ],
)
def test_what_is_wrong_with_a_bench_is_one_sentence_before_any_work(arguments, sentence, capsys, monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("the bench began")

    monkeypatch.setattr(bench, "bench", work)
    assert main(["bench", *arguments]) == 1
    assert sentence in capsys.readouterr().err


# what cannot be written, what a console cannot show, what runs instead


def files(tmp_path):
    """Paths that cannot be written, for any user: a folder, a file in a missing folder, a file below a file."""
    (tmp_path / "file").write_text("")
    return tmp_path, tmp_path / "missing" / "x", tmp_path / "file" / "x"


def no_work(monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("models were loaded")

    monkeypatch.setattr(loading, "load_pair", work)
    monkeypatch.setattr(loading, "load_model", work)


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize(
    "command", [("run", "--prompt", "w1", "--json"), ("bench", "--json"), ("bench", "--chart")], ids=" ".join
)
def test_an_output_file_is_checked_before_the_work(command, which, tmp_path, monkeypatch, capsys):
    no_work(monkeypatch)
    assert main([*command, str(files(tmp_path)[which])]) == 1
    err = capsys.readouterr().err.strip().splitlines()
    assert len(err) == 1 and err[0].startswith("specviz: ") and "to save the" in err[0]


@pytest.mark.parametrize("command", [("record", "--only", "copy", "--to"), ("distill", "--out")], ids=" ".join)
def test_an_output_folder_is_checked_before_the_work(command, tmp_path, monkeypatch, capsys):
    no_work(monkeypatch)
    assert main([*command, str(files(tmp_path)[2])]) == 1
    assert "choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--prompts", "--outputs"])
def test_an_input_file_of_a_distillation_is_checked_before_the_work(option, tmp_path, monkeypatch, capsys):
    no_work(monkeypatch)
    assert main(["distill", "--out", str(tmp_path / "out"), option, str(tmp_path / "missing")]) == 1
    assert f"{option} {tmp_path / 'missing'} cannot be read" in capsys.readouterr().err


def test_a_check_leaves_no_file_behind_and_keeps_what_is_there(tmp_path):
    check_file(tmp_path / "new.json", "the trace")
    (tmp_path / "old.json").write_text("old")
    check_file(tmp_path / "old.json", "the trace")
    assert [p.name for p in tmp_path.iterdir()] == ["old.json"] and (tmp_path / "old.json").read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_is_full_at_the_end_is_one_sentence(capsys):
    assert run("--prompt", "w1", "--max-new-tokens", "2", "--json", "/dev/full") == 1
    assert "could not be saved in '/dev/full'" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_on_a_console_that_is_not_utf_8_each_fate_keeps_its_mark_and_the_trace_is_saved(
    encoding, tmp_path, monkeypatch
):
    console = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr("sys.stdout", console)
    path = tmp_path / "trace.json"
    assert run("--prompt", "w1", "--max-new-tokens", "6", "--baseline", "--json", str(path)) == 0
    assert main(["models"]) == 0
    console.flush()
    out = console.buffer.getvalue().decode(encoding)
    assert "= accepted  x rejected  . untested  ~ resampled  + bonus" in out
    assert len(Trace.from_json(path.read_text("utf-8")).output_ids) == 6


@pytest.mark.parametrize("command", [("run", "--prompt", "w1", "--max-new-tokens", "2"), ("record", "--only", "copy")])
def test_another_pair_than_the_one_asked_for_is_reported(command, tmp_path, monkeypatch, capsys):
    sentence = "default is unavailable: another runs instead."
    loaded = load_pair(tiny.folder("target12"), tiny.folder("draft12"))
    monkeypatch.setattr(loading, "load_pair", lambda *a, **k: Pair(loaded.target, loaded.draft, (sentence,), sentence))
    monkeypatch.setattr(
        studio, "make", lambda pair, name, folder: engine.run(pair, "w1", RunSettings(max_new_tokens=2))
    )
    path = tmp_path / "trace.json"
    assert main([*command, *(("--json", str(path)) if command[0] == "run" else ("--to", str(tmp_path)))]) == 0
    assert f"note: {sentence}" in capsys.readouterr().err
    if command[0] == "run":
        assert Trace.from_json(path.read_text("utf-8")).pair["instead"] == sentence


def test_a_bench_whose_draft_knows_fewer_ids_says_how_it_was_made_comparable(tmp_path, capsys):
    path = tmp_path / "bench.json"
    folders = ["--target", str(tiny.folder("bytes_lm", padded=16)), "--draft", str(tiny.folder("bytes_lm"))]
    few = ["--tokens", "6", "--prompts", "1", "--strategy", "greedy", "--json", str(path)]
    assert main(["bench", *folders, *few]) == 0
    saved = json.loads(path.read_text("utf-8"))
    assert (
        "are fitted to the target's" in saved["transformers_note"]
        and saved["transformers_note"] in capsys.readouterr().out
    )
    assert {row["lane"] for row in saved["rows"]} == {"target alone", "greedy", ASSISTED}


def test_a_bench_that_transformers_cannot_run_keeps_its_table_and_gives_the_reason(tmp_path, capsys, monkeypatch):
    def fails(*args, **kwargs):
        raise NotComparable("transformers cannot decode with this pair (ValueError: stateful).")

    monkeypatch.setattr(bench, "assisted", fails)
    path = tmp_path / "bench.json"
    few = ["--tokens", "6", "--prompts", "1", "--strategy", "greedy", "--json", str(path)]
    assert main(["bench", "--random", "tiny", "--device", "cpu", *few]) == 0
    out, saved = capsys.readouterr().out, json.loads(path.read_text("utf-8"))
    assert "transformers: not measured: transformers cannot decode" in out and "stateful" in saved["transformers_note"]
    rows = {row["lane"]: row for row in saved["rows"]}
    assert set(rows) == {"target alone", "greedy"} and rows["greedy"]["transformers_tokens_per_s"] is None


def test_export_writes_a_recording_or_a_saved_trace_as_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.json").write_text(gallery.read("copy").to_json(), encoding="utf-8")
    assert main(["export", "explanation", "--step", "12", "--language", "de"]) == 0
    assert main(["export", "mine.json", "--out", "other.html", "--title", "Mine"]) == 0
    assert '<html lang="de">' in (tmp_path / "explanation.html").read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in (tmp_path / "other.html").read_text(encoding="utf-8")
    assert "explanation.html: 44 steps" in capsys.readouterr().out
    assert main(["export", "missing.json"]) == 1
    assert "give a saved trace, or the name of a recording: explanation" in capsys.readouterr().err
