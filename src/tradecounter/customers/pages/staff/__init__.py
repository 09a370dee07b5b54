"""The pages of `customers` in the back office."""
