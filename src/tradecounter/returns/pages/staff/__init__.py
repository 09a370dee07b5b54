"""The pages of `returns` in the back office."""
