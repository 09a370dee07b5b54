"""The pages of `orders`."""
