"""Figures of a run: counts and rates (standard library), tidy tables (pandas)."""

from specviz.metrics.rates import Counts, Rate, count

__all__ = ["Counts", "Rate", "count"]
