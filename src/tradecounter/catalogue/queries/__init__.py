"""The SQL of `catalogue`."""
