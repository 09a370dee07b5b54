"""Customers: account details, credit terms, addresses."""
