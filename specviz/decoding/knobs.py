"""The knobs that strategies, draft lengths and rules declare, in one table."""

from specviz.core.settings import Knob
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.verification import RULES


def own_knobs() -> dict[str, Knob]:
    """What strategies, draft lengths and rules declare, by the names that they have in `RunSettings.options`."""
    declared = [entry.knobs for table in (STRATEGIES, LENGTHS, RULES) for entry in table.values()]
    return {name: knob for knobs in declared for name, knob in knobs.items()}
