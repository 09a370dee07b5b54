"""The SQL of `shipments`."""
