"""The pages of `today`."""
