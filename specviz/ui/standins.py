"""Which strategy drafts when the chosen one cannot, or cannot yet: the run goes on, and a sentence says with what.

A pair without a draft model drafts with prompt lookup. A strategy whose models are still being loaded or made leaves
drafting to the one used last; what it needs is made in the background, one thing at a time.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from specviz.drafting import STRATEGIES
from specviz.settings import RunSettings, SpecvizError
from specviz.ui.shelf import RETRY_S, Loading

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.ui.visitors import Visitor

SUBSTITUTE = "prompt lookup"
log = logging.getLogger("specviz")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the next step is made with. `say`: why that is not what was chosen, None if it is. `wait`: nothing can
    draft yet; `progress` 0 … 1 of what is being made, None where it cannot be told."""

    settings: RunSettings
    say: str | None = None
    progress: float | None = None
    wait: bool = False


class Workshop:
    """Makes what strategies draft with, in the background; what has been made is kept by `models.companions`."""

    def __init__(self) -> None:
        self._making: WeakKeyDictionary[LoadedModel, dict[str, Loading]] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def ask(self, pair: Pair, strategy: str) -> Loading | None:
        """None when the strategy is ready; else how far it is. Begins at first sight, and again after an error."""
        if STRATEGIES[strategy].ready(pair):
            return None
        with self._lock:
            making = self._making.setdefault(pair.target, {})
            entry = making.get(strategy)
            if entry is None or (entry.state != "loading" and time.monotonic() - entry.ended > RETRY_S):
                entry = making[strategy] = Loading(say=f"Getting {strategy!r} ready …")
                threading.Thread(
                    target=self._make, args=(pair, strategy, entry), name="prepare-strategy", daemon=True
                ).start()
            return entry

    def _make(self, pair: Pair, strategy: str, entry: Loading) -> None:
        def progress(fraction: float | None, sentence: str) -> None:
            entry.progress, entry.say = fraction, sentence

        with self._one_at_a_time:
            try:
                STRATEGIES[strategy].prepare(pair, progress)
                entry.progress, entry.state = 1.0, "ready"
            except SpecvizError as error:
                entry.say, entry.state = str(error), "error"
            except Exception:  # a thread has nobody above it to tell: the page and the console are told
                log.exception("preparing %s failed", strategy)
                fault = "for a fault of this program, which the console names"
                entry.say, entry.state = f"{strategy!r} cannot be used {fault}; choose another strategy.", "error"
            finally:
                entry.ended = time.monotonic()
                entry.done.set()

    def choice(self, visitor: Visitor, pair: Pair) -> Choice:
        """The controls as they stand, with another strategy where the chosen one cannot draft (yet).

        Raises SettingsError for controls out of range, SpecvizError where nothing else can draft and nothing will.
        """
        settings = visitor.settings()
        strategy = STRATEGIES.get(settings.strategy)
        if strategy is not None and strategy.needs_draft_model and pair.draft is None:
            say = (
                f"{SUBSTITUTE.capitalize()} drafts instead of {settings.strategy!r}: {pair.target.name} has no draft "
                "model here."
            )
            return Choice(replace(settings, strategy=SUBSTITUTE), say)
        if strategy is None or strategy.fits(pair) is not None or (entry := self.ask(pair, settings.strategy)) is None:
            return Choice(settings)  # the engine says what does not fit
        before = visitor.run.steps[-1].strategy if visitor.run and visitor.run.steps else None
        if before is None or not STRATEGIES[before].ready(pair):
            if entry.state == "error":
                raise SpecvizError(entry.say)
            return Choice(settings, entry.say, entry.progress, wait=True)
        return Choice(replace(settings, strategy=before), f"{entry.say} Meanwhile {before!r} goes on.", entry.progress)
