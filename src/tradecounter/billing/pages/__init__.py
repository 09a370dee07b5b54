"""The pages of `billing`."""
