"""The SQL of `quotes`."""
