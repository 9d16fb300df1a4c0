"""All that one app serves its visitors with, made once: models, the decoding thread, drivers, files, lookups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specviz.core.settings import RunSettings
from specviz.recordings import gallery
from specviz.recordings.gallery import FIRST_SETTINGS
from specviz.sessions.drive import Drivers
from specviz.sessions.files import Files
from specviz.sessions.lookups import Lookups
from specviz.sessions.measuring import Measuring
from specviz.sessions.pair_choice import DEFAULT_TARGET
from specviz.sessions.shelf import Key, Shelf
from specviz.sessions.turns import Turns
from specviz.sessions.visitors import Visitors

DEFAULT_KEY: Key = (DEFAULT_TARGET, "", "auto")


class Services:
    """`load`: how pairs are loaded. `first`: where the controls start."""

    def __init__(self, load: Callable[..., Any], first: RunSettings = FIRST_SETTINGS) -> None:
        self.first = first
        self.visitors = Visitors()
        self.shelf = Shelf(load, self.visitors.pairs_in_use)
        self.turns = Turns()
        self.drivers = Drivers(self.shelf, self.turns)
        self.files = Files(self.visitors, self.turns, gallery.opening(first))
        self.lookups = Lookups(self.visitors, self.shelf, DEFAULT_KEY)
        self.measuring = Measuring(self.shelf, self.turns)

    def preload(self) -> None:
        """Begin to load the default pair, and to make what the first run drafts with; returns at once."""
        self.drivers.workshop.make_after(self.shelf.ask(DEFAULT_KEY), self.first.strategy)

    def instead(self) -> str:
        """A sentence where another pair runs in place of the default one, else nothing."""
        loaded = self.shelf.loaded(DEFAULT_KEY)
        return loaded.instead if loaded else ""
