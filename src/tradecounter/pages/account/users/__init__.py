"""A customer's users."""
