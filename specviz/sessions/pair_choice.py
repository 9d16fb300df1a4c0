"""Pairs by the names in the menus: which target and draft a pair of the catalogue is, and which pair two models are."""

from __future__ import annotations

from specviz.core.words import sentence
from specviz.models import catalogue
from specviz.models.catalogue import PAIRS

DEFAULT_TARGET = "default"
"""Stands in the menu of targets for the default pair, whichever of its sources is available."""
OWN_PAIR = sentence("controls.pair_own")


def models_of(pair: str) -> tuple[str, str]:
    """What target and draft menu show for a pair of the catalogue.

    A pair with several sources of its target goes by its own name: which of them is to be had, the loader finds out.
    """
    if pair == catalogue.DEFAULT_PAIR:
        return DEFAULT_TARGET, ""
    if len(PAIRS[pair].targets) > 1:
        return pair, ""
    return PAIRS[pair].targets[0], PAIRS[pair].draft or ""


def pair_of(target: str, draft: str) -> str:
    """The catalogue's pair that these two are, or "own choice"."""
    if target in PAIRS and draft in ("", PAIRS[target].draft):
        return target
    return next((name for name in PAIRS if models_of(name) == (target, draft)), OWN_PAIR)
