"""The pages of `identity`."""
