"""The map equals the tree, and each folder imports only what it may."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nightly import NIGHTLY

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ORDER = (
    *("core", "traces", "models", "verification", "drafting", "metrics", "decoding", "experiments", "recordings"),
    *("views", "export", "distill", "sessions", "ui", "commands", "__main__"),
)
"""No folder needs one after it."""
TORCH_FREE = [
    *("core/settings.py", "core/coins.py", "core/records.py", "core/prompts.py", "core/plural.py", "core/costs.py"),
    *("traces", "__init__.py", "metrics", "views", "export", "distill/recipe.py", "distill/topics.py"),
    *("commands", "__main__.py", "drafting/length.py"),
]
SCREEN_FREE = ["core", "traces", "models", "drafting", "verification", "decoding", "distill"]
STANDARD_ONLY = ["core/settings.py", "core/coins.py", "core/records.py", "traces", "drafting/length.py"]


def files(names):
    for name in names:
        path = ROOT / "specviz" / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def imported(path):
    """Top-level names a file imports at import time: nothing inside functions or under TYPE_CHECKING."""
    found = set()
    nodes = list(ast.parse(path.read_text(encoding="utf-8")).body)
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize(
    ("names", "forbidden"),
    [
        (TORCH_FREE, {"torch", "transformers", "gradio"}),
        (SCREEN_FREE, {"gradio", "plotly", "pandas"}),
        (STANDARD_ONLY, {"torch", "transformers", "gradio", "plotly", "pandas", "numpy"}),
    ],
)
def test_rooms_import_only_what_they_may(names, forbidden):
    for path in files(names):
        assert not imported(path) & forbidden, path


def test_no_folder_needs_one_that_stands_above_it():
    for path in sorted((ROOT / "specviz").rglob("*.py")):
        own = path.relative_to(ROOT / "specviz").parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("specviz."):
                other = node.module.split(".")[1]
                assert ORDER.index(other) <= ORDER.index(own), f"{path}: {node.module}"


def test_only_the_ui_imports_gradio():
    users = {p.relative_to(ROOT).parts[1] for p in (ROOT / "specviz").rglob("*.py") if "gradio" in imported(p)}
    assert users == {"ui"}


@pytest.mark.parametrize(
    "module",
    [
        "specviz.traces.trace",
        "specviz.export.page",
        "specviz.views.wire",
        "specviz.views.figures",
        "specviz.views.page",
        "specviz.__main__",
    ],
)
def test_a_trace_a_view_or_the_list_of_commands_loads_neither_torch_nor_gradio(module):
    code = f"import json, sys, {module}; print(json.dumps([m for m in ('torch', 'gradio', 'transformers') if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout) == []


def test_the_map_is_that_of_the_tree_and_every_file_says_what_it_contains():
    spec = importlib.util.spec_from_file_location("make_map", ROOT / "docs" / "make_map.py")
    make_map = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_map)
    assert make_map.MAP.read_text(encoding="utf-8") == make_map.written(), "run python docs/make_map.py"
    silent = [path for _, files in make_map.sections() for path in files if not make_map.about(path)]
    assert not [path for path in silent if path.stat().st_size]


def test_requirements_are_pinned():
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        spec = line.split("#")[0].strip()
        assert not spec or "==" in spec, spec


def test_bundled_files_are_small_and_no_pickles():
    models = [p for p in (ROOT / "assets" / "models").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in models) <= 30e6
    assert not [p for p in models if p.suffix in (".bin", ".pt", ".pkl", ".pth")]
    assert sum(p.stat().st_size for p in (ROOT / "assets" / "traces").glob("*")) <= 3e6


def test_importing_the_app_launches_nothing():
    code = (
        "import app, specviz.ui.app, threading; print([t.name for t in threading.enumerate() if t.name == 'load-pair'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip().endswith("[]")


def test_the_front_matter_of_the_space_is_there():
    front = README.split("---")[1]
    for line in ("sdk: gradio", "sdk_version: 6.31.0", "app_file: app.py", "license: apache-2.0"):
        assert line in front
    assert "gradio==6.31.0" in (ROOT / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("start", NIGHTLY)
def test_whatever_runs_nightly_is_there(start):
    """A test that was renamed would run always again, and its line in the table would say nothing."""
    file, _, name = start.partition("::")
    name, _, case = name.partition("[")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {name}" in text and case.rstrip("]") in text
