"""The SQL of `oauth`."""
