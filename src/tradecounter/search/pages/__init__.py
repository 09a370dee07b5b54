"""The pages of `search`."""
