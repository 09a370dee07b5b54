"""The pages of `customers`."""
