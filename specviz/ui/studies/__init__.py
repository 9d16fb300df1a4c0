"""What unfolds below a run and explains it, an accordion each. To add a study: one file, one line here."""

from collections.abc import Callable

from specviz.ui.studies import compare, every_k, lossless, numbers, speed, sweep
from specviz.ui.studies.context import StudyContext

STUDIES: tuple[Callable[[StudyContext], None], ...] = (
    compare.add,
    speed.add,
    numbers.add,
    lossless.add,
    sweep.add,
    every_k.add,
)
"""Functions that put a study on the page, in the order in which they stand there."""

__all__ = ["STUDIES", "StudyContext"]
