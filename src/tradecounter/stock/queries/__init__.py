"""The SQL of `stock`."""
