"""The SQL of `identity`."""
