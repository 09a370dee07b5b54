"""The pages of `products`."""
