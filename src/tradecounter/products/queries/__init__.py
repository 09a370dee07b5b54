"""The SQL of `products`."""
