"""Rules that decide about drafted tokens, and the walk that applies them. To add a rule: one file and one line here."""

from specviz.verification.base import Rule
from specviz.verification.matching import TokenMatching
from specviz.verification.speculative import SpeculativeSampling
from specviz.verification.walk import Draft, Verdict, Walk, any_accept_prob, verify

RULES: dict[str, Rule] = {"speculative sampling": SpeculativeSampling(), "token matching": TokenMatching()}

__all__ = ["RULES", "Draft", "Rule", "Verdict", "Walk", "any_accept_prob", "verify"]
