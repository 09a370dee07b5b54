"""A customer's address book."""
