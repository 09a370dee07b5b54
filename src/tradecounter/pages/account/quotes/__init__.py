"""A customer's quotes."""
