"""Amends confirmed orders: their lines, their delivery and their totals."""
