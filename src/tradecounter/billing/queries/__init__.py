"""The SQL of `billing`."""
