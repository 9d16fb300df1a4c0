"""Every command and every block of code in README.md, CONTRIBUTING.md and docs/ runs to its end on the real default pair.

Long ones run with the small sizes that `SMALL` appends; all of these are options in `--help`. What is not in a table
here is a failure: a command that is in the documents and that nobody runs.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from specviz.models.loading import load_pair
from specviz.traces.trace import Trace
from tests.ui.test_readme_examples import EXAMPLES

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ADDRESS = "http://127.0.0.1:7860"

BLANKS = {'"…"': '"Name three colours."', "owner/model": "default", "NAME": "copy", "TARGET": "default"}
"""What stands in the documents for a reader's own value."""
SMALL = {
    "python -m specviz run": "--max-new-tokens 8",
    "python -m specviz models": "",
    "python -m specviz bench": "--prompts 1 --tokens 4 --strategy greedy",
    "python -m specviz bench --rounds 0": "--prompts 1 --tokens 4",
    "python -m specviz record": "--only copy --to {room}/recordings",
    "python -m specviz record --only": "--to {room}/recordings",
    "python -m specviz distill": "--out {room}/drafts --answers 8 --new-tokens 8 --held-out 0.5 --epochs 1",
    "python -m specviz distill --out drafts --scale gpu": "--out {room}/gpu --answers 8 --new-tokens 8 --held-out 0.5 --epochs 1",
    "python -m specviz.models.table_maker": "--out {room}/table.safetensors",
    "python -m specviz gallery": "{room}/site",
    "python -m specviz gallery OUT": "",
    "python -m specviz export": "copy --out {room}/copy.html",
    "python -m specviz export explanation": "--out {room}/run.html",
    "python docs/make_map.py": "",
    "python -m tests.bench_first_play": "--rounds 1 --tokens 4 --examples 1",
    "python -m tests.bench_page": "--rounds 1 --tokens 8",
    "python -m pytest -m slow": "--collect-only -n 0 tests/sessions/test_drive.py",
    "python -m pytest": "--collect-only -n 0 tests/core/test_coins.py",
}
"""Beginning of a command → what is added to it. The longest that fits counts."""
SERVERS = ("python app.py", "python app.py --mcp", "python -m specviz app")
"""Commands that do not end by themselves: run until their page answers."""
BESIDE_OTHERS = {"OMP_NUM_THREADS": "1"}
"""For processes of their own: with a thread for each core they would wait for the tests beside them at every pass."""
OWN_PROCESS = ("python -m tests.", "python -m pytest", "python docs/")


