"""The SQL of `pricing`."""
