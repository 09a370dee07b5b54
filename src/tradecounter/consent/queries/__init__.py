"""The SQL of `consent`."""
