"""The pages of `orders` in the account."""
