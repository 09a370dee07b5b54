"""The pages of `feeds` in the account."""
