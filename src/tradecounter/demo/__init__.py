"""Demo data: a fictional reseller's catalogue, customers, prices, stock and orders."""
