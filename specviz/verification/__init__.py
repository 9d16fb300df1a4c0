"""Rules that decide about drafted tokens, and the walk that applies them.

To add a rule: one file, its import and one line here.
"""

from collections.abc import Iterable

from specviz.core.records import StepRecord
from specviz.core.settings import RunSettings
from specviz.verification.base import Rule
from specviz.verification.lenience import LENIENT
from specviz.verification.matching import TOKEN_MATCHING
from specviz.verification.speculative import SPECULATIVE_SAMPLING
from specviz.verification.typical import TYPICAL_ACCEPTANCE
from specviz.verification.walk import Verdict, Walk, any_accept_prob, verify

RULES: dict[str, Rule] = {
    "speculative sampling": SPECULATIVE_SAMPLING,
    "token matching": TOKEN_MATCHING,
    "lenience": LENIENT,
    "typical acceptance": TYPICAL_ACCEPTANCE,
}


def rule_of(settings: RunSettings) -> Rule:
    """The rule that settings name, with its knobs as they stand there."""
    return RULES[settings.rule].tuned(settings.options)


def is_lossless(name: str) -> bool:
    """Whether the rule of that name keeps the target's distribution; of an unknown one nothing is promised."""
    return name in RULES and RULES[name].lossless


def lossy(steps: Iterable[StepRecord]) -> list[str]:
    """Rules that change the output and decided about a draft in these steps, each once."""
    return list(dict.fromkeys(s.settings.rule for s in steps if s.tokens and not is_lossless(s.settings.rule)))


__all__ = ["RULES", "Rule", "Verdict", "Walk", "any_accept_prob", "is_lossless", "lossy", "rule_of", "verify"]
