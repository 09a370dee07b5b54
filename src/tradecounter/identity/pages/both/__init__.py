"""The pages of `identity` in the account."""
