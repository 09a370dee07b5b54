"""Imports: checking a file, applying it, the history and roll-backs."""
