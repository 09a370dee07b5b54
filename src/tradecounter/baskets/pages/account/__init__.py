"""The pages of `baskets` in the account."""
