"""One table of commands: each has its file, a pipe that closes early ends any of them quietly, extras are named."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import specviz
from specviz import commands
from specviz.__main__ import CLOSED_PIPE, EXTRAS, main
from tests import tiny

ROOT = Path(__file__).resolve().parents[2]
RUN = ["run", "--prompt", "w1", "--max-new-tokens", "4"]


def test_each_file_of_the_folder_is_a_command_and_each_command_a_file():
    files = {path.stem for path in Path(commands.__file__).parent.glob("*.py")} - {"__init__", "base"}
    assert set(commands.COMMANDS) == files
    assert {command.__name__.split(".")[-1] for command in commands.COMMANDS.values()} == files


def test_help_lists_every_command_and_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0 and all(f"\n    {name} " in out for name in commands.COMMANDS)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"specviz {specviz.__version__}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error there")
@pytest.mark.parametrize("arguments", [RUN, ["--version"]], ids=["while it runs", "at its end"])
def test_a_pipe_that_is_closed_early_ends_the_command_quietly(arguments):
    if arguments is RUN:
        arguments = [*RUN, "--target", str(tiny.folder("target12")), "--draft", str(tiny.folder("draft12"))]
    reader, writer = os.pipe()
    os.close(reader)  # nobody reads, from the first line on
    words = [sys.executable, "-m", "specviz", *arguments]
    # as in a user's shell: what is printed stays in Python's buffer until it is flushed
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    try:
        done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    finally:
        os.close(writer)
    assert done.returncode == CLOSED_PIPE
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr, done.stderr


@pytest.mark.parametrize("package", EXTRAS)
def test_a_command_without_its_extra_says_which_to_install(package, monkeypatch, capsys):
    def call(args):
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(commands.models, "call", call)
    assert main(["models"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"specviz: models needs {package}, which is not installed; run pip install {package} or")
    assert f"'.[{EXTRAS[package]}]'" in err and err.count("\n") == 1


def test_a_fault_of_the_program_is_not_called_a_missing_extra(monkeypatch):
    def call(args):
        raise ModuleNotFoundError("No module named 'specviz.gone'", name="specviz.gone")

    monkeypatch.setattr(commands.models, "call", call)
    with pytest.raises(ModuleNotFoundError):
        main(["models"])


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.startswith(package) for line in extras[extra])
