"""The pages of `products` in the back office."""
