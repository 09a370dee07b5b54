"""The pages of `today` in the account."""
