"""Products: the list, one product with its stock and prices, and why a price is what it is."""
