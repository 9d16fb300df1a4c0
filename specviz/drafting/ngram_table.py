"""N-gram table: drafts come from what followed the last two tokens in a recorded corpus of the target's outputs.

The oldest language model there is, and the cheapest draft: no matrix is multiplied. Each token is drawn from the table's
smoothed distribution at the run's temperature and carries it as q, so the rule's min(1, p/q) is at work; its argmax as a
point mass would be as right, and would show less. Which corpus it was counted from is in the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.core.words import say, sentence
from specviz.drafting.derived_draft import derived_draft
from specviz.models.companions import companion
from specviz.models.folders import ModelError
from specviz.models.tables import TableFile, find, fingerprint, load
from specviz.models.where import report

if TYPE_CHECKING:
    from specviz.models.pair import LoadedModel, Pair
    from specviz.models.where import Progress


def fits(pair: Pair) -> str | None:
    """There must be a table for the target's vocabulary."""
    if _file(pair.target) is None:
        return say("drafting.no_table", name=pair.target.name, command="python -m specviz.models.table_maker")
    return None


def read_table(target: LoadedModel, progress: Progress | None) -> LoadedModel:
    """The table as a model. Raises ModelError where there is none for the target's vocabulary."""
    file = _file(target)
    if file is None:
        raise ModelError(say("drafting.no_table_loaded", name=target.name))
    report(progress, None, say("drafting.reading", name=file.path.name))
    return load(file, target)


def _file(target: LoadedModel) -> TableFile | None:
    """Searched once for each target: the question is asked at every step."""
    return companion(target, "n-gram table file", lambda: find(fingerprint(target.codec.tokens)))


NGRAM_TABLE = derived_draft(
    "n-gram table",
    sentence("help.ngram_table"),
    make=read_table,
    fits=fits,
)
