"""The pages of `jobs` in the back office."""
