"""Processes that are killed under load: what was acknowledged exists once."""
