"""The pages of `payments` in the account."""
