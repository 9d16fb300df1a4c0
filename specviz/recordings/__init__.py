"""Recorded runs and comparisons that come with the code, and how they are made."""
