"""The pages of `storefront` in the back office."""
