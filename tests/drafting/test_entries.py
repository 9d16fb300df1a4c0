"""Strategies, draft lengths and rules are frozen entries of tables; none of them, and no drafter, inherits from another."""

import ast
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from specviz.drafting import LENGTHS, STRATEGIES, Strategy
from specviz.verification import RULES

ROOT = Path(__file__).resolve().parents[2] / "specviz"


@pytest.mark.parametrize("entry", [*STRATEGIES.values(), *LENGTHS.values(), *RULES.values()])
def test_an_entry_cannot_be_changed(entry):
    with pytest.raises(FrozenInstanceError):
        entry.help = ""
    assert replace(entry, help="other").help == "other" != entry.help


@pytest.mark.parametrize("folder", ["drafting", "verification"])
def test_no_class_inherits_from_another(folder):
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / folder).glob("*.py")]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert {node.name for node in classes} & {"Strategy", "Rule"}
    assert {ast.unparse(base) for node in classes for base in node.bases} <= {"Protocol"}


def test_a_strategy_with_a_draft_model_fits_only_pairs_that_have_one(pair):
    def start(readers):
        raise AssertionError("no run is started")

    needing, free = (Strategy(help="", start=start, needs_draft_model=needs) for needs in (True, False))
    assert needing.fits(pair("ctx_t", "ctx_d")) is None and free.fits(pair("ctx_t")) is None
    assert "no draft model" in needing.fits(pair("ctx_t"))
    for strategy in STRATEGIES.values():
        assert not (strategy.needs_draft_model and strategy.fits(pair("ctx_t")) is None)
