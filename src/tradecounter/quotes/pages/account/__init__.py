"""The pages of `quotes` in the account."""
