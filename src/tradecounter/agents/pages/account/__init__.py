"""The pages of `agents` in the account."""
