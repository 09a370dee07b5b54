"""The SQL of `returns`."""