def blocks(text: str) -> list[tuple[str, str]]:
    """(language, code) of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M)


def inline(text: str) -> list[str]:
    """Commands between single backticks, those over two lines included."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return [" ".join(c.split()) for c in re.findall(r"`((?:python|pip) [^`]+)`", outside)]


def commands(text: str) -> list[str]:
    """Of inline code and of the blocks for a shell, but those that call a running app."""
    found = inline(text)
    for language, code in blocks(text):
        if language in ("bash", "sh", "console") and ADDRESS not in code:
            lines = code.replace("\\\n", " ").splitlines()
            found += [part.strip() for line in lines for part in line.split("&&") if part.strip()]
    return found


TEXTS = [document.read_text(encoding="utf-8") for document in DOCUMENTS]
COMMANDS = list(dict.fromkeys(command for text in TEXTS for command in commands(text)))
INSTALLS = [command for command in COMMANDS if command.startswith("pip install ")]
RUNNABLE = [command for command in COMMANDS if command not in (*INSTALLS, *SERVERS)]
BLOCKS = [block for text in TEXTS for block in blocks(text)]
PYTHON = [code for language, code in BLOCKS if language == "python" and ADDRESS not in code]


def added(command: str) -> str | None:
    """What is appended to make the command small; None for one that no table knows."""
    fitting = [start for start in SMALL if f"{command} ".startswith(f"{start} ")]
    return SMALL[max(fitting, key=len)] if fitting else None


# what the documents hold: no model is needed for these


def test_there_is_no_command_that_nobody_runs():
    assert {"python app.py", "python -m specviz bench", "python -m pytest"} <= set(COMMANDS)
    assert [command for command in RUNNABLE if added(command) is None] == []


def test_a_command_unknown_to_the_tables_is_found():
    text = "Type `python -m specviz fly` or\n```bash\nmake all && python x.py \\\n  --now\n```\nor `python -m\nspecviz run`."
    assert commands(text) == ["python -m specviz fly", "python -m specviz run", "make all", "python x.py    --now"]
    assert [added(command) for command in commands(text)] == [None, "--max-new-tokens 8", None, None]


def test_there_is_no_block_of_code_that_nobody_runs():
    # the last three are drawings, and pages around a run
    known = {"bash", "sh", "console", "python", "text", "", "html"}
    assert {language for language, _ in BLOCKS} <= known
    calls = [(language, code) for language, code in BLOCKS if ADDRESS in code]
    assert all(call in EXAMPLES for call in calls), "run by tests/ui/test_readme_examples.py"
    assert not [
        code for language, code in BLOCKS if language in ("", "text") and re.search(r"^(\$|pip|python) ", code, re.M)
    ]


@pytest.mark.parametrize("command", INSTALLS)
def test_what_is_installed_is_named_in_a_file_that_is_there(command):
    words = shlex.split(command)[2:]
    for option, file in pairwise(words):
        assert option != "-r" or (ROOT / file).is_file()
    for extra in re.findall(r"\[(.+)\]", words[-1]):
        assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert words


# on the default pair


@pytest.fixture(scope="module")
def default_pair():
    """Held for all commands of this file, so that it is loaded once; other tests forbid fetching."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SPECVIZ_OFFLINE", raising=False)
        pair = load_pair("default")
        assert not pair.instead, pair.notes
        yield pair


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """Where the commands write; with a file of answers for the table of n-grams."""
    folder = tmp_path_factory.mktemp("room")
    answers = np.tile(np.arange(40, 60), 6)
    np.savez(folder / "outputs.npz", answer_ids=answers, answer_lengths=np.full(6, 20))
    return folder


@pytest.mark.real
@pytest.mark.parametrize("command", RUNNABLE)
def test_a_command_runs_to_its_end(command, default_pair, room, monkeypatch):
    line = f"{command} {added(command)}".format(room=room)
    for blank, value in (BLANKS | {" OUT ": f" {room / 'site'} ", "OUTPUTS.npz": str(room / "outputs.npz")}).items():
        line = line.replace(blank, value)
    words = shlex.split(line)
    if line.startswith(OWN_PROCESS):
        environment = {name: value for name, value in os.environ.items() if name != "SPECVIZ_OFFLINE"} | BESIDE_OTHERS
        subprocess.run([sys.executable, *words[1:]], cwd=ROOT, env=environment, check=True, timeout=300)
        return
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", words[2:])
    assert words[:2] == ["python", "-m"]
    try:
        runpy.run_module(words[2], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        assert not end.code


@pytest.mark.real
@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_a_block_of_python_runs_to_its_end(code, default_pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    for file in tmp_path.glob("*.json"):
        assert Trace.from_json(file.read_text(encoding="utf-8")).steps


@pytest.mark.real
@pytest.mark.parametrize("command", SERVERS[1:])  # the first: tests/test_real_pair.py, which plays it live
def test_a_server_starts_and_answers(command, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "SPECVIZ_OFFLINE"} | BESIDE_OTHERS
    environment["GRADIO_SERVER_PORT"] = str(port)
    log = tmp_path / "app.log"
    with open(log, "w", encoding="utf-8") as stream:
        app = subprocess.Popen(
            [sys.executable, *shlex.split(command)[1:]], cwd=ROOT, env=environment, stdout=stream, stderr=stream
        )
    try:
        assert command in COMMANDS
        for _ in range(240):
            assert app.poll() is None, log.read_text(encoding="utf-8")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        else:
            raise AssertionError(log.read_text(encoding="utf-8"))
    finally:
        app.terminate()
        app.wait(20)
