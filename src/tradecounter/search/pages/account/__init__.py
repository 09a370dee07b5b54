"""The pages of `search` in the account."""
