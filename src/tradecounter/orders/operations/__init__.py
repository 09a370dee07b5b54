"""The operations of `orders`."""
