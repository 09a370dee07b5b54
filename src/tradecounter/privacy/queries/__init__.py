"""The SQL of `privacy`."""
