"""All that one app serves its visitors with, made once: models, the decoding thread, drivers, files, lookups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specviz.core.settings import RunSettings
from specviz.core.words import spoken
from specviz.recordings import gallery
from specviz.recordings.gallery import FIRST_SETTINGS
from specviz.sessions.cost_measurement import CostMeasurement
from specviz.sessions.decode_queue import DecodeQueue
from specviz.sessions.drive import Drivers
from specviz.sessions.files import Files
from specviz.sessions.lookups import Lookups
from specviz.sessions.model_cache import Key, ModelCache
from specviz.sessions.pair_choice import DEFAULT_TARGET
from specviz.sessions.visitors import Visitors

DEFAULT_KEY: Key = (DEFAULT_TARGET, "", "auto")


class Services:
    """`load`: how pairs are loaded. `first`: where the controls start."""

    def __init__(self, load: Callable[..., Any], first: RunSettings = FIRST_SETTINGS) -> None:
        self.first = first
        self.visitors = Visitors()
        self.model_cache = ModelCache(load, self.visitors.pairs_in_use)
        self.queue = DecodeQueue()
        self.drivers = Drivers(self.model_cache, self.queue)
        self.files = Files(self.visitors, self.queue, gallery.opening(first))
        self.lookups = Lookups(self.visitors, self.model_cache, DEFAULT_KEY)
        self.cost_measurement = CostMeasurement(self.model_cache, self.queue)

    def preload(self) -> None:
        """Begin to load the default pair, and to make what the first run drafts with; returns at once."""
        self.drivers.workshop.make_after(self.model_cache.ask(DEFAULT_KEY), self.first.strategy)

    def instead(self) -> str:
        """A sentence where another pair runs in place of the default one, else nothing."""
        loaded = self.model_cache.loaded(DEFAULT_KEY)
        return spoken(loaded.instead) if loaded else ""
