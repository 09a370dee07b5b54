"""The pages of `quotes`."""
