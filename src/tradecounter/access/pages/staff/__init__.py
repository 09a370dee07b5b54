"""The pages of `access` in the back office."""
