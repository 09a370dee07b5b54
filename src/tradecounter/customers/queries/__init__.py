"""The SQL of `customers`."""
