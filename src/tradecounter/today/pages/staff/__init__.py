"""The pages of `today` in the back office."""
