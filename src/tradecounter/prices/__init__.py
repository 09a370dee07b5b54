"""Customers' prices: price lists, contract prices, account discounts."""
