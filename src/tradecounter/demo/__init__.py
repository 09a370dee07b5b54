"""Demo data: an invented reseller's catalogue, customers, prices and stock, and orders to look at."""
