"""The run that a visitor's page shows, and the id under which the page finds it again."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specviz.decoding.state import Run


@dataclass(slots=True)
class ShownRun:
    """`run`: None on an empty page. `id`: unguessable. `made_from`: `ControlValues.origin` when the run began."""

    run: Run | None = None
    id: str = ""
    made_from: tuple[Any, ...] = ()

    def put(self, run: Run, made_from: tuple[Any, ...]) -> None:
        """Show `run`, under a new id."""
        self.run, self.id, self.made_from = run, secrets.token_urlsafe(12), made_from

    def clear(self) -> None:
        """Back to the empty page."""
        self.run, self.id = None, ""
