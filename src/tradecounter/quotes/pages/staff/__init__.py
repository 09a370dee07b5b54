"""The pages of `quotes` in the back office."""
