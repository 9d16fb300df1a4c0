"""The command line says what happened, and an error is one sentence on stderr."""

import json

import pytest

from specviz.__main__ import main
from specviz.trace import Trace
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
    rows = json.loads(path.read_text())["strategies"]
    assert {(row["lane"], row["k"]) for row in rows} >= {("target alone", 0), ("greedy", 2), ("greedy", 3)}
    greedy = next(row for row in rows if row["lane"] == "greedy")
    assert greedy["acceptance_rate"] == 1 and greedy["same"] is True and greedy["worst_speed_up"] > 0


def test_a_bench_of_one_strategy_without_transformers(capsys):
    folders = ["--target", str(tiny.folder("bytes_lm")), "--draft", str(tiny.folder("bytes_lm"))]
    few = ["--strategy", "sampling", "--rounds", "0", "--tokens", "4", "--temperature", "1"]
    assert main(["bench", *folders, *few]) == 0
    out = capsys.readouterr().out
    assert "÷ transformers" not in out and "sampling" in out and "greedy" not in out
    assert main(["bench", *folders, "--strategy", "magic", "--rounds", "0"]) == 1
    assert "no strategy named 'magic'" in capsys.readouterr().err
