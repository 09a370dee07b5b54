"""Finds anything by a number or a name."""
