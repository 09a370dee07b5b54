"""The pages of `returns`."""
