"""The pages of `customers` in the account."""
