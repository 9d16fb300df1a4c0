"""Which strategy drafts when the chosen one cannot, or cannot yet: the run goes on, and a sentence says with what.

A pair without a draft model drafts with prompt lookup. The strategy that the controls start with was not chosen by the
visitor, so it is replaced where it cannot draft: on a GPU, or with too little memory. A strategy whose models are still
being loaded or made leaves drafting to the one used last; what it needs is made in the background, one thing at a time.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from specviz.core.settings import RunSettings, SpecvizError
from specviz.core.words import say, sentence, spoken
from specviz.drafting import STRATEGIES
from specviz.recordings.gallery import FIRST_SETTINGS
from specviz.sessions.model_cache import RETRY_S, Loading

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.sessions.visitors import Visitor

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
                entry = making[strategy] = Loading(say=sentence("sessions.preparing", name=strategy))
                threading.Thread(
                    target=self._make, args=(pair, strategy, entry), name="prepare-strategy", daemon=True
                ).start()
            return entry

    def make_after(self, loading: Loading, strategy: str) -> None:
        """Make what `strategy` drafts with as soon as this pair has been loaded, so that a first run need not wait.

        Returns at once; does nothing where the pair cannot be loaded or the strategy does not fit it.
        """

        def wait() -> None:
            loading.done.wait()
            if loading.pair is not None and STRATEGIES[strategy].fits(loading.pair) is None:
                self.ask(loading.pair, strategy)

        threading.Thread(target=wait, name="prepare-first", daemon=True).start()

    def _make(self, pair: Pair, strategy: str, entry: Loading) -> None:
        with self._one_at_a_time:
            try:
                STRATEGIES[strategy].prepare(pair, entry.report)
                entry.progress, entry.state = 1.0, "ready"
            except SpecvizError as error:
                entry.say, entry.state = error.sentence, "error"
            except Exception:  # a thread has nobody above it to tell: the page and the console are told
                log.exception("preparing %s failed", strategy)
                entry.say, entry.state = sentence("sessions.prepare_fault", name=strategy), "error"
            finally:
                entry.ended = time.monotonic()
                entry.done.set()

    def choice(self, visitor: Visitor, pair: Pair) -> Choice:
        """The controls as they stand, with another strategy where the chosen one cannot draft (yet).

        Raises SettingsError for controls out of range, SpecvizError where nothing else can draft and nothing will.
        """
        settings = visitor.controls.settings()
        strategy = STRATEGIES.get(settings.strategy)
        if strategy is not None and strategy.needs_draft_model and pair.draft is None:
            names = {"other": SUBSTITUTE, "name": settings.strategy, "target": pair.target.name}
            return Choice(replace(settings, strategy=SUBSTITUTE), say("sessions.no_draft_model", **names))
        if strategy is None:
            return Choice(settings)  # the engine says what does not fit
        before = visitor.run.steps[-1].strategy if visitor.run and visitor.run.steps else None
        if before is not None and not STRATEGIES[before].ready(pair):
            before = None
        if (reason := strategy.fits(pair)) is not None:
            return _instead(settings, pair, before, reason) or Choice(settings)
        if (entry := self.ask(pair, settings.strategy)) is None:
            return Choice(settings)
        if entry.state == "error" and (instead := _instead(settings, pair, before, spoken(entry.say))):
            return instead
        if before is None:
            if entry.state == "error":
                raise SpecvizError(entry.say)
            return Choice(settings, spoken(entry.say), entry.progress, wait=True)
        words = say("sessions.meanwhile", preparing=entry.say, before=before)
        return Choice(replace(settings, strategy=before), words, entry.progress)


def _instead(settings: RunSettings, pair: Pair, before: str | None, reason: str) -> Choice | None:
    """Another strategy for the one that the controls start with, and why; None for one that a visitor has chosen.

    `before`: what drafted the last step and can go on, if anything.
    """
    if settings.strategy != FIRST_SETTINGS.strategy:
        return None
    other = before or (SUBSTITUTE if pair.draft is None else "sampling")
    words = say("sessions.instead", other=other, name=settings.strategy, reason=reason.rstrip("."))
    return Choice(replace(settings, strategy=other), words)
