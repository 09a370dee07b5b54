"""The operations of `products`."""
