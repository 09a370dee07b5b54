"""Customers: the list, and one customer with its terms, users, keys, addresses, prices and statement."""
