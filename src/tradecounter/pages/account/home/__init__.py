"""The first page of the account."""
