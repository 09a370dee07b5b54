"""The pages of `storefront` in the account: the shop."""
