"""The pages of `payments`."""
