"""Demo data: an invented reseller's catalogue, customers, prices, stock and orders."""
