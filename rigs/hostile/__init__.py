"""Honest clients beside hostile ones."""
