"""The pages of `jobs`."""
