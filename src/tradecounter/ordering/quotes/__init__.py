"""Quotes: requested, priced by support, confirmed, reminded of, read back."""
