"""The pages of `billing` in the back office."""
