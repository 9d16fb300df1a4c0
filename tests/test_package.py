"""The wheel, installed into an empty environment outside the tree: the core works there, and without Gradio.

The environment holds only the wheel and links to the packages that its metadata requires without extras. They are
packages of the environment that runs the tests, so no network is needed.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import specviz
from tests import tiny

ROOT = Path(__file__).resolve().parents[1]
NOT_IN_THE_CORE = ("gradio", "plotly", "pandas", "accelerate", "gguf", "mcp")

CORE = """
import importlib.util, json, sys
from pathlib import Path

import specviz
from specviz.core.assets import ASSETS

trace = specviz.Trace.from_json((ASSETS / "traces" / "copy.json").read_text("utf-8"))
pair = specviz.load_pair(sys.argv[1], sys.argv[2])
live = specviz.run(pair, "w1 w2", specviz.RunSettings(strategy="greedy", k=3, temperature=0, max_new_tokens=5))
found = {
    "version": specviz.__version__,
    "package": specviz.__file__,
    "assets": str(ASSETS),
    "names": [name for name in specviz.__all__ if getattr(specviz, name) is None],
    "recorded": len(trace.output_ids),
    "live": len(live.output_ids),
    "importable": [name for name in sys.argv[3:] if importlib.util.find_spec(name)],
    "path": sys.path,
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy of the sources, so that nothing is left in the tree."""
    room = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "specviz", room / "src" / "specviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "assets", room / "src" / "assets")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, room / "src")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", room, room / "src")
    return next(room.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of the environment's programs; the wheel is there, and what it asks for."""
    room = tmp_path_factory.mktemp("environment")
    venv.create(room, symlinks=os.name != "nt")
    programs = room / ("Scripts" if os.name == "nt" else "bin")
    pip("--python", programs / "python", "install", "--no-deps", wheel)
    site = Path(ask(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    own = Distribution.at(next(site.glob("specviz-*.dist-info")))
    for needed in closure(own):
        for top in {file.parts[0] for file in needed.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(needed.locate_file(top))
    return programs


def pip(*arguments):
    """Without any index."""
    quiet = {"PIP_NO_INDEX": "1", "PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    words = [sys.executable, "-m", "pip", *map(str, arguments)]
    subprocess.run(words, check=True, timeout=300, env=os.environ | quiet)


def environment():
    """Without what would let the checkout or a network in."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return kept | {"SPECVIZ_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def ask(*words, fails=False):
    """What it prints, or with `fails` its errors; run in a folder that is not the tree."""
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, encoding="utf-8", cwd=tiny.room(), env=environment()
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def closure(own):
    """Distributions that one needs without extras, and what these need in turn. All are within the ranges asked for."""
    found: dict[str, Distribution] = {}
    seen, open_ends = set(), [(own, "")]
    while open_ends:
        one, extra = open_ends.pop()
        for wanted in map(Requirement, one.requires or ()):
            if wanted.marker and not wanted.marker.evaluate({"extra": extra}):
                continue
            there = found.setdefault(canonicalize_name(wanted.name), distribution(wanted.name))
            assert wanted.specifier.contains(there.version, prereleases=True), f"{wanted}, but {there.version} is here"
            for more in {"", *wanted.extras}:
                if (there.name, more) not in seen:
                    seen.add((there.name, more))
                    open_ends.append((there, more))
    return list(found.values())


def test_the_wheel_holds_every_asset_and_says_that_it_is_typed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assets = {f"specviz/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / "assets").rglob("*") if p.is_file()}
    code = {p.relative_to(ROOT).as_posix() for p in (ROOT / "specviz").rglob("*") if p.is_file() and p.suffix != ".pyc"}
    assert assets | code <= inside and "specviz/py.typed" in inside
    assert {name.split("/")[0] for name in inside} == {"specviz", f"specviz-{specviz.__version__}.dist-info"}


def test_the_core_works_outside_the_tree_and_without_gradio(installed):
    models = [tiny.folder("target12"), tiny.folder("draft12")]
    found = json.loads(ask(installed / "python", "-c", CORE, *models, *NOT_IN_THE_CORE))
    assert found["version"] == specviz.__version__ and found["recorded"] > 0 and found["live"] == 5
    assert found["names"] == [] and found["importable"] == []
    package = Path(found["package"]).parent
    assert package.is_relative_to(installed.parent) and Path(found["assets"]) == package / "assets"
    assert str(ROOT) not in found["path"]


def test_the_command_runs_there_and_names_the_extra_that_another_one_needs(installed, tmp_path):
    program = installed / "specviz"
    assert ask(program, "--version") == f"specviz {specviz.__version__}\n"
    models = ["--target", tiny.folder("target12"), "--draft", tiny.folder("draft12")]
    path = tmp_path / "trace.json"
    out = ask(program, "run", "--prompt", "w1", "--max-new-tokens", "4", *models, "--json", path)
    assert "4 tokens in" in out and len(specviz.Trace.from_json(path.read_text("utf-8")).output_ids) == 4
    err = ask(program, "app", fails=True)
    assert err.startswith("specviz: app needs gradio, which is not installed") and err.count("\n") == 1


@pytest.fixture(scope="module")
def requirements(wheel):
    """What the metadata requires, with all extras."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode("utf-8")
    found = [Requirement(line) for line in re.findall(r"^Requires-Dist: (.*)$", text, re.M)]
    return [one for one in found if one.name != "specviz"]


def test_every_imported_package_is_a_dependency_or_in_an_extra(requirements):
    declared = {canonicalize_name(one.name) for one in requirements if "dev" not in str(one.marker)}
    homes = packages_distributions()
    for path in sorted((ROOT / "specviz").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for top in {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"specviz"}:
                assert declared & {canonicalize_name(home) for home in homes[top]}, f"{path} imports {top}"


def test_each_pinned_version_is_within_the_range_of_the_package(requirements):
    ranges = {canonicalize_name(one.name): one.specifier for one in requirements}
    for file in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
            pin = line.split("#")[0].strip()
            if pin and not pin.startswith("-r"):
                name, version = pin.split("==")
                assert ranges[canonicalize_name(name)].contains(version), f"{pin} is outside {ranges[name]}"
