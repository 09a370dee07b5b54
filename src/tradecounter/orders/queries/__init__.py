"""The SQL of `orders`."""
