"""The pages of `saved_lists` in the account."""
