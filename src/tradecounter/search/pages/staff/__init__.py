"""The pages of `search` in the back office."""
