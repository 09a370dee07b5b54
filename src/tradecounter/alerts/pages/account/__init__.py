"""The pages of `alerts` in the account."""
