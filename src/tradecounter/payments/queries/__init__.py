"""The SQL of `payments`."""
