"""The pages of `audit` in the back office."""
