"""The pages of `baskets`."""
