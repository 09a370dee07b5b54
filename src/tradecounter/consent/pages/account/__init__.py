"""The pages of `consent` in the account."""
