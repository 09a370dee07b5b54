"""Goods that come into the warehouse, and counts of what is there."""
