"""A customer's orders."""
