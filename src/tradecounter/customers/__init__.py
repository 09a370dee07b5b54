"""Customers: accounts, credit terms, addresses."""
