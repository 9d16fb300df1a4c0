"""Questions asked of many runs: comparison, sweep, table of strategies, exact checks of the distribution."""
