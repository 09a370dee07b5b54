"""The commands of `orders`."""
