"""The pages of `billing` in the account."""
