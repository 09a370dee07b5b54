"""The pages of `access` in the account."""
