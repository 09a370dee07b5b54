"""The SQL of `access`."""
