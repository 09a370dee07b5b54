"""The pages of `orders` in the back office."""
